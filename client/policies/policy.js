// A policy file: what it was trained for, its networks, and who plays with them.
//
//   const policy = Policy.read(bytes);
//   const team = policy.team(simulator.instance);
//   const words = team.act(team.seenIn(simulator), null, { greedy: true });
//   (words instanceof Float32Array ? simulator.floatActions : simulator.actions).set(words);
//   simulator.step(); // and team.reset(world, agent) where an episode ends

import { NotAPolicy } from "./archive.js";
import { Network } from "./networks.js";
import { optionsOf, optionsOfRole, parametersOf, roleOfPolicy } from "./options.js";
import { Player } from "./player.js";
import { RowShape, actionsOf } from "./rows.js";
import { Team } from "./team.js";
import { count, dict, text, treeOf } from "./tree.js";
import { Room } from "./weights.js";

/**
 * @typedef {import("./options.js").Values} Values
 * @typedef {import("./rows.js").Actions} Actions
 * @typedef {import("./tree.js").Tree} Tree
 * @typedef {{name: string, agents: number, shape: RowShape, actions: Actions, space: string}} Kind
 *   Agents that have rows and actions of one form; `name` is empty where all are alike.
 * @typedef {{name: string, encoder: string, hidden: string, activation: string, memory: number,
 *   weights: number}} NetworkFacts
 */

export { NotAPolicy, Player, Team };
export { DoesNotFit } from "./fit.js";
export { EVALUATION, Noise, OPPONENTS } from "./noise.js";

const MOST_AGENTS = 2 ** 24;
const LIMIT = "max_episode_steps"; // a setting of simulators that stands among the parameters

/** The policies in one file. */
export class Policy {
  /** @param {Map<string, Tree>} tree */
  constructor(tree) {
    const config = dict(tree.get("config"), "options");
    const outlook = dict(tree.get("outlook"), "outlook");
    this.options = optionsOf(config);
    this.environment = text(outlook.get("environment"), "environment");
    /** Agents of a world. */
    this.agents = count(outlook.get("agents"), "number of agents", MOST_AGENTS);
    this.kinds = kindsOf(outlook, this.agents);
    /** Parameters of the worlds in which it was trained, and what evaluations changed in them. */
    this.trained = parametersOf(config, "parameters");
    this.evaluated = { ...this.trained, ...parametersOf(config, "evaluation_parameters") };
    /** By name: "all", or those of roles or agents. @type {Map<string, Network>} */
    this.networks = new Map();
    const room = new Room();
    const isFirst = this.trained.channels !== "last";
    for (const [name, state] of policiesOf(tree)) {
      const role = roleOfPolicy(this.options, name);
      const kind = this.kinds.find((one) => one.name === role) ?? this.kinds[0];
      const options = optionsOfRole(config, role);
      const { shape, space } = kind;
      const isPicture = shape.pictures > 0 && isFirst;
      const own = dict(state, "weights");
      const made = new Network(name, options, shape, isPicture, actionsOf(space), own, room);
      this.networks.set(name, made);
    }
  }

  /**
   * Read a file; NotAPolicy where it is none. Nothing in it is run.
   * @param {Uint8Array} bytes
   */
  static read(bytes) {
    const tree = treeOf(bytes);
    if (tree.get("kind") !== "policy" && tree.get("kind") !== "run")
      throw new NotAPolicy("The file has no policies of the trainer.");
    return new Policy(tree);
  }

  /** Whether a network keeps a memory between steps. */
  get hasMemory() {
    return [...this.networks.values()].some((network) => network.memorySize > 0);
  }

  /** Whether the results that are reported are those of drawn actions. */
  get isSampled() {
    return this.options.sampled_evaluation;
  }

  /** Parameters of the environment, as its simulator takes them. @returns {Values} */
  get parameters() {
    return Object.fromEntries(Object.entries(this.evaluated).filter(([name]) => name !== LIMIT));
  }

  /** Settings of the simulator that differ from its own. @returns {Values} */
  get settings() {
    return Object.hasOwn(this.evaluated, LIMIT) ? { [LIMIT]: this.evaluated[LIMIT] } : {};
  }

  /** What to show of the networks. @returns {NetworkFacts[]} */
  get facts() {
    return [...this.networks.values()].map(({ name, options, weights }) => {
      const { encoder, hidden, activation, memory } = options;
      return { name, encoder, hidden, activation, memory, weights };
    });
  }

  /**
   * A player of one network.
   * @param {string} name Of the network; the only one has none.
   * @param {number} rows
   */
  player(name = "", rows = 1) {
    const names = [...this.networks.keys()];
    const network = this.networks.get(name === "" && names.length === 1 ? names[0] : name);
    if (network === undefined)
      throw new Error(`The file has no policy '${name}', but ${names.join(", ")}.`);
    return new Player(network, rows);
  }

  /**
   * Players for all agents of a simulator's worlds; agents without a policy act at random.
   * @param {Record<string, any>} instance What the simulator says of itself.
   */
  team(instance) {
    return new Team(this, instance);
  }
}

/**
 * The kinds of agents that a file describes.
 * @param {Map<string, Tree>} outlook
 * @param {number} agents
 * @returns {Kind[]}
 */
function kindsOf(outlook, agents) {
  const one = (/** @type {string} */ name, /** @type {number} */ own, /** @type {any} */ node) => {
    const space = text(node.get("actions"), "space of actions");
    const shape = RowShape.of(node.get("observation"));
    return { name, agents: own, shape, actions: actionsOf(space), space };
  };
  if (!outlook.has("roles")) return [one("", agents, outlook)];
  const roles = dict(outlook.get("roles"), "roles");
  const kinds = [...roles].map(([name, node]) => {
    const facts = dict(node, "role");
    return one(name, count(facts.get("agents"), "number of agents", MOST_AGENTS), facts);
  });
  if (kinds.length === 0 || kinds.reduce((sum, kind) => sum + kind.agents, 0) !== agents)
    throw new NotAPolicy("The file has roles that do not add up to its agents.");
  return kinds;
}

/**
 * The weights of each policy, in a file of policies or of a whole run.
 * @param {Map<string, Tree>} tree
 * @returns {Map<string, Tree>}
 */
function policiesOf(tree) {
  if (tree.get("kind") === "policy") return named(dict(tree.get("policies"), "policies"));
  const learners = dict(tree.get("state"), "state").get("learners");
  if (!Array.isArray(learners)) throw new NotAPolicy("The file has no policies of the trainer.");
  return named(
    new Map(
      learners.map((node) => {
        const learner = dict(node, "learner");
        return [text(learner.get("name"), "learner's name"), learner.get("policy") ?? null];
      }),
    ),
  );
}

/** @param {Map<string, Tree>} found */
function named(found) {
  if (found.size === 0) throw new NotAPolicy("The file has no policies of the trainer.");
  return found;
}
