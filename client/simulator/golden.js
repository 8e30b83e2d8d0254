// Recorded cases: a line of tests/golden, run in a module.
//
//   id | parameters | autoreset mode | worlds | steps | seed | hash of records | hash of outputs

import { Float, Range, Simulator } from "./simulator.js";

/** Numbers among the parameters of a line that are settings of the simulator. */
const LIMITS = ["max_episode_steps", "level_count", "first_level"];

/**
 * @typedef {{id: string, parameters: import("./simulator.js").Values,
 *   settings: import("./simulator.js").Values, steps: number, seed: bigint, records: string,
 *   outputs: string}} Case
 */

/**
 * Read a recorded case.
 * @param {string} line
 * @returns {Case}
 */
export function parseCase(line) {
  const parts = line.split("|").map((part) => part.trim());
  if (parts.length !== 8) throw new Error(`not a recorded case: ${line}`);
  const [id, given, autoreset, worlds, steps, seed, records, outputs] = parts;
  /** @type {import("./simulator.js").Values} */
  const settings = { worlds: Number(worlds), autoreset };
  /** @type {import("./simulator.js").Values} */
  const parameters = {};
  for (const one of given === "-" ? [] : given.split(",")) {
    const [name, value] = one.split("=");
    if (LIMITS.includes(name)) settings[name] = Number(value);
    else if (name === "dtype") settings.elements = value;
    else parameters[name] = valueOf(value);
  }
  return { id, parameters, settings, steps: Number(steps), seed: BigInt(seed), records, outputs };
}

/** @param {string} text */
function valueOf(text) {
  if (text === "true" || text === "false") return text === "true";
  const range = /^(.+)\.\.(.+)$/.exec(text);
  if (range !== null) return new Range(Number(range[1]), Number(range[2]));
  if (/^[a-zA-Z]/.test(text) || /[ x]/.test(text)) return text;
  return /[.e]/.test(text) ? new Float(Number(text)) : BigInt(text);
}

/**
 * The cases in a file of tests/golden.
 * @param {string} text
 */
export function casesIn(text) {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "" && !line.startsWith("#")).map(parseCase);
}

/**
 * Run a case and compare.
 * @param {import("./module.js").Module} module
 * @param {Case} one
 */
export function runCase(module, one) {
  const simulator = new Simulator(module, one.id, one.settings, one.parameters);
  const found = simulator.golden(one.steps, one.seed);
  return { ...found, same: found.records === one.records && found.outputs === one.outputs };
}
