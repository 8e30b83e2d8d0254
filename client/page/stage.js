// The picture of a world and its clock: frames at the environment's rate, a focus in which keys are the
// game's, and people who play by hand.

import { made } from "./form.js";
import { choicesIn } from "./groups.js";
import { Deeds, Hand, keyOf } from "./keys.js";
import { Ended, Session } from "./session.js";

/**
 * @typedef {import("./groups.js").Group} Group
 * @typedef {import("./keys.js").Deed} Deed
 * @typedef {import("./link.js").Place} Place
 * @typedef {{steps: number, step: number, isOver: boolean, isReplaying: boolean, returns: number[],
 *   parts: number[], recorded: number, players: Record<string, string>, waits: number[],
 *   picture?: Picture | null}} Facts `waits`: people who have to choose before the world goes on.
 * @typedef {{width: number, height: number, pixels: Uint8ClampedArray<ArrayBuffer>,
 *   steps: number, isBest: boolean}} Picture
 * @typedef {{instance: Record<string, any>, groups: Group[], names: string[], keys: string[],
 *   size: [number, number] | null, views: string[], refused: string[], facts: Facts}} Made
 * @typedef {{told: (facts: Facts) => void, failed: (problem: Error) => void,
 *   ran: (isRunning: boolean) => void}} Listeners
 */

const MOST_FRAMES = 30; // pictures a second
const LINGER = 800; // milliseconds for which the end of an episode is shown
const WIDTH = 640; // of a picture, in its own pixels
const NEVER_SCROLL = [" ", "Enter"]; // nor press anything, while the picture has the focus

export class Stage {
  /** @param {Listeners} listeners */
  constructor(listeners) {
    this.listeners = listeners;
    this.session = new Session();
    this.width = WIDTH;
    this.height = Math.round((WIDTH * 9) / 16);
    this.canvas = made("canvas", {
      ...{ width: this.width, height: this.height, className: "picture" },
      ...{ role: "img", ariaLabel: "Picture of a world", tabIndex: 0 },
    });
    this.context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    this.isRunning = false;
    /** Whether what is shown is as good as it gets. */
    this.isBest = false;
    this.speed = 1;
    this.view = "";
    /** @type {Made | null} */
    this.made = null;
    /** @type {Hand[]} */
    this.hands = [];
    /** Deeds that keys of the keyboard hold, by the place of the key. @type {Map<string, [Hand, Deed][]>} */
    this.down = new Map();
    this.rate = 30;
    /** Whether the next step waits for a person to choose from a list. */
    this.waits = false;
    this.loop = 0;
    /** Milliseconds for which ends of episodes were shown. */
    this.lingered = 0;
    this.#listen();
  }

