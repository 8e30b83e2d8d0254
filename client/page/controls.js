// The elements of an environment's page: all are made here once, in the order in which Tab goes.

import { Form, made } from "./form.js";
import { MOST_WORLD } from "./link.js";

/**
 * @typedef {import("./groups.js").Group} Group
 * @typedef {import("./link.js").Parameters} Parameters
 * @typedef {import("./link.js").Place} Place
 * @typedef {{play: () => void, stop: () => void, step: () => any, restart: () => any,
 *   nextSeed: () => any, remake: () => any, speed: (speed: number) => void,
 *   view: (view: string) => any, scrub: (step: number) => any, branch: () => any,
 *   player: (group: string, player: string) => any, apply: () => any, share: () => any,
 *   save: () => any, open: () => any, check: () => any}} Deeds What controls do; `stop` and `play`
 *   are done at once, others in turn.
 * @typedef {{canvas: HTMLElement, deeds: HTMLElement, people: HTMLElement, seen: HTMLElement,
 *   text: HTMLElement, link: HTMLElement, file: HTMLElement, bits: HTMLElement, rewards: HTMLElement}} Parts
 */

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4, 16, 64];

export class Controls {
  /**
   * @param {Record<string, any>} described The environment.
   * @param {Parts} parts Elements that others fill.
   * @param {Deeds} deeds
   * @param {(does: () => any, name?: string) => void} act Does something in turn.
   */
  constructor(described, parts, deeds, act) {
    this.act = act;
    this.playButton = made("button", { type: "button", className: "main" }, "Play");
    this.playButton.addEventListener("click", deeds.play);
    const stop = made("button", { type: "button" }, "Stop");
    stop.addEventListener("click", deeds.stop);
    this.speed = this.#select(SPEEDS.map(String), (value) => deeds.speed(Number(value)));
    for (const option of this.speed.options) option.text += " x";
    this.speed.value = "1";
    this.view = this.#select([], deeds.view);
    this.seed = this.#number(Number.MAX_SAFE_INTEGER, deeds.remake);
    this.world = this.#number(MOST_WORLD, deeds.remake);
    this.scrub = made("input", { type: "range", min: "0", max: "0", step: "1", value: "0" });
    this.scrub.addEventListener("input", () => {
      const step = Number(this.scrub.value);
      act(() => deeds.scrub(step), "scrub");
    });
    this.branch = this.#button("Play another future from here", deeds.branch);
    this.branch.disabled = true;
    /** What is said, once; it is read aloud. */
    this.status = made("p", { className: "status", role: "status" });
    /** Where the world is; too often told to be read aloud. */
    this.facts = made("p", { className: "facts" });
    this.problem = made("p", { className: "problem", role: "alert" });
    this.players = made("div", { className: "players" });
    /** Who plays, by group. @type {Map<string, HTMLSelectElement>} */
    this.seats = new Map();
    this.drawn = made("input", { type: "checkbox" });
    this.drawn.addEventListener("change", () => act(deeds.remake));
    const parameters = described.parameters.filter(
      (/** @type {import("./groups.js").Field} */ one) => one.shape.length === 0,
    );
    this.parameters = new Form(parameters, "Parameters");
    this.options = new Form(described.reset_options ?? [], "Options of the reset");
    this.limit = made("input", {
      ...{ type: "number", min: "0", max: String(2 ** 31 - 1), step: "1" },
      placeholder: "default",
    });
    this.form = this.#form(deeds.apply);
    parts.file.addEventListener("change", () => act(deeds.open));

    const bar = made(
      "div",
      { className: "bar", role: "group", ariaLabel: "world" },
      this.playButton,
      this.#button("Step", deeds.step),
      this.#button("Restart", deeds.restart),
      this.#button("Next seed", deeds.nextSeed),
      stop,
    );
    const settings = made(
      "div",
      { className: "bar" },
      labelled("speed", this.speed),
      labelled("view", this.view),
      labelled("seed", this.seed),
      labelled("world", this.world),
    );
    const record = labelled("step of the record", this.scrub);
    const upper = [this.problem, parts.canvas, parts.deeds, bar, settings, this.status];
    this.main = made("div", { className: "world" }, ...upper, this.facts, record, this.branch);
    const sharing = made(
      "div",
      { className: "bar" },
      this.#button("Copy a link to this step", deeds.share),
      this.#button("Save the episode", deeds.save),
    );
    const why =
      "The package keeps hashes of recorded runs, which every machine must give: processors, GPUs, " +
      "and this page.";
    this.side = made(
      "div",
      { className: "side" },
      part(
        ...["Who plays", true, this.players],
        ...[labelled("sample actions, instead of taking the likeliest", this.drawn), parts.people],
      ),
      part("Rewards", true, parts.rewards),
      parts.seen,
      part("Parameters", false, this.form),
      parts.text,
      part("Keep and share", false, sharing, parts.link, labelled("Open an episode", parts.file)),
      part(
        ...["The same bits", false, made("p", {}, why)],
        ...[this.#button("Check the bits", deeds.check), parts.bits],
      ),
    );
    this.deeds = deeds;
  }

  /**
   * @param {string} text
   * @param {() => any} does
   */
  #button(text, does) {
    const button = made("button", { type: "button" }, text);
    button.addEventListener("click", () => this.act(does));
    return button;
  }

