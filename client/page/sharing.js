// Links to a step, and files of what was played.

import { made } from "./form.js";
import { MOST_STEPS, NotReadable, fileOf, linkOf, readFile, readLink } from "./link.js";

/**
 * @typedef {import("./link.js").Episode} Episode
 * @typedef {import("./link.js").Place} Place
 */

const MOST_FILE = 64 << 20; // bytes

export class Sharing {
  /**
   * @param {string} id The environment that links and files must be of.
   * @param {(text: string) => void} say
   */
  constructor(id, say) {
    this.ids = [id];
    this.say = say;
    this.link = made("input", {
      readOnly: true,
      ariaLabel: "link to this step",
      className: "link",
    });
    this.file = made("input", { type: "file", accept: ".json,application/json" });
  }

  /** The place that the page's address names; null: none. */
  linked() {
    return readLink(location.hash.slice(1), this.ids);
  }

  /**
   * Show a link, and copy it.
   * @param {Place} place
   * @param {boolean} isWhole Whether the link leads to the same game: nobody acted or changed players.
   */
  async share(place, isWhole) {
    const url = new URL(location.href);
    url.hash = linkOf({ ...place, steps: Math.min(place.steps, MOST_STEPS) });
    readLink(url.hash.slice(1), this.ids); // it may be too long
    this.link.value = url.href;
    window.history.replaceState(null, "", url);
    let told = "The link was copied.";
    try {
      await navigator.clipboard.writeText(url.href);
    } catch {
      this.link.select();
      told = "Copy the link from its field.";
    }
    const lack =
      " It has no actions of people or changes of players: save the episode to keep those.";
    this.say(isWhole ? told : told + lack);
  }

  /** @param {Episode} episode */
  save(episode) {
    const blob = new Blob([fileOf(episode)], { type: "application/json" });
    const href = URL.createObjectURL(blob);
    made("a", { href, download: `${episode.id}-seed${episode.seed}.json` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 10_000);
  }

  /**
   * The episode in the chosen file; null: none is chosen.
   * @returns {Promise<Episode | null>}
   */
  async opened() {
    const file = this.file.files?.[0];
    if (file === undefined) return null;
    if (file.size > MOST_FILE) throw new NotReadable("The file is too large.");
    try {
      return readFile(await file.text(), this.ids);
    } finally {
      this.file.value = ""; // the same file can be chosen again
    }
  }
}
