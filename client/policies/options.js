// The options that a file keeps: of its networks, of the worlds, and of who plays whom. They are
// those of gpu_envs/policies/options.py, with the same defaults.

import { NotAPolicy } from "./archive.js";
import { dict } from "./tree.js";

/**
 * @typedef {import("./tree.js").Tree} Tree
 * @typedef {Record<string, boolean | number | string>} Values Parameters of an environment.
 * @typedef {{env: string, encoder: string, blind: boolean, hidden: string, activation: string,
 *   memory: number, memory_norm: boolean, share: boolean, critic_state: boolean,
 *   normalize_observations: boolean, policies: string, learn: string, sampled_evaluation: boolean,
 *   hold_noise: number}} Options
 */

const MOST_WIDTH = 99_999;
const WIDTHS = /^[1-9]\d{0,4}(,[1-9]\d{0,4})*$/;

/** Each option's default, and the words that a text may be. @type {Record<string, any[]>} */
const KNOWN = {
  env: [""],
  encoder: ["mlp", "cnn", "patches", "residual", "attention"],
  blind: [false],
  hidden: ["64,64", WIDTHS],
  activation: ["tanh", "relu"],
  memory: [0],
  memory_norm: [false],
  share: [false],
  critic_state: [false],
  normalize_observations: [false],
  policies: ["shared", /^(shared|role|agent|[^=]+=.+)$/],
  learn: [""],
  sampled_evaluation: [false],
  hold_noise: [1],
};
// What says nothing about how a policy acts.
const OTHERS = [
  "seed",
  "level_count",
  "past_worlds",
  "other_play",
  "roles",
  "parameters",
  "varying",
  "evaluation_parameters",
];
// Where a file keeps a whole run, it has the trainer's options too.
const WHOLE = ["total_steps", "num_envs"];

/**
 * Options in a file, checked.
 * @param {Map<string, Tree>} kept
 * @returns {Options}
 */
export function optionsOf(kept) {
  if (!WHOLE.some((name) => kept.has(name))) {
    const unknown = [...kept.keys()].filter((k) => !Object.hasOwn(KNOWN, k) && !OTHERS.includes(k));
    if (unknown.length > 0)
      throw new NotAPolicy("The file was saved with options that are not known here.");
  }
  const pairs = Object.entries(KNOWN).map(([name, known]) => [name, checked(name, known, kept)]);
  return Object.fromEntries(pairs);
}

/**
 * @param {string} name
 * @param {any[]} known
 * @param {Map<string, Tree>} kept
 */
function checked(name, known, kept) {
  const value = kept.has(name) ? kept.get(name) : known[0];
  const isText = typeof value === "string" && value.length <= 256;
  const isFit =
    typeof known[0] === "string"
      ? isText && (known[1] instanceof RegExp ? known[1].test(value) : isWord(value, known))
      : typeof known[0] === "number"
        ? Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MOST_WIDTH
        : typeof value === "boolean";
  if (!isFit) throw new NotAPolicy(`The file's option ${name} has a value that is not known here.`);
  return value;
}

/**
 * @param {string} value
 * @param {any[]} known
 */
function isWord(value, known) {
  return known.length === 1 || known.includes(value);
}

/**
 * The options of one role: its own values in place of the common ones.
 * @param {Map<string, Tree>} kept
 * @param {string} role
 */
export function optionsOfRole(kept, role) {
  const roles = kept.has("roles") ? dict(kept.get("roles"), "options of roles") : new Map();
  const own = roles.has(role) ? dict(roles.get(role), "options of a role") : new Map();
  const common = [...kept].filter(([name]) => name !== "roles");
  const known = [...own].filter(([name]) => Object.hasOwn(KNOWN, name));
  return optionsOf(new Map([...common, ...known]));
}

/**
 * Widths of the hidden layers.
 * @param {Options} options
 */
export function widthsOf(options) {
  return options.hidden.split(",").map(Number);
}

/**
 * Parameters of an environment as plain values.
 * @param {Map<string, Tree>} config
 * @param {string} name Of the option that has them.
 * @returns {Values}
 */
export function parametersOf(config, name) {
  const kept = config.has(name) ? dict(config.get(name), "parameters") : new Map();
  /** @type {[string, boolean | number | string][]} */
  const pairs = [];
  for (const [key, value] of kept) {
    if (typeof value !== "boolean" && typeof value !== "number" && typeof value !== "string")
      throw new NotAPolicy("The file has a parameter of an environment that is no plain value.");
    pairs.push([key, value]);
  }
  return Object.fromEntries(pairs);
}

/**
 * The part of an agent's name before its number.
 * @param {string} agent
 */
export function roleOf(agent) {
  const at = agent.lastIndexOf("_");
  return at > 0 ? agent.slice(0, at) : agent;
}

/**
 * The policy of each agent or role that a map names; null where the option is a word.
 * @param {Options} options
 * @returns {Map<string, string> | null}
 */
function mapOf(options) {
  if (!options.policies.includes("=")) return null;
  const found = new Map();
  for (const part of options.policies.split(";")) {
    const [policy = "", members = ""] = part.split("=");
    for (const member of members.split(",")) found.set(member.trim(), policy.trim());
  }
  return found;
}

/**
 * The role whose options hold for a policy; empty for one that plays all roles. A policy of a map
 * has options of its own, by its name.
 * @param {Options} options
 * @param {string} name Of the policy.
 */
export function roleOfPolicy(options, name) {
  if (mapOf(options) !== null) return name;
  if (options.policies === "agent") return roleOf(name);
  return options.policies === "role" || options.learn !== "" ? name : "";
}

/**
 * The name of the policy of each agent; null where it has none.
 * @param {Options} options
 * @param {string[]} names Of the agents.
 * @returns {(string | null)[]}
 */
export function policyOfEach(options, names) {
  const map = mapOf(options);
  return names.map((name) => {
    const role = roleOf(name);
    if (map !== null) return map.get(name) ?? map.get(role) ?? null;
    if (options.learn !== "" && options.learn !== role) return null;
    if (options.policies === "shared" && options.learn === "") return "all";
    return options.policies === "agent" ? name : role;
  });
}
