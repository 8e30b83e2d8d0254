// The state of a world as text: as the environment writes it, or its columns by name.

import { made } from "./form.js";

/** @typedef {import("./stage.js").Stage} Stage */

const EVERY = 500; // milliseconds between two looks

export class TextPanel {
  /**
   * @param {Stage} stage
   * @param {() => number} viewer Whose knowledge is shown; -1: everybody's.
   */
  constructor(stage, viewer) {
    this.stage = stage;
    this.viewer = viewer;
    this.text = made("pre", { className: "text", tabIndex: 0, ariaLabel: "state as text" });
    this.text.setAttribute("role", "region");
    this.element = made("details", {}, made("summary", {}, "State as text"), this.text);
    this.element.addEventListener("toggle", () => this.refresh());
    this.looked = 0;
    this.isLooking = false;
  }

  /** The world went on. */
  told() {
    if (performance.now() - this.looked > EVERY) this.refresh();
  }

  async refresh() {
    const { stage } = this;
    const world = stage.made;
    if (!this.element.open || world === null || this.isLooking) return;
    this.isLooking = true;
    this.looked = performance.now();
    try {
      const written = await stage.session.ask("text", { viewer: this.viewer() });
      const text = written === "" ? await this.#columns() : plain(written);
      if (stage.made === world) this.text.textContent = text;
    } catch (problem) {
      this.text.textContent = /** @type {Error} */ (problem).message;
    } finally {
      this.isLooking = false;
    }
  }

  async #columns() {
    /** @type {{name: string, values: string[], unit: string}[]} */
    const columns = await this.stage.session.ask("state");
    return columns
      .map(({ name, values, unit }) => `${name.padEnd(24)} ${values.join(" ")} ${unit}`)
      .join("\n");
  }
}

/**
 * A text without the colours of terminals.
 * @param {string} text
 */
function plain(text) {
  return text.replaceAll(new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g"), "");
}
