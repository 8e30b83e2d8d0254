// The check of bits: recorded cases of the package, run in this page.

import { made } from "./form.js";

/** @typedef {import("./session.js").Session} Session */

export class BitsPanel {
  /**
   * @param {Session} session
   * @param {string[]} cases Lines of tests/golden.
   */
  constructor(session, cases) {
    this.session = session;
    this.cases = cases;
    this.summary = made("p", { role: "status" });
    this.rows = made("div", { className: "bits" });
    this.element = made("div", {}, this.summary, this.rows);
  }

  /** Run all cases. */
  async check() {
    this.rows.replaceChildren();
    this.summary.textContent = "Running…";
    let equal = 0;
    try {
      for (const line of this.cases) {
        const found = await this.session.ask("check", { line }, true);
        if (found.same) ++equal;
        this.rows.append(rowOf(found));
      }
      this.summary.textContent = `${equal} of ${this.cases.length} are equal.`;
    } catch (problem) {
      this.summary.textContent = "Not finished.";
      throw problem;
    }
  }
}

/** @param {any} found */
function rowOf({ same, took, records, outputs, wanted }) {
  const { steps, seed, settings } = wanted;
  const given = Object.entries({ ...settings, ...wanted.parameters })
    .filter(([name]) => name !== "worlds")
    .map(([name, value]) => `${name} ${value?.value ?? value}`)
    .join(", ");
  const text =
    `${same ? "Equal" : "Different"}: ${steps} steps of ${settings.worlds} worlds, seed ${seed}, ` +
    `${given}, in ${took.toFixed(0)} ms`;
  return made(
    "div",
    { className: same ? "same" : "differs" },
    made("p", {}, text),
    made("code", {}, `here     ${records} ${outputs}`),
    made("code", {}, `recorded ${wanted.records} ${wanted.outputs}`),
  );
}
