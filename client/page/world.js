// One world that is played, watched and kept: steps by policies, at random or by hand, a record of
// every action, and saved states from which any earlier step is reached again. Runs in a worker.

import { Simulator } from "../simulator/simulator.js";
import { drawOf } from "./brain.js";
import { groupsOf, isFloat, sizeOf, wordsIn } from "./groups.js";
import { MOST_STEPS, NotReadable } from "./link.js";
import { Record as Actions } from "./record.js";

/**
 * @typedef {import("../simulator/module.js").Module} Module
 * @typedef {import("../simulator/simulator.js").Values} Values
 * @typedef {import("./groups.js").Group} Group
 * @typedef {import("./link.js").Place} Place
 * @typedef {import("./link.js").Episode} Episode
 * @typedef {Record<number, number[] | null>} Hands Actions of agents that are played by hand; null:
 *   not chosen yet.
 * @typedef {{remembers: boolean, begin: () => void,
 *   act: (simulator: Simulator, step: number) => Int32Array | Float32Array,
 *   keep: () => unknown, restore: (kept: any) => void}} Brain Chooses actions of all agents.
 * @typedef {{state: Uint8Array, returns: Float64Array, parts: Float64Array, isOver: boolean,
 *   minds: Map<string, unknown>, stays: boolean}} Kept `stays`: players changed there.
 */

const KEEP_EVERY = 64; // steps between saved states, at first
const MOST_KEPT = 64; // saved states; then every second one is dropped
const MOST_KEPT_BYTES = 64 << 20;
const MOST_CHANGES = 64; // saved states at changes of players; then the first ones are dropped
const MOST_WORDS = 1 << 23; // of recorded actions, which a file can hold

/** The name of a player that draws legal actions. */
export const RANDOM = "random";

export class LiveWorld {
  /**
   * Make a world and begin its first episode.
   * @param {Module} module
   * @param {Place} place
   * @param {Map<string, (instance: Record<string, any>) => Brain>} [brains] Makes policies by name.
   */
  constructor(module, place, brains = new Map()) {
    this.module = module;
    /** @type {Place} */
    this.place = { ...place, players: {} };
    this.simulator = this.#made();
    const { instance } = this.simulator;
    this.groups = groupsOf(instance);
    this.agents = /** @type {number} */ (instance.agents_per_world);
    this.words = this.simulator.actionWords / this.agents;
    this.makers = brains;
    /** Policies in use, by name. @type {Map<string, Brain>} */
    this.minds = new Map();
    /** Who plays, by group. @type {Map<string, string>} */
    this.players = new Map(this.groups.map((group) => [group.name, RANDOM]));
    this.hasParts = this.simulator.outputs.reward_parts !== undefined;
    const parts = this.hasParts ? instance.reward_parts.length : 0;
    this.returns = new Float64Array(this.groups.length);
    this.parts = new Float64Array(parts);
    this.record = new Actions(this.simulator.actionWords);
    /** Saved states by step. @type {Map<number, Kept>} */
    this.kept = new Map();
    this.keepEvery = KEEP_EVERY;
    this.steps = 0;
    this.isOver = false;
    /** Whether pictures have charts, which show the whole episode. */
    this.hasCharts = this.simulator.noteCharts();
    /** Whether an episode began after the last step. */
    this.hasBegun = true;
    this.#keep();
    for (const [group, player] of Object.entries(place.players)) this.setPlayer(group, player);
  }

