// The gallery: a grid of environments, of which the one that is pointed at or has the focus lives.

import { missing } from "../simulator/module.js";
import { made } from "./form.js";
import { Loader } from "./loading.js";
import { Stage } from "./stage.js";

/**
 * @typedef {import("./loading.js").SiteEnvironment} SiteEnvironment
 * @typedef {SiteEnvironment & {page: string, poster: string}} Listed
 */

const PATIENCE = 150; // milliseconds for which somebody points before a module is loaded

export class Gallery {
  /**
   * @param {HTMLElement} element Which the gallery fills; what is in it is for browsers without scripts.
   *   `data-gallery` names environments that come first.
   * @param {Listed[]} environments
   */
  constructor(element, environments) {
    this.element = element;
    const first = (element.dataset.gallery ?? "").split(/\s+/);
    const rank = (/** @type {Listed} */ { id }) =>
      first.includes(id) ? first.indexOf(id) : first.length;
    this.environments = [...environments].sort((one, other) => rank(one) - rank(other));
    this.canLive = missing() === "";
    /** @type {{card: HTMLElement, stage: Stage} | null} */
    this.live = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.wanted = /** @type {HTMLElement | null} */ (null);
  }

  start() {
    const cards = this.environments.map((one) => this.#card(one));
    this.element.replaceChildren(made("ul", { className: "gallery" }, ...cards));
  }

  /** @param {Listed} environment */
  #card(environment) {
    const poster = made("img", {
      src: environment.poster,
      alt: "",
      width: 640,
      height: 360,
      loading: "lazy",
    });
    const frame = made("div", { className: "frame" }, poster);
    const link = made(
      "a",
      { href: environment.page },
      frame,
      made("strong", {}, environment.id),
      made("span", {}, environment.doc),
    );
    const card = made("li", { className: "card" }, link);
    if (!this.canLive) return card;
    card.addEventListener("pointerenter", () => this.#want(card, frame, environment));
    card.addEventListener("focusin", () => this.#want(card, frame, environment));
    card.addEventListener("pointerleave", () => this.#leave(card));
    card.addEventListener("focusout", () => this.#leave(card));
    return card;
  }

  /**
   * @param {HTMLElement} card
   * @param {HTMLElement} frame
   * @param {SiteEnvironment} environment
   */
  #want(card, frame, environment) {
    if (this.wanted === card || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    this.wanted = card;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#begin(card, frame, environment), PATIENCE);
  }

  /** @param {HTMLElement} card */
  #leave(card) {
    if (this.wanted === card) this.wanted = null;
    clearTimeout(this.timer);
    if (this.live?.card === card) this.#end();
  }

  #end() {
    this.live?.stage.end();
    this.live?.stage.canvas.remove();
    this.live = null;
  }

  /**
   * @param {HTMLElement} card
   * @param {HTMLElement} frame
   * @param {SiteEnvironment} environment
   */
  async #begin(card, frame, environment) {
    this.#end();
    const stage = new Stage({ told: () => {}, failed: () => this.#leave(card), ran: () => {} });
    this.live = { card, stage };
    stage.canvas.tabIndex = -1;
    stage.canvas.setAttribute("aria-hidden", "true"); // the link names the environment
    try {
      const loader = new Loader(stage.session, environment);
      await loader.load();
      await stage.make({ ...loader.place, seed: 1 }, loader.players[0]);
      if (this.live?.stage !== stage) return stage.end();
      frame.append(stage.canvas);
      stage.start();
    } catch {
      if (this.live?.stage === stage) this.#leave(card); // the picture stays
    }
  }
}
