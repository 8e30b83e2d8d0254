// The worker that holds a module: loads it, steps its world, and draws pictures. It answers one
// message at a time with `{id, result}` or `{id, error}`; the page ends a worker that does not answer.

import { casesIn, runCase } from "../simulator/golden.js";
import { EngineError, Module, NotAModule, digestOf } from "../simulator/module.js";
import { ModuleEnded } from "../simulator/system.js";
import { Policy } from "../policies/policy.js";
import { brainOf } from "./brain.js";
import { MOST_LISTED } from "./groups.js";
import { Pace } from "./pace.js";
import { LiveWorld } from "./world.js";

/**
 * @typedef {import("./world.js").Hands} Hands
 * @typedef {import("./link.js").Place} Place
 * @typedef {{url: string, digest: string, name?: string}} File
 * @typedef {{module: File, data: File[]}} Sources
 */

const MOST_SHOWN = 256; // bytes of a column that is shown
const LAYERS = ["obs", "depth", "segmentation", "numbers"]; // outputs that hold what agents see
const ENOUGH = 100; // milliseconds of steps, then the page is told how far it came

/** @type {Sources | null} */
let sources = null;
/** Files that are being fetched or were, by address. @type {Map<string, Promise<Uint8Array<ArrayBuffer>>>} */
const files = new Map();
/** @type {Module | null} */
let module = null;
/** @type {LiveWorld | null} */
let world = null;
/** @type {Map<string, Policy>} */
const policies = new Map();
const pace = new Pace();

/** @returns {LiveWorld} */
function made() {
  if (world === null) throw new Error("No world was made.");
  return world;
}

/**
 * The bytes of a file of this site; refuses others than those that the site was built with.
 * @param {File} file
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
async function fetched(file) {
  if (!globalThis.isSecureContext)
    throw new Error("Files are checked before they run, which needs https or localhost.");
  const response = await fetch(file.url);
  if (!response.ok) throw new Error(`${file.url} could not be loaded (${response.status}).`);
  const found = new Uint8Array(await response.arrayBuffer());
  if ((await digestOf(found)) !== file.digest)
    throw new NotAModule(
      `${file.url} is damaged: it is not the file that this page was built with.`,
    );
  return found;
}

/**
 * The bytes of a file, fetched once; another attempt follows a failed one.
 * @param {File} file
 */
function held(file) {
  const found = files.get(file.url) ?? fetched(file);
  files.set(file.url, found);
  found.catch(() => files.delete(file.url));
  return found;
}

/** Start another instance of the module, with its data files. */
async function started() {
  if (sources === null) throw new Error("No module was named.");
  const fresh = await Module.load(await held(sources.module));
  for (const file of sources.data) fresh.call("ge_hold_file", file.name ?? "", await held(file));
  return fresh;
}

/**
 * What a page shows of the world now.
 * @param {Hands} [hands]
 */
function facts(hands = {}) {
  const own = made();
  const { steps, isOver, isReplaying, returns, parts, record, players, simulator } = own;
  const step = Number(simulator.column("world.step", "uint32")[0]);
  return {
    steps,
    step,
    isOver,
    isReplaying,
    returns: [...returns],
    parts: [...parts],
    recorded: record.length,
    players: Object.fromEntries(players),
    waits: own.waitsFor(hands),
  };
}

/** A question whether some milliseconds have passed. */
function lateness() {
  const until = performance.now() + ENOUGH;
  return () => performance.now() > until;
}

/**
 * What an agent sees, as arrays that the page may keep.
 * @param {number} agent
 */
function seenBy(agent) {
  const { simulator, agents } = made();
  const parts = LAYERS.filter((name) => simulator.outputs[name]).map((name) => {
    const rows = simulator.output(name);
    const size = rows.length / agents;
    return rows.slice(agent * size, (agent + 1) * size);
  });
  const row = parts.length === 1 ? parts[0] : Float32Array.from(parts.flatMap((one) => [...one]));
  const masks = simulator.outputs.action_mask ? simulator.output("action_mask") : null;
  const width = masks === null ? 0 : masks.length / agents;
  const active = simulator.outputs.agent_active ? simulator.output("agent_active") : null;
  return {
    row,
    mask: masks === null ? null : masks.slice(agent * width, (agent + 1) * width),
    active: active === null ? true : Number(active[agent]) === 1,
  };
}

/**
 * The views that pictures of a world have.
 * @param {LiveWorld} own
 */
function viewsOf(own) {
  const { simulator, agents } = own;
  if (!simulator.instance.scene) return [];
  const eyes = Array.from({ length: Math.min(agents, MOST_LISTED) }, (_, k) => `agent:${k}`);
  return ["perspective", "top", "both", ...eyes].filter((view) => {
    try {
      simulator.picture({ width: 8, height: 8, view, samples: 1 });
      return true;
    } catch (problem) {
      if (problem instanceof EngineError) return false;
      throw problem;
    }
  });
}

/**
 * Columns of a world by name, as far as a person can read them.
 * @param {LiveWorld} own
 */
function stateOf(own) {
  const { simulator } = own;
  return simulator.instance.columns
    .map((/** @type {any} */ one) => ({ ...one, values: simulator.column(one.name, one.type) }))
    .filter((/** @type {any} */ one) => one.values.byteLength <= MOST_SHOWN)
    .map((/** @type {any} */ one) => ({ ...one, values: Array.from(one.values, String) }));
}

