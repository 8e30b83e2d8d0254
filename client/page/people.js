// People at one keyboard: who plays which agent, with which keys, and buttons and sliders for what has
// no key or for hands on a screen.

import { MOST_LISTED } from "./groups.js";
import { made } from "./form.js";
import { keyOf, spelt } from "./keys.js";

/**
 * @typedef {import("./keys.js").Deed} Deed
 * @typedef {import("./keys.js").Hand} Hand
 * @typedef {import("./stage.js").Facts} Facts
 * @typedef {import("./stage.js").Made} Made
 * @typedef {import("./stage.js").Stage} Stage
 */

const MOST_BUTTONS = 64;

export class PeoplePanel {
  /**
   * @param {Stage} stage
   * @param {{say: (text: string) => void, viewed: () => void}} listeners `viewed`: another view is
   *   to be drawn.
   */
  constructor(stage, { say, viewed }) {
    this.stage = stage;
    this.say = say;
    this.viewed = viewed;
    this.agent = made("select", { ariaLabel: "agent to play by hand" });
    this.add = made("button", { type: "button" }, "Play by hand");
    this.add.addEventListener("click", () => this.#add(Number(this.agent.value)));
    this.list = made("ul", { className: "people" });
    this.element = made(
      "div",
      {},
      made("div", { className: "bar" }, this.agent, this.add),
      this.list,
    );
    /** Buttons of actions, under the picture. */
    this.buttons = made("div", { className: "deeds" });
    /** Whether a person could act since the world was made. */
    this.hasPlayed = false;
    /** @type {Made | null} */
    this.made = null;
    this.isAsking = false;
    this.asked = ""; // what was so when choices were listed last
    this.wanted = "";
  }

  /** @param {Made} found */
  show(found) {
    this.made = found;
    this.hasPlayed = this.stage.hands.length > 0;
    this.asked = "";
    const names = found.instance.agent_names ?? [];
    const agents = found.groups.flatMap((group) => group.agents).slice(0, MOST_LISTED);
    this.agent.replaceChildren(
      ...agents.map((agent) =>
        made("option", { value: String(agent) }, names[agent] ?? `agent ${agent}`),
      ),
    );
    this.#draw();
  }

  /** The agent whose knowledge is shown while a person plays; -1: everybody's. */
  hidesFrom() {
    return this.stage.hands[0]?.agent ?? -1;
  }

  /** @param {number} agent */
  #add(agent) {
    if (this.made === null || this.stage.hands.some((hand) => hand.agent === agent)) return;
    const hand = this.stage.addHand(agent);
    this.hasPlayed = true;
    const view = `agent:${agent}`;
    const isSecret = this.made.instance.turns && this.made.views.includes(view);
    if (isSecret) {
      this.stage.view = view;
      this.viewed();
    }
    this.#draw();
    if (hand.keys.size > 0) this.stage.canvas.focus();
    this.say(
      hand.keys.size > 0
        ? "Keys work while the world plays and its picture has the focus; Escape leaves it."
        : "Choose below the picture.",
    );
  }

