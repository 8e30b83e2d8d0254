// A simulator in a module: settings in; steps, outputs, records, pictures and texts out.

import { EngineError } from "./module.js";

/**
 * @typedef {import("./module.js").Module} Module
 * @typedef {boolean | number | bigint | string} Value A whole number is an integer of the engine;
 *   {@link Float} makes a float of it.
 * @typedef {Record<string, Value | Float | Range>} Values
 * @typedef {{type: string, row: number[], per_agent: boolean, split: boolean, at: number,
 *   bytes: number, is_sight: boolean}} OutputShape `is_sight`: it is what agents see.
 * @typedef {Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array |
 *   Float32Array | Float64Array | BigInt64Array | BigUint64Array} Numbers
 */

/** A number that is a float whatever its value, such as 1. */
export class Float {
  /** @param {number} value */
  constructor(value) {
    this.value = value;
  }
}

/** A range that each reset draws a parameter of each world from. */
export class Range {
  /**
   * @param {number} low
   * @param {number} high
   */
  constructor(low, high) {
    this.low = low;
    this.high = high;
  }
}

/** @type {Record<string, (buffer: ArrayBuffer, at: number, bytes: number) => Numbers>} */
const VIEWS = {
  bool: (buffer, at, bytes) => new Uint8Array(buffer, at, bytes),
  int8: (buffer, at, bytes) => new Int8Array(buffer, at, bytes),
  uint8: (buffer, at, bytes) => new Uint8Array(buffer, at, bytes),
  int16: (buffer, at, bytes) => new Int16Array(buffer, at, bytes / 2),
  uint16: (buffer, at, bytes) => new Uint16Array(buffer, at, bytes / 2),
  int32: (buffer, at, bytes) => new Int32Array(buffer, at, bytes / 4),
  uint32: (buffer, at, bytes) => new Uint32Array(buffer, at, bytes / 4),
  int64: (buffer, at, bytes) => new BigInt64Array(buffer, at, bytes / 8),
  uint64: (buffer, at, bytes) => new BigUint64Array(buffer, at, bytes / 8),
  float32: (buffer, at, bytes) => new Float32Array(buffer, at, bytes / 4),
  float64: (buffer, at, bytes) => new Float64Array(buffer, at, bytes / 8),
};

/**
 * Names and values in the form that a module reads (kernels/web/settings.hpp).
 * @param {Values} values
 * @returns {string}
 */
export function written(values) {
  return Object.entries(values)
    .map(([name, value]) => {
      const word = spelled(value);
      if (name.includes("\0") || word.includes("\0"))
        throw new EngineError(`'${name.replaceAll("\0", "")}' contains a character 0`, "value");
      return `${name}\0${word}\0`;
    })
    .join("");
}

/** @param {Value | Float | Range} value */
function spelled(value) {
  if (value instanceof Range) return `r${value.low} ${value.high}`;
  if (typeof value === "boolean") return `b${value}`;
  if (typeof value === "string") return `s${value}`;
  if (typeof value === "bigint") return `i${value}`;
  if (value instanceof Float) return `f${value.value}`;
  return Number.isSafeInteger(value) ? `i${value}` : `f${value}`;
}

/** One simulator. A module holds one: the next one of the module replaces it. */
export class Simulator {
  /**
   * @param {Module} module
   * @param {string} id
   * @param {Values} settings Of the simulator: worlds, autoreset, max_episode_steps, ends, elements.
   * @param {Values} parameters Of the environment.
   */
  constructor(module, id, settings = {}, parameters = {}) {
    this.module = module;
    this.id = id;
    const named = Object.entries(parameters).map(([name, value]) => [`.${name}`, value]);
    module.call("ge_make", id, written({ ...settings, ...Object.fromEntries(named) }));
    /** @type {Record<string, any>} */
    this.instance = JSON.parse(module.text("ge_instance"));
    /** @type {Record<string, OutputShape>} */
    this.outputs = JSON.parse(module.text("ge_outputs"));
    this.worlds = Number(settings.worlds ?? 1);
    this.actionWords = module.functions.ge_action_count();
    /** Whether what agents see is that of an earlier step. */
    this.isBlind = false;
  }

  /**
   * The numbers of an output, in the module's memory: copy what must outlive the next call.
   * @param {string} name
   * @returns {Numbers}
   */
  output(name) {
    const shape = this.outputs[name];
    if (shape === undefined)
      throw new EngineError(
        `${this.id} has no output '${name}', but ${Object.keys(this.outputs).join(", ")}`,
        "value",
      );
    if (shape.is_sight && this.isBlind) {
      this.module.call("ge_see");
      this.isBlind = false;
    }
    return VIEWS[shape.type](this.module.memory.buffer, shape.at, shape.bytes);
  }

