// Lets the policies of files see what they saw in Python, for test_policies.py:
// node act.mjs TASK.json
// Writes what they say, step by step: outputs and values of each network, the likeliest actions of
// all agents, and drawn ones.
import { readFileSync, writeFileSync } from "node:fs";

import { EVALUATION, Noise, Player, Policy } from "../../client/policies/policy.js";

/**
 * @typedef {{type: string, at: number, length: number}} Place Of a step's numbers in a file.
 * @typedef {{policy: string, instance: Record<string, any>, data: string, bytes: number,
 *   steps: number, seed: number, out: string, layers: string[], arrays: Record<string, Place>}} Task
 */

/** @type {Record<string, (buffer: ArrayBuffer, at: number, length: number) => any>} */
const VIEWS = {
  float32: (buffer, at, length) => new Float32Array(buffer, at, length),
  uint8: (buffer, at, length) => new Uint8Array(buffer, at, length),
  int8: (buffer, at, length) => new Int8Array(buffer, at, length),
};

/** @type {Task} */
const task = JSON.parse(readFileSync(process.argv[2], "utf8"));
const policy = Policy.read(new Uint8Array(readFileSync(task.policy)));
const team = policy.team(task.instance);
const noise = new Noise(task.seed, EVALUATION);
const data = new Uint8Array(readFileSync(task.data)).buffer;
const players = team.players.flat().filter((player) => player instanceof Player);

/**
 * The numbers of a step.
 * @param {number} step
 * @param {string} name
 */
function seen(step, name) {
  const place = task.arrays[name];
  if (place === undefined) return null;
  return VIEWS[place.type](data, step * task.bytes + place.at, place.length);
}

/**
 * What agents see of a step: an output, or several by their names.
 * @param {number} step
 */
function sight(step) {
  if (task.layers.length === 1) return seen(step, task.layers[0]);
  return Object.fromEntries(task.layers.map((name) => [name, seen(step, name)]));
}

/** @type {Uint8Array[]} */
const said = [];
const say = (/** @type {Float32Array | Int32Array} */ numbers) =>
  said.push(new Uint8Array(numbers.slice().buffer));
let spent = 0;
for (let step = 0; step < task.steps; ++step) {
  const begins = seen(step, "begins");
  for (let row = 0; row < begins.length; ++row)
    if (begins[row] !== 0) team.reset(Math.floor(row / team.agents), row % team.agents);
  const draw = (/** @type {number} */ row, /** @type {number} */ column) =>
    noise.uniform(step, row, column);
  const from = performance.now();
  team.look(sight(step), seen(step, "mask"), {
    values: true,
    states: seen(step, "state"),
  });
  spent += performance.now() - from;
  for (const { outputs, values } of players) {
    say(outputs);
    say(values);
  }
  say(team.choose({ greedy: true, draw }));
  say(team.choose({ draw }));
}
writeFileSync(task.out, Buffer.concat(said));
console.log((spent / task.steps).toFixed(3));