  /** @param {Hand} hand */
  #remove(hand) {
    this.stage.removeHand(hand);
    if (this.stage.view === `agent:${hand.agent}`) {
      this.stage.view = "";
      this.viewed();
    }
    this.#draw();
    this.add.focus();
  }

  /** @param {Hand} hand */
  #nameOf(hand) {
    return this.made?.instance.agent_names?.[hand.agent] ?? `agent ${hand.agent}`;
  }

  #draw() {
    const { hands } = this.stage;
    this.list.replaceChildren(...hands.map((hand) => this.#entry(hand)));
    this.buttons.replaceChildren(...hands.map((hand) => this.#deedsOf(hand)));
    this.asked = "";
    this.ask();
  }

  /** @param {Hand} hand */
  #entry(hand) {
    const name = this.#nameOf(hand);
    const leave = made("button", { type: "button", ariaLabel: `leave ${name}` }, "leave");
    leave.addEventListener("click", () => this.#remove(hand));
    const entry = made("li", {}, made("strong", {}, name), " ", leave);
    const keyed = hand.deeds.all.filter((deed) => deed.key !== "");
    if (keyed.length === 0) return entry;
    const table = made("div", { className: "keys" });
    for (const deed of keyed) {
      const key = [...hand.keys].find(([, bound]) => bound === deed)?.[0];
      const text = key === undefined ? "no key" : spelt(key);
      const label = `${deed.name}: ${text}, change the key`;
      const button = made("button", { type: "button", ariaLabel: label }, text);
      button.dataset.deed = `${hand.agent} ${hand.deeds.all.indexOf(deed)}`;
      button.addEventListener("click", () => this.#rebind(hand, deed, button));
      table.append(made("span", {}, deed.name), button);
    }
    entry.append(table);
    return entry;
  }

  /**
   * Take the next key as that of a deed.
   * @param {Hand} hand
   * @param {Deed} deed
   * @param {HTMLButtonElement} button
   */
  #rebind(hand, deed, button) {
    if (button.classList.contains("waiting")) return;
    button.classList.add("waiting");
    button.textContent = "press a key";
    this.say(`Press a key for ${deed.name}; Escape keeps the one it has.`);
    const listening = new AbortController();
    const { signal } = listening;
    const end = () => {
      listening.abort();
      this.#draw();
    };
    const take = (/** @type {KeyboardEvent} */ event) => {
      if (["Shift", "Control", "Alt", "Meta", "AltGraph", "Dead"].includes(event.key)) return;
      event.preventDefault();
      const key = keyOf(event);
      const other = this.stage.hands.find((one) => one !== hand && one.keys.has(key));
      if (["Escape", "Tab"].includes(key))
        this.say("Escape and Tab leave the picture and cannot be keys.");
      else if (other !== undefined) this.say(`${spelt(key)} is a key of ${this.#nameOf(other)}.`);
      else {
        hand.bind(deed, key);
        this.say(`${deed.name}: ${spelt(key)}`);
      }
      const at = button.dataset.deed;
      end();
      /** @type {HTMLElement | null} */ (this.list.querySelector(`[data-deed="${at}"]`))?.focus();
    };
    button.addEventListener("keydown", take, { signal });
    button.addEventListener("blur", end, { signal });
  }

  /** @param {Hand} hand */
  #deedsOf(hand) {
    const { deeds } = hand;
    const box = made("div", {
      className: "deed-group",
      role: "group",
      ariaLabel: `actions of ${this.#nameOf(hand)}`,
    });
    if (deeds.isFloat) {
      deeds.fields.forEach((field, word) => box.append(this.#slider(hand, field, word)));
    } else if (deeds.hasKeys) {
      for (const deed of deeds.all.filter((one) => one.key !== ""))
        box.append(this.#held(hand, deed));
    } else {
      box.dataset.agent = String(hand.agent);
    }
    return box;
  }

  /**
   * A slider for a number.
   * @param {Hand} hand
   * @param {import("./groups.js").Field} field
   * @param {number} word
   */
  #slider(hand, field, word) {
    const [low, high] = [field.low ?? -1, field.high ?? 1];
    const input = made("input", { type: "range", min: low, max: high, step: (high - low) / 200 });
    input.value = String(hand.words[word]);
    const shown = made("output", {}, input.value);
    input.addEventListener("input", () => {
      hand.set(word, Number(input.value));
      shown.textContent = input.value;
    });
    return made("label", {}, `${field.name} `, input, shown);
  }

  /**
   * A button that acts while it is held.
   * @param {Hand} hand
   * @param {Deed} deed
   */
  #held(hand, deed) {
    const button = made("button", { type: "button", className: "deed" }, deed.name);
    const release = () => hand.release(deed);
    button.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      if (event.button !== 0) return;
      button.setPointerCapture(event.pointerId);
      hand.press(deed);
    });
    for (const name of ["pointerup", "pointercancel", "lostpointercapture", "blur"])
      button.addEventListener(name, release);
    button.addEventListener("contextmenu", (event) => event.preventDefault());
    button.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      if (!event.repeat) hand.press(deed);
    });
    button.addEventListener("keyup", release);
    return button;
  }

  // ---- choices from a list

  /** The world went on. @param {Facts} facts */
  told(facts) {
    this.ask(`${facts.steps} ${facts.step} ${facts.isOver} ${facts.isReplaying}`);
  }

  /**
   * Show the choices of people who choose from a list, once for each step of the world.
   * @param {string} [now] Tells what is so from what was so.
   */
  async ask(now = "changed") {
    const lists = this.stage.hands.filter((hand) => hand.hasList);
    this.wanted = now;
    if (lists.length === 0 || this.isAsking || now === this.asked) return;
    this.isAsking = true;
    this.asked = now;
    try {
      for (const hand of lists) await this.#list(hand);
    } catch {
      // The world has ended, which is shown where it was stepped.
    } finally {
      this.isAsking = false;
    }
    if (this.wanted !== this.asked) this.ask(this.wanted); // the world went on meanwhile
  }

  /** @param {Hand} hand */
  async #list(hand) {
    const { stage } = this;
    const world = stage.made;
    const { mask, active } = await stage.session.ask("seen", { agent: hand.agent });
    const box = /** @type {HTMLElement | null} */ (
      this.buttons.querySelector(`[data-agent="${hand.agent}"]`)
    );
    if (box === null || world === null || stage.made !== world) return;
    if (!stage.hands.includes(hand)) return;
    if (world.instance.turns && !active) {
      box.replaceChildren(made("span", {}, `${this.#nameOf(hand)}: others are on turn`));
      return;
    }
    const legal = hand.deeds.all.filter((_, k) => mask === null || mask[k] !== 0);
    const hadFocus = box.contains(document.activeElement);
    const buttons = legal.slice(0, MOST_BUTTONS).map((deed) => {
      const button = made("button", { type: "button", className: "deed" }, deed.name);
      button.addEventListener("click", () => {
        if (world.instance.turns) for (const other of buttons) other.disabled = true;
        stage.choose(hand, deed);
      });
      return button;
    });
    box.replaceChildren(...buttons);
    if (hadFocus) buttons[0]?.focus();
  }
}