  #made() {
    const { id, world, limit, parameters, seed, options } = this.place;
    /** @type {Values} */
    const settings = { worlds: 1, first_world: world, autoreset: "Disabled" };
    if (limit !== null) settings.max_episode_steps = limit;
    const simulator = new Simulator(this.module, id, settings, parameters);
    simulator.reset(seed, options);
    return simulator;
  }

  /** Go on in a new simulator, where the module holds that of another world. */
  revive() {
    this.simulator = this.#made();
    const now = this.steps;
    this.#load(0);
    this.goTo(now);
  }

  /** Whether the next step is one that was recorded. */
  get isReplaying() {
    return this.steps < this.record.length;
  }

  /**
   * Choose who plays a group: RANDOM, or the name of a policy.
   * @param {string} group
   * @param {string} player
   */
  setPlayer(group, player) {
    if (!this.players.has(group))
      throw new NotReadable(`There are no agents called '${group.slice(0, 64)}'.`);
    if (player !== RANDOM && !this.minds.has(player)) {
      const make = this.makers.get(player);
      if (make === undefined)
        throw new NotReadable(`There is no policy called '${player.slice(0, 64)}'.`);
      const mind = make(this.simulator.instance);
      mind.begin();
      this.minds.set(player, mind);
    }
    this.players.set(group, player);
    this.place.players[group] = player;
    const used = new Set(this.players.values());
    for (const name of this.minds.keys()) if (!used.has(name)) this.minds.delete(name);
    // What a new policy remembers begins here, also where this step is passed again.
    if (!this.hasBegun && !this.isOver) this.#keep(true);
  }

  /**
   * Agents that have to choose before the world goes on.
   * @param {Hands} hands
   */
  waitsFor(hands) {
    const { simulator, isOver, isReplaying } = this;
    if (isOver || isReplaying || !simulator.instance.turns) return [];
    const active = simulator.outputs.agent_active ? simulator.output("agent_active") : null;
    return Object.keys(hands)
      .map(Number)
      .filter((agent) => hands[agent] === null && Number(active?.[agent] ?? 1) === 1);
  }

  /**
   * Step the world once, or begin its next episode where it was over. A step that was recorded is
   * taken as it was, whoever plays; policies that remember look on.
   * @param {Hands} hands
   */
  step(hands = {}) {
    if (this.isOver) return this.#begin();
    const { simulator, record, isReplaying, steps } = this;
    if (steps >= MOST_STEPS || (steps + 1) * record.words > MOST_WORDS)
      throw new NotReadable(`The record is full after ${steps} steps: restart, or go back.`);
    const minds = [...this.minds].filter(([, mind]) => mind.remembers || !isReplaying);
    const before = minds.map(([, mind]) => (mind.remembers ? mind.keep() : null));
    try {
      if (!isReplaying) this.#draw();
      /** @type {Map<string, Int32Array>} */
      const chosen = new Map();
      for (const [name, mind] of minds) {
        const own = mind.act(simulator, steps);
        chosen.set(name, new Int32Array(own.buffer, own.byteOffset, own.length));
      }
      if (isReplaying) simulator.actions.set(record.at(steps));
      else this.#fill(chosen, hands);
      const taken = isReplaying ? null : simulator.actions.slice();
      simulator.step({ sight: this.minds.size > 0 }); // else nobody looks
      if (taken !== null) record.push(taken);
    } catch (problem) {
      minds.forEach(([, mind], k) => mind.remembers && mind.restore(before[k]));
      throw problem;
    }
    ++this.steps;
    this.hasBegun = false;
    if (this.hasCharts) simulator.noteCharts();
    this.#count();
    const kept = isReplaying ? this.kept.get(this.steps) : undefined;
    if (kept !== undefined) this.#recall(kept);
    else if (!this.hasCharts && this.steps % this.keepEvery === 0) this.#keep();
  }

  #draw() {
    const seed = Math.floor(drawOf(this.place.seed, this.steps) * 2 ** 32);
    this.simulator.sampleActions(seed);
  }

  /**
   * Write the actions of policies and people over the drawn ones.
   * @param {Map<string, Int32Array>} chosen
   * @param {Hands} hands
   */
  #fill(chosen, hands) {
    const { words } = this;
    const target = this.simulator.actions;
    for (const group of this.groups) {
      const own = chosen.get(this.players.get(group.name) ?? RANDOM);
      if (own === undefined) continue;
      for (const agent of group.agents)
        target.set(own.subarray(agent * words, (agent + 1) * words), agent * words);
    }
    for (const [agent, action] of Object.entries(hands))
      if (action !== null) this.#put(Number(agent), action);
  }

  /**
   * @param {number} agent
   * @param {number[]} action
   */
  #put(agent, action) {
    const group = this.groups.find((one) => one.agents.includes(agent));
    if (group === undefined || action.length !== wordsIn(group.action))
      throw new NotReadable(`There is no such action of agent ${agent}.`);
    const at = agent * this.words;
    if (isFloat(group.action)) this.simulator.floatActions.set(action, at);
    else this.simulator.actions.set(action, at);
  }

  #begin() {
    this.simulator.reset(null, this.place.options);
    this.isOver = false;
    this.hasBegun = true;
    this.returns.fill(0);
    this.parts.fill(0);
    for (const mind of this.minds.values()) mind.begin();
  }

  /** Add up rewards, and see whether the episode is over. */
  #count() {
    const reward = this.simulator.output("reward");
    this.groups.forEach((group, k) => {
      let sum = 0;
      for (const agent of group.agents) sum += Number(reward[agent]);
      this.returns[k] += sum / group.agents.length;
    });
    if (this.hasParts) {
      const parts = this.simulator.output("reward_parts");
      for (let k = 0; k < parts.length; ++k)
        this.parts[k % this.parts.length] += Number(parts[k]) / this.agents;
    }
    this.isOver = this.simulator.column("world.over", "uint32")[0] === 1;
  }

  // ---- saved states

  /** @param {boolean} [stays] */
  #keep(stays = this.kept.get(this.steps)?.stays ?? false) {
    const minds = new Map([...this.minds].map(([name, mind]) => [name, mind.keep()]));
    const state = this.simulator.save();
    this.kept.set(this.steps, {
      ...{ state, minds, stays, isOver: this.isOver },
      ...{ returns: this.returns.slice(), parts: this.parts.slice() },
    });
    const regular = [...this.kept.values()].filter((one) => !one.stays).length;
    if (regular > Math.max(2, Math.min(MOST_KEPT, MOST_KEPT_BYTES / state.length))) this.#thin();
    const changes = [...this.kept].filter(([step, one]) => one.stays && step > 0);
    if (changes.length > MOST_CHANGES) this.kept.delete(Math.min(...changes.map(([step]) => step)));
  }

  #thin() {
    this.keepEvery *= 2;
    for (const [step, one] of this.kept)
      if (step % this.keepEvery && !one.stays) this.kept.delete(step);
  }

  /**
   * Remember what policies remembered there.
   * @param {Kept} kept
   */
  #recall(kept) {
    for (const [name, mind] of this.minds)
      if (kept.minds.has(name)) mind.restore(kept.minds.get(name));
  }

  /** @param {number} step One that has a saved state. */
  #load(step) {
    const kept = /** @type {Kept} */ (this.kept.get(step));
    this.simulator.load(kept.state);
    this.steps = step;
    this.returns.set(kept.returns);
    this.parts.set(kept.parts);
    this.isOver = kept.isOver;
    this.hasBegun = step === 0;
    for (const mind of this.minds.values()) mind.begin();
    this.#recall(kept);
  }

  /**
   * Go to a step that was played: back to a saved state, and forth by the recorded actions.
   * @param {number} step
   * @param {() => boolean} [isLate] Whether to stop on the way; the same call then goes on.
   */
  goTo(step, isLate) {
    const end = Math.min(Math.max(step, 0), this.record.length);
    const from = Math.max(...[...this.kept.keys()].filter((known) => known <= end));
    const isPast = end === this.steps && this.hasBegun && end > 0; // its episode is over
    if (end < this.steps || isPast || from > this.steps) this.#load(from);
    this.playTo(end, isLate);
  }

  /**
   * Play until a step, through ends of episodes.
   * @param {number} step
   * @param {() => boolean} [isLate]
   */
  playTo(step, isLate = () => false) {
    while (this.steps < step) {
      this.step();
      if (isLate()) return;
    }
  }

  /** Forget what was played after the present step, so that another future is played. */
  branch() {
    this.record.cut(this.steps);
    for (const step of this.kept.keys()) if (step > this.steps) this.kept.delete(step);
  }

  /** What was played so far, as a file keeps it. @returns {Episode} */
  episode() {
    const { place, record } = this;
    const floats = this.#isFloat();
    const { words, length } = record;
    return { ...place, steps: length, words, isFloat: floats, actions: record.all() };
  }

  #isFloat() {
    return this.groups.every((group) => isFloat(group.action));
  }

  /**
   * Take the actions of a file as this world's record, and go to its beginning.
   * @param {Episode} episode
   */
  replay(episode) {
    const { words } = this.record;
    if (episode.words !== words || episode.isFloat !== this.#isFloat())
      throw new NotReadable(
        `The file has actions of ${episode.words} numbers of another kind, this world of ${words}.`,
      );
    if (episode.actions.length > MOST_WORDS)
      throw new NotReadable("The file has too many actions.");
    for (const group of this.groups) this.#checkChoices(group, episode.actions);
    this.record.cut(0);
    this.goTo(0);
    this.branch();
    this.record.fill(episode.actions);
  }

  /**
   * @param {Group} group
   * @param {Int32Array} actions Of all steps.
   */
  #checkChoices(group, actions) {
    const { words, agents } = this;
    const fields = group.action.flatMap((field) => new Array(sizeOf(field)).fill(field));
    for (let row = 0; row < actions.length; row += agents * words)
      for (const agent of group.agents)
        fields.forEach((field, word) => {
          const value = actions[row + agent * words + word];
          if (field.choices !== null && (value < 0 || value >= field.choices))
            throw new NotReadable(`The file has an action ${value} that agent ${agent} has not.`);
        });
  }
}