/** @type {Record<string, (given: any) => any>} */
const calls = {
  /**
   * Start the module. What else will be asked for is fetched meanwhile.
   * @param {{sources: Sources, later: File[]}} given
   */
  async load(given) {
    sources = given.sources;
    for (const file of [...sources.data, ...given.later]) held(file);
    module = await started();
    return JSON.parse(module.text("ge_describe"));
  },

  /**
   * Read a policy, which a player of that name uses from then on.
   * @param {{name: string, file?: File, bytes?: Uint8Array<ArrayBuffer>}} given
   */
  async policy(given) {
    const data = given.bytes ?? (await held(/** @type {File} */ (given.file)));
    if (given.file !== undefined) files.delete(given.file.url);
    const policy = Policy.read(data);
    policies.set(given.name, policy);
    const { environment, parameters, settings, facts: networks, isSampled } = policy;
    return { environment, parameters, settings, networks, isSampled };
  },

  /**
   * Make a world; where that fails, the earlier one goes on.
   * @param {{place: Place, player?: string}} given `player`: who plays where the place does not say.
   */
  async make({ place, player }) {
    module ??= await started();
    const brains = new Map(
      [...policies].map(([name, policy]) => [
        name,
        (/** @type {Record<string, any>} */ instance) =>
          brainOf(policy, instance, { drawn: place.drawn, seed: place.seed }),
      ]),
    );
    let next;
    try {
      next = new LiveWorld(module, { ...place, players: {} }, brains);
    } catch (problem) {
      if (world !== null && problem instanceof EngineError) world.revive();
      throw problem;
    }
    world = next;
    pace.reset();
    const chosen = new Map(Object.entries(place.players));
    if (player !== undefined)
      for (const { name } of next.groups) if (!chosen.has(name)) chosen.set(name, player);
    /** Why groups have other players than the place says. @type {string[]} */
    const refused = [];
    for (const [group, name] of chosen)
      try {
        next.setPlayer(group, name);
      } catch (problem) {
        refused.push(/** @type {Error} */ (problem).message);
      }
    const { simulator, groups } = next;
    return {
      instance: simulator.instance,
      groups,
      names: simulator.actionNames(),
      keys: simulator.actionKeys(),
      size: simulator.instance.scene ? simulator.pictureSize(0) : null,
      refused,
      facts: facts(),
    };
  },

  views() {
    return viewsOf(made());
  },

  /** @param {{group: string, player: string}} given */
  player(given) {
    made().setPlayer(given.group, given.player);
    return facts();
  },

  /** @param {{steps: number, hands: Hands, once: number[]}} given `once`: whose action counts once. */
  step({ steps, hands, once }) {
    const own = made();
    const isLate = lateness();
    for (let k = 0; k < steps && own.waitsFor(hands).length === 0; ++k) {
      const isTaken = !own.isOver && !own.isReplaying;
      own.step(hands);
      if (isTaken) for (const agent of once) hands[agent] = null;
      if (own.isOver || isLate()) break;
    }
    return facts(hands);
  },

  /** Go towards a recorded step; the page asks again until it is reached. */
  goTo(/** @type {{step: number}} */ given) {
    made().goTo(given.step, lateness());
    return facts();
  },

  /** Play towards a step; the page asks again until it is reached. */
  playTo(/** @type {{step: number}} */ given) {
    made().playTo(given.step, lateness());
    return facts();
  },

  branch() {
    made().branch();
    return facts();
  },

  /**
   * Steps and a picture in one answer, which a page that is live asks for.
   * @param {{steps: number, hands: Hands, once: number[], width: number, height: number,
   *   view: string, time: number}} given
   */
  frame(given) {
    return { ...calls.step(given), picture: calls.picture(given) };
  },

  /**
   * @param {{width: number, height: number, view: string, time: number}} given
   *   `time`: milliseconds that a picture may take; 0: as long as it takes.
   */
  picture(given) {
    const { simulator, steps } = made();
    if (!simulator.instance.scene) return null;
    const { width, height, samples } = pace.sizeFor(given.width, given.height, given.time);
    const begun = performance.now();
    const pixels = simulator.picture({ width, height, view: given.view, samples }).slice();
    const took = performance.now() - begun;
    pace.drew(took, given.time);
    return { width, height, samples, took, pixels, steps, isBest: given.time === 0 };
  },

  /** @param {{viewer: number}} given */
  text(given) {
    return made().simulator.text(0, given.viewer);
  },

  /** @param {{agent: number}} given */
  seen(given) {
    return seenBy(given.agent);
  },

  state() {
    return stateOf(made());
  },

  episode() {
    return made().episode();
  },

  /** @param {{episode: import("./link.js").Episode}} given */
  replay(given) {
    made().replay(given.episode);
    return facts();
  },

  /**
   * Run a recorded case in a module of its own.
   * @param {{line: string}} given
   */
  async check(given) {
    const [one] = casesIn(given.line);
    const begun = performance.now();
    const found = runCase(await started(), one);
    return { ...found, wanted: one, took: performance.now() - begun };
  },
};

/** @param {any} value */
function buffersIn(value) {
  const pixels = value?.pixels ?? value?.picture?.pixels;
  return pixels === undefined ? [] : [pixels.buffer];
}

/** @param {{id: number, call: string, given: any}} question */
async function answer({ id, call, given }) {
  try {
    const result = await calls[call](given);
    postMessage({ id, result }, { transfer: buffersIn(result) });
  } catch (problem) {
    const { name, message } = /** @type {Error} */ (problem);
    // A trap or the end of a module leaves nothing that can be trusted: the page starts another.
    const isEnd = problem instanceof ModuleEnded || problem instanceof WebAssembly.RuntimeError;
    postMessage({ id, error: { name, message, isEnd } });
  }
}

let last = Promise.resolve(); // answers keep the order of questions, also where one has to load
addEventListener("message", ({ data }) => {
  last = last.then(() => answer(data));
});
