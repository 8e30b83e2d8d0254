// The module of an environment and its policies, in a worker; and the place for which they are.

import { Ended } from "./session.js";

/**
 * @typedef {import("./link.js").Parameters} Parameters
 * @typedef {import("./link.js").Place} Place
 * @typedef {import("./session.js").Session} Session
 * @typedef {{url: string, digest: string, bytes: number, name?: string}} SiteFile
 * @typedef {{name: string, file: SiteFile}} SitePolicy
 * @typedef {{id: string, doc: string, module: SiteFile, data: SiteFile[], policies: SitePolicy[],
 *   golden: string[], described: Record<string, any>}} SiteEnvironment
 * @typedef {{parameters: Parameters, settings: Parameters, isSampled: boolean}} PolicyFacts
 */

const RANDOM = "random";

export class Loader {
  /**
   * @param {Session} session
   * @param {SiteEnvironment} environment
   */
  constructor(session, environment) {
    this.session = session;
    this.environment = environment;
    /** Facts of policies by name. @type {Map<string, PolicyFacts>} */
    this.policies = new Map();
    /** Why other policies could not be read. @type {string[]} */
    this.refused = [];
    this.isComplete = false;
  }

  /** Whether the worker that lives has everything. */
  get isLoaded() {
    return this.isComplete && this.session.worker !== null;
  }

  /** Give the worker everything; a world is also played without a policy that cannot be read. */
  async load() {
    this.isComplete = false;
    this.policies.clear();
    this.refused = [];
    const { module, data, policies } = this.environment;
    const later = policies.map(({ file }) => file);
    await this.session.ask("load", { sources: { module, data }, later }, true);
    for (const { name, file } of policies)
      try {
        this.policies.set(name, await this.session.ask("policy", { name, file }, true));
      } catch (problem) {
        if (problem instanceof Ended) throw problem;
        this.refused.push(/** @type {Error} */ (problem).message);
      }
    this.isComplete = true;
  }

  /** Names of players, as a list shows them. */
  get players() {
    return [...this.policies.keys(), RANDOM];
  }

  /** The place for which the first policy was trained. @returns {Place} */
  get place() {
    const [first] = this.policies.values();
    const limit = first?.settings.max_episode_steps;
    return {
      id: this.environment.id,
      ...{ parameters: { ...first?.parameters }, options: {}, seed: 0, world: 0, steps: 0 },
      limit: limit === undefined ? null : Number(limit),
      players: {},
      drawn: first?.isSampled ?? false,
    };
  }
}