  #listen() {
    const { canvas } = this;
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.key === "Tab") return;
      const key = keyOf(event);
      if (key === "Escape") return canvas.blur();
      if (NEVER_SCROLL.includes(key)) event.preventDefault();
      for (const hand of this.hands) {
        const deed = hand.keys.get(key);
        if (deed === undefined) continue;
        event.preventDefault();
        if (event.repeat) continue;
        hand.press(deed);
        this.down.set(event.code, [...(this.down.get(event.code) ?? []), [hand, deed]]);
      }
    });
    canvas.addEventListener("keyup", (event) => {
      if (NEVER_SCROLL.includes(event.key)) event.preventDefault();
      for (const [hand, deed] of this.down.get(event.code) ?? []) hand.release(deed);
      this.down.delete(event.code);
    });
    canvas.addEventListener("blur", () => this.#letGo());
  }

  #letGo() {
    this.down.clear();
    for (const hand of this.hands) hand.releaseAll();
  }

  /**
   * Make a world. People play on where their agents still exist.
   * @param {Place} place
   * @param {string} [player] Who plays where the place does not say.
   * @returns {Promise<Made>}
   */
  async make(place, player) {
    this.stop();
    const found = /** @type {Made} */ (await this.session.ask("make", { place, player }, true));
    this.made = found;
    this.rate = found.instance.render_fps ?? 30;
    const [rows, columns] = found.size ?? [9, 16];
    this.height = Math.round((WIDTH * rows) / columns);
    const look = async () => {
      found.views = await this.session.ask("views", {}, true);
      if (!found.views.includes(this.view)) this.view = "";
    };
    // A view may hide something, so no other one stands in for it. To find all takes long.
    const isOwn = this.view === "";
    if (!isOwn) await look();
    this.waits = false;
    const earlier = this.hands;
    this.hands = [];
    this.down.clear();
    for (const hand of earlier) if (this.#has(hand.agent)) this.addHand(hand.agent).follow(hand);
    this.#nameCanvas();
    await this.draw({ isRough: true });
    if (isOwn) await look();
    return found;
  }

  /** @param {number} agent */
  #has(agent) {
    return Boolean(this.made?.groups.some((group) => group.agents.includes(agent)));
  }

  #nameCanvas() {
    const keyed = this.hands.some((hand) => hand.keys.size > 0);
    const name = `Picture of ${this.made?.instance.id ?? "a world"}`;
    this.canvas.setAttribute("role", keyed ? "application" : "img");
    const label = keyed ? `${name}; its keys work while it has the focus` : name;
    this.canvas.setAttribute("aria-label", label);
  }

  /**
   * Let a person play an agent.
   * @param {number} agent
   */
  addHand(agent) {
    const { groups, names, keys, instance } = /** @type {Made} */ (this.made);
    const group = /** @type {Group} */ (groups.find((one) => one.agents.includes(agent)));
    const hasRoles = Array.isArray(instance.roles) && instance.roles.length > 0;
    const most = hasRoles ? choicesIn(group.action) : names.length;
    const taken = new Set(this.hands.map((hand) => hand.person));
    let person = 0;
    while (taken.has(person)) ++person;
    const deeds = new Deeds(group.action, names.slice(0, most), keys.slice(0, most));
    const hand = new Hand(deeds, agent, person);
    this.hands.push(hand);
    this.waits = false;
    this.#nameCanvas();
    return hand;
  }

  /** @param {Hand} hand */
  removeHand(hand) {
    this.hands = this.hands.filter((other) => other !== hand);
    this.waits = false;
    this.#nameCanvas();
  }

  start() {
    if (this.isRunning) return;
    this.isRunning = true;
    this.listeners.ran(true);
    this.#run(++this.loop);
  }

  stop() {
    ++this.loop;
    if (!this.isRunning) return;
    this.isRunning = false;
    this.listeners.ran(false);
  }

  /** @param {number} loop */
  async #run(loop) {
    let last = performance.now();
    let due = 0;
    let overSince = 0;
    try {
      while (this.loop === loop) {
        const now = performance.now();
        const pace = this.rate * this.speed;
        const seconds = Math.min((now - last) / 1000, 0.25);
        due = Math.min(due + seconds * pace, Math.max(1, 0.25 * pace));
        last = now;
        const lingers = overSince && now - overSince < LINGER / Math.max(1, this.speed);
        // Where a frame takes longer than its time, the next one begins at once.
        if (due < 1 || lingers || this.waits || document.hidden) {
          await new Promise((resolve) => {
            requestAnimationFrame(resolve);
          });
          continue;
        }
        if (overSince) this.lingered += now - overSince;
        // At its own speed a world shows each of its steps, however slow the machine is.
        const steps = this.speed <= 1 ? 1 : Math.floor(due);
        due -= steps;
        const facts = await this.#frame(steps);
        overSince = facts.isOver ? performance.now() : 0;
      }
    } catch (problem) {
      if (this.loop !== loop) return; // it was stopped, which has been told
      this.stop();
      this.listeners.failed(/** @type {Error} */ (problem));
    }
  }

  /** Milliseconds that a picture may take: some of the time between two. */
  get #time() {
    return 600 / Math.min(this.rate * this.speed, MOST_FRAMES);
  }

  /**
   * Step, draw and tell.
   * @param {number} steps
   * @returns {Promise<Facts>}
   */
  async #frame(steps) {
    const { made: world, width, height, view } = this;
    const choosing = world?.instance.turns ? this.hands.filter((hand) => hand.hasList) : [];
    const once = choosing.map((hand) => hand.agent);
    /** @type {Record<number, number[] | null>} */
    const hands = {};
    for (const hand of this.hands) {
      const waits = choosing.includes(hand) && hand.due.length === 0;
      hands[hand.agent] = waits ? null : hand.take();
    }
    const asked = { steps, hands, once, width, height, view, time: this.#time };
    const facts = /** @type {Facts} */ (await this.session.ask("frame", asked));
    if (this.made !== world) return facts; // another world was made meanwhile
    this.#show(facts.picture ?? null);
    this.waits = facts.waits.some((agent) =>
      this.hands.some((hand) => hand.agent === agent && hand.due.length === 0),
    );
    this.listeners.told(facts);
    return facts;
  }

  /** One step, while the clock stands still. */
  async step() {
    return this.#frame(1);
  }

  /**
   * Do what a person chose from a list.
   * @param {Hand} hand
   * @param {Deed} deed
   */
  choose(hand, deed) {
    hand.tap(deed);
    this.waits = false;
    if (!this.isRunning) this.step().catch((problem) => this.listeners.failed(problem));
  }

  /**
   * Go towards a recorded step, or play towards a new one.
   * @param {"goTo" | "playTo"} call
   * @param {number} step
   * @param {(now: number, end: number) => boolean} onWay Whether to go on.
   * @returns {Promise<Facts>} Of where it came.
   */
  async walk(call, step, onWay) {
    for (;;) {
      const facts = /** @type {Facts} */ (await this.session.ask(call, { step }, true));
      const end = call === "goTo" ? Math.min(step, facts.recorded) : step;
      if (facts.steps >= end || !onWay(facts.steps, end)) return facts;
    }
  }

  /**
   * The picture of now, as good as it gets; or sooner.
   * @param {{isRough?: boolean}} [how]
   */
  async draw({ isRough = false } = {}) {
    const { made: world, view } = this;
    const share = isRough ? 0.5 : 1;
    const size = { width: share * this.width, height: Math.round(share * this.height) };
    const time = isRough ? this.#time : 0;
    const picture = await this.session.ask("picture", { ...size, view, time }, true);
    if (picture === null) this.isBest = true;
    if (this.made === world && this.view === view) this.#show(picture);
  }

  /** @param {Picture | null} picture */
  #show(picture) {
    if (picture === null) return;
    const { canvas, context } = this;
    if (canvas.width !== picture.width || canvas.height !== picture.height) {
      canvas.width = picture.width;
      canvas.height = picture.height;
    }
    context.putImageData(new ImageData(picture.pixels, picture.width, picture.height), 0, 0);
    // For measurements from outside.
    const { dataset } = canvas;
    dataset.last = String(performance.now());
    dataset.first ??= dataset.last;
    dataset.pictures = String(Number(dataset.pictures ?? 0) + 1);
    dataset.steps = String(picture.steps);
    dataset.lingered = String(this.lingered);
    dataset.best = String(picture.isBest);
    this.isBest = picture.isBest;
  }

  /** End everything. */
  end() {
    this.stop();
    this.session.end();
  }
}

export { Ended };
