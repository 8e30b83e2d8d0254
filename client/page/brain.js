// A policy in the seat of a world: what it chooses for all agents, step by step.

/**
 * @typedef {import("../policies/policy.js").Policy} Policy
 * @typedef {import("./world.js").Brain} Brain
 * @typedef {import("../simulator/simulator.js").Simulator} Simulator
 * @typedef {{drawn: boolean, seed: number}} Choice `drawn`: actions are drawn, not the likeliest.
 */

/**
 * A number in (0, 1) that is a function of others: the same game is played again from its seed.
 * @param {...number} keys
 */
export function drawOf(...keys) {
  let mixed = 0x9e3779b9;
  for (const key of keys) {
    for (const part of [key >>> 0, Math.floor(key / 2 ** 32) >>> 0]) {
      mixed = Math.imul(mixed ^ part, 0x85ebca6b);
      mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
      mixed ^= mixed >>> 16;
    }
  }
  return ((mixed >>> 0) + 0.5) / 2 ** 32;
}

/**
 * @param {Policy} policy
 * @param {Record<string, any>} instance
 * @param {Choice} choice
 * @returns {Brain}
 */
export function brainOf(policy, instance, { drawn, seed }) {
  const team = policy.team(instance);
  const players = team.players.flat();
  let now = 0; // draws are functions of the step, so that a step passed again is the same
  const draw = (/** @type {number} */ row, /** @type {number} */ column) =>
    drawOf(seed, now, row, column);
  return {
    remembers: policy.hasMemory,
    begin() {
      team.reset();
    },
    act(/** @type {Simulator} */ simulator, /** @type {number} */ step) {
      now = step;
      const masks = simulator.outputs.action_mask ? simulator.output("action_mask") : null;
      return team.act(team.seenIn(simulator), masks, drawn ? { draw } : { greedy: true, draw });
    },
    keep: () => players.map((player) => player.memory.slice()),
    restore(kept) {
      players.forEach((player, k) => player.memory.set(kept[k]));
    },
  };
}
