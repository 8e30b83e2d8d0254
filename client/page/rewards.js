// Curves of what agents are given: returns of groups, and the parts of the reward.

import { Curves } from "./curve.js";
import { made } from "./form.js";

/**
 * @typedef {import("./stage.js").Facts} Facts
 * @typedef {import("./stage.js").Made} Made
 */

export class RewardsPanel {
  constructor() {
    this.element = made("div", {});
    this.returns = new Curves("", []);
    this.parts = new Curves("", []);
  }

  /** @param {Made} found */
  show({ instance, groups }) {
    const parts = /** @type {{name: string}[]} */ (instance.reward_parts ?? []);
    const namesOf = (/** @type {{name: string}[]} */ all) => all.map((one) => one.name);
    this.returns = new Curves("Return of the episode", namesOf(groups));
    this.parts = new Curves("Parts of the reward", namesOf(parts));
    const shown = parts.length > 0 ? [this.returns, this.parts] : [this.returns];
    this.element.replaceChildren(
      ...shown.flatMap((one) => [made("p", {}, `${one.title}, mean over agents`), one.element]),
    );
  }

  /** @param {Facts} facts */
  told({ step, returns, parts }) {
    this.returns.add(step, returns);
    this.parts.add(step, parts);
    this.returns.draw();
    this.parts.draw();
  }
}