  /**
   * @param {string[]} values
   * @param {(value: string) => any} does
   */
  #select(values, does) {
    const options = values.map((value) => made("option", { value }, value));
    const select = made("select", {}, ...options);
    select.addEventListener("change", () => this.act(() => does(select.value)));
    return select;
  }

  /**
   * @param {number} most
   * @param {() => any} does
   */
  #number(most, does) {
    const range = { min: "0", max: String(most), step: "1", required: true };
    const input = made("input", { type: "number", value: "0", ...range });
    input.addEventListener("change", () => input.reportValidity() && this.act(does));
    return input;
  }

  /** @param {() => any} apply */
  #form(apply) {
    const defaults = made("button", { type: "button" }, "Defaults");
    defaults.addEventListener("click", () => {
      this.parameters.show({});
      this.options.show({});
      this.limit.value = "";
    });
    const form = made(
      "form",
      { className: "form" },
      this.parameters.element,
      this.options.element,
      labelled("steps of an episode (0: no limit)", this.limit),
      made("div", { className: "bar" }, made("button", {}, "Make the world"), defaults),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.act(apply);
    });
    return form;
  }

  /**
   * Show where and how a world was made.
   * @param {Place} place
   * @param {string[]} views
   * @param {string} view
   */
  showPlace(place, views, view) {
    this.seed.value = String(place.seed);
    this.world.value = String(place.world);
    this.drawn.checked = place.drawn;
    this.parameters.show(place.parameters);
    this.options.show(place.options);
    this.limit.value = place.limit === null ? "" : String(place.limit);
    const options = ["", ...views];
    this.view.replaceChildren(
      ...options.map((value) => made("option", { value }, value || "default")),
    );
    this.view.value = view;
  }

  /**
   * Show who plays.
   * @param {Group[]} groups
   * @param {string[]} names Of players.
   * @param {Record<string, string>} players
   */
  showPlayers(groups, names, players) {
    this.seats.clear();
    const rows = groups.map(({ name, agents }) => {
      const select = this.#select(names, (player) => this.deeds.player(name, player));
      select.value = players[name];
      this.seats.set(name, select);
      return labelled(`${name} (${agents.length})`, select);
    });
    this.players.replaceChildren(...rows);
  }

  /**
   * Show who plays now, in the lists that there are.
   * @param {Record<string, string>} players
   */
  followPlayers(players) {
    for (const [name, select] of this.seats) select.value = players[name];
  }

  /**
   * What the form says of a place.
   * @param {Place} place Whose values go on where the form has no field for them.
   * @returns {Partial<Place>}
   */
  chosen(place) {
    const listed = new Set(this.parameters.fields.map((field) => field.name));
    const others = Object.entries(place.parameters).filter(([name]) => !listed.has(name));
    return {
      parameters: { ...Object.fromEntries(others), ...this.parameters.read() },
      options: this.options.read(),
      limit: this.limit.value === "" ? null : Number(this.limit.value),
    };
  }
}

/**
 * @param {string} text
 * @param {HTMLElement} input
 */
function labelled(text, input) {
  input.setAttribute("aria-label", text); // the text alone, without the choices of a list
  return made("label", {}, text, " ", input);
}

/**
 * A part of the page that opens and closes.
 * @param {string} title
 * @param {boolean} open
 * @param {...Node} children
 */
function part(title, open, ...children) {
  return made("details", { open }, made("summary", {}, title), ...children);
}
