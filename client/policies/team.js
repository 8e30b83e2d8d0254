// Policies that act together: one for each agent of a simulator's worlds, or random actions without
// one, as gpu_envs/policies/teams.py has them.

import { DoesNotFit, partsOf, sizeOf } from "./fit.js";
import { policyOfEach } from "./options.js";
import { Chance, Player } from "./player.js";

/**
 * @typedef {import("./distributions.js").Numbers} Numbers
 * @typedef {import("./fit.js").Array} Array
 * @typedef {import("./fit.js").Part} Part
 * @typedef {import("./player.js").Choice} Choice
 * @typedef {import("./policy.js").Policy} Policy
 * @typedef {import("../simulator/simulator.js").Simulator} Simulator
 * @typedef {Array | Record<string, Array>} Sight An output, or several by their names.
 */

const KINDS_APART = 2 ** 40; // distance between the first numbers by which agents of kinds draw

/** The policies of a file in the seats of a simulator. */
export class Team {
  /**
   * @param {Policy} policy
   * @param {Record<string, any>} instance What the simulator says of itself.
   */
  constructor(policy, instance) {
    this.parts = partsOf(policy, instance);
    /** @type {number} */
    this.worlds = instance.num_worlds;
    this.agents = policy.agents;
    this.isSplit = instance.role_form === "split";
    this.wordStride = sizeOf(instance.action); // where agents lie side by side
    /** Actions of all agents, as words of the engine. */
    this.words = this.room();
    /** The name of each agent's policy; null: it acts at random. */
    this.ofEach = namesOf(policy, instance);
    /** Who plays each row of all worlds, and which of that player's rows it is.
     * @type {{player: Player | Chance, row: number}[]} */
    this.seats = [];
    /** The players of each part. */
    this.players = this.parts.map((part, number) =>
      [...policy.networks.values(), null].flatMap((network) => {
        const own = Array.from({ length: part.count }, (_, k) => part.first + k);
        const members = own.filter((agent) => this.ofEach[agent] === (network?.name ?? null));
        if (members.length === 0) return [];
        if (network !== null && network.shape.size !== part.kind.shape.size)
          throw new DoesNotFit(`The policy '${network.name}' cannot play ${part.kind.name}.`);
        const seats = this.seatsOf(part, number, members);
        const rows = members.length * this.worlds;
        const made =
          network === null
            ? new Chance(part.actions, rows, seats)
            : new Player(network, rows, seats);
        for (let k = 0; k < rows; ++k) {
          const agent = seats.worlds[k] * this.agents + members[k % members.length];
          this.seats[agent] = { player: made, row: k };
        }
        return [made];
      }),
    );
  }

  /** Room for the actions of all worlds. */
  room() {
    const { parts, worlds, agents, isSplit, wordStride } = this;
    const last = parts[parts.length - 1];
    const split = last.begin + worlds * last.count * last.words;
    const room = new Int32Array(isSplit ? split : worlds * agents * wordStride);
    return parts.every((part) => part.isFloat) ? new Float32Array(room.buffer) : room;
  }

  /**
   * Where the rows of some agents of a part lie.
   * @param {Part} part
   * @param {number} number Of the part.
   * @param {number[]} members
   */
  seatsOf(part, number, members) {
    const rows = Array.from({ length: this.worlds * members.length }, (_, k) => k);
    const worlds = rows.map((k) => Math.floor(k / members.length));
    const own = rows.map((k) => members[k % members.length]);
    const within = rows.map((k) => worlds[k] * part.count + own[k] - part.first);
    const beside = rows.map((k) => worlds[k] * this.agents + own[k]);
    const form = part.isFloat ? Float32Array : Int32Array;
    return {
      ...{ actions: part.actions, divisor: part.layers[0].divisor, worlds },
      words: new form(this.words.buffer, this.isSplit ? 4 * part.begin : 0),
      wordStride: this.isSplit ? part.words : this.wordStride,
      places: this.isSplit ? within : beside,
      draws: within.map((row) => row + number * KINDS_APART),
    };
  }

  /**
   * What a simulator shows to its agents: for `look` and `act`.
   * @param {Simulator} simulator
   * @returns {Sight}
   */
  seenIn(simulator) {
    const names = new Set(this.parts.flatMap(({ layers }) => layers.map(({ output }) => output)));
    if (names.size === 1) return simulator.output("obs");
    return Object.fromEntries([...names].map((name) => [name, simulator.output(name)]));
  }

  /**
   * See what all agents of all worlds see; memories become the next ones.
   * @param {Sight} observations As the simulator writes them.
   * @param {Array | null} masks
   * @param {{values?: boolean, states?: Numbers | null}} how Whether to find values of the rows,
   *   with the states of the worlds.
   */
  look(observations, masks = null, how = {}) {
    for (const [number, part] of this.parts.entries()) {
      const layers = part.layers.map(({ output, size, divisor }) => {
        const own = ArrayBuffer.isView(observations) ? observations : observations[output];
        return { ...part.rows(own, output), size, divisor };
      });
      const hasMask = masks !== null && part.hasMask;
      const legal = hasMask ? part.rows(masks, "action_mask") : { array: null, stride: 0 };
      for (const player of this.players[number])
        player.look(layers, legal.array, { ...how, maskStride: legal.stride });
    }
  }

  /**
   * Choose actions for what was seen last. Agents without a policy draw theirs, by `Math.random`
   * where no `draw` is given.
   * @param {Choice} [choice]
   * @returns {Int32Array | Float32Array} `words`, until the next call.
   */
  choose(choice = {}) {
    for (const players of this.players) for (const player of players) player.choose(choice);
    return this.words;
  }

  /**
   * See, and choose.
   * @param {Sight} observations
   * @param {Array | null} masks
   * @param {Choice} [choice]
   */
  act(observations, masks = null, choice = {}) {
    this.look(observations, masks);
    return this.choose(choice);
  }

  /**
   * Clear the memory of an agent in a world, of all agents of a world, or of all.
   * @param {number | null} world
   * @param {number | null} agent
   */
  reset(world = null, agent = null) {
    const { agents, seats } = this;
    const first = world === null ? 0 : world * agents + (agent ?? 0);
    const end = world === null ? seats.length : agent === null ? first + agents : first + 1;
    for (let k = first; k < end; ++k) seats[k].player.reset(seats[k].row);
  }
}

/**
 * The name of each agent's policy; null where it has none.
 * @param {Policy} policy
 * @param {Record<string, any>} instance
 */
function namesOf(policy, instance) {
  const { policies, learn } = policy.options;
  /** @type {string[]} */
  const names = instance.agent_names;
  const isAll = policies === "shared" && learn === "";
  if (!isAll && names.length !== policy.agents)
    throw new DoesNotFit("The policies are for agents by name, and this environment names none.");
  const found = isAll ? new Array(policy.agents).fill("all") : policyOfEach(policy.options, names);
  const missing = found.find((name) => name !== null && !policy.networks.has(name));
  if (missing !== undefined && missing !== null)
    throw new DoesNotFit(`The file has no policy for '${missing}'.`);
  return found;
}