  /** The next step's actions as whole numbers, in the module's memory. */
  get actions() {
    const at = this.module.functions.ge_actions();
    return new Int32Array(this.module.memory.buffer, at, this.actionWords);
  }

  /** The same words as floats, for actions that are numbers. */
  get floatActions() {
    const at = this.module.functions.ge_actions();
    return new Float32Array(this.module.memory.buffer, at, this.actionWords);
  }

  /**
   * Begin an episode in every world.
   * @param {number | bigint | null} seed Null: go on with the seed that there is.
   * @param {Values} options Of the reset.
   */
  reset(seed = null, options = {}) {
    this.isBlind = false;
    this.module.call("ge_reset", BigInt(seed ?? 0), seed === null ? 0 : 1, 0, written(options));
  }

  /**
   * Step every world with `actions`.
   * @param {{sight?: boolean}} [how] Without `sight`, what agents see is made once it is asked for.
   */
  step({ sight = true } = {}) {
    this.isBlind = !sight;
    this.module.call("ge_step", Number(sight));
  }

  /**
   * Fill `actions` at random, with legal ones where there is a mask.
   * @param {number | bigint} seed
   */
  sampleActions(seed) {
    this.module.call("ge_sample_actions", BigInt(seed));
  }

  /** @returns {string[]} */
  actionNames() {
    return JSON.parse(this.module.text("ge_action_names"));
  }

  /** @returns {string[]} */
  actionKeys() {
    return JSON.parse(this.module.text("ge_action_keys"));
  }

  /** A hash of the columns of a record, equal on every machine. */
  layout() {
    return this.module.text("ge_layout");
  }

  /**
   * One world as bytes, the same on every machine.
   * @param {number} world
   */
  record(world) {
    const bytes = this.module.call("ge_record_bytes");
    const at = this.module.lend(new Uint8Array(bytes));
    try {
      this.module.call("ge_read_record", world, at);
      return this.module.bytesAt(at, bytes).slice();
    } finally {
      this.module.functions.ge_free(at);
    }
  }

  /**
   * A column of the state, in all worlds.
   * @param {string} name
   * @param {string} type As `instance.columns` says.
   * @returns {Numbers}
   */
  column(name, type) {
    const at = this.module.call("ge_column", name);
    const bytes = this.module.functions.ge_bytes();
    return VIEWS[type](this.module.memory.buffer.slice(at, at + bytes), 0, bytes);
  }

  /** All state, as `Simulator.save` of the package returns it. */
  save() {
    const at = this.module.call("ge_save");
    return this.module.bytesAt(at, this.module.functions.ge_bytes()).slice();
  }

  /**
   * Restore what `save` returned, here or in the package.
   * @param {Uint8Array} state
   */
  load(state) {
    this.module.call("ge_load", state);
    this.module.call("ge_observe");
    this.isBlind = false;
  }

  /**
   * Hashes of a recorded run: of the records after the last step, and of all outputs.
   * @param {number} steps
   * @param {bigint} seed
   */
  golden(steps, seed) {
    const [records, outputs] = this.module.text("ge_golden", steps, seed).split(" ");
    return { records, outputs };
  }

  /**
   * A world as text, as an agent may see it.
   * @param {number} world
   * @param {number} viewer -1: all of it.
   */
  text(world = 0, viewer = -1) {
    return this.module.text("ge_text", world, viewer);
  }

  /**
   * Rows and columns of a picture as the environment wants it.
   * @param {number} world
   * @returns {[number, number]}
   */
  pictureSize(world = 0) {
    return JSON.parse(this.module.text("ge_picture_size", world));
  }

  /**
   * Keep what the charts of a world's picture show now, for later pictures of its episode.
   * @param {number} world
   * @returns {boolean} Whether there are charts.
   */
  noteCharts(world = 0) {
    return this.instance.scene && this.module.call("ge_note_charts", world) > 0;
  }

  /**
   * A picture: width x height pixels of red, green, blue and opaque, in the module's memory.
   * @param {{world?: number, width: number, height: number, view?: string, samples?: number}} asked
   */
  picture({ world = 0, width, height, view = "", samples = 2 }) {
    this.noteCharts(world);
    const at = this.module.call("ge_picture", world, width, height, view, samples);
    return new Uint8ClampedArray(this.module.memory.buffer, at, 4 * width * height);
  }
}
