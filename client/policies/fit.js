// How a simulator's agents fit those of a policy file, and where their rows lie in its arrays.

import { Categorical, Gaussian } from "./distributions.js";

/**
 * @typedef {import("./policy.js").Kind} Kind
 * @typedef {import("./policy.js").Policy} Policy
 * @typedef {import("./rows.js").Actions} Actions
 * @typedef {import("../simulator/simulator.js").Numbers} Array Of the engine.
 * @typedef {{name: string, type: string, shape: number[], low: number | null, high: number | null,
 *   choices: number | null}} Field
 * @typedef {{array: Int8Array | Uint8Array | Int32Array | Float32Array, stride: number}} Rows
 * @typedef {{output: string, size: number, divisor: number}} Layer What a row has of an output.
 * @typedef {{kind: Kind, first: number, count: number, actions: Actions, layers: Layer[],
 *   words: number, begin: number, isFloat: boolean, hasMask: boolean,
 *   rows: (array: Array, name: string) => Rows}} Part
 *   `words` and `begin`: the length of an action, and where the part's actions begin.
 */

/** @type {Record<string, (buffer: ArrayBuffer, at: number, count: number) => Rows["array"]>} */
const VIEWS = {
  float32: (buffer, at, count) => new Float32Array(buffer, at, count),
  int32: (buffer, at, count) => new Int32Array(buffer, at, count),
  uint8: (buffer, at, count) => new Uint8Array(buffer, at, count),
  int8: (buffer, at, count) => new Int8Array(buffer, at, count),
};

/** A policy was made for another environment, or for other parameters of it. */
export class DoesNotFit extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = "DoesNotFit";
  }
}

/**
 * @param {Field[]} fields
 * @returns {number}
 */
export function sizeOf(fields) {
  return fields.reduce((sum, { shape }) => sum + shape.reduce((all, n) => all * n, 1), 0);
}

/**
 * The parts of a simulator's arrays, one for each kind of agents; DoesNotFit where the file is for
 * others.
 * @param {Policy} policy
 * @param {Record<string, any>} instance What the simulator says of itself.
 * @returns {Part[]}
 */
export function partsOf(policy, instance) {
  if (instance.id !== policy.environment)
    throw new DoesNotFit(`The policy plays ${policy.environment}, not ${instance.id}.`);
  if (instance.agents_per_world !== policy.agents || instance.parts.length !== policy.kinds.length)
    throw new DoesNotFit(
      `The policy was trained with ${policy.agents} agents in a world, ` +
        `this environment has ${instance.agents_per_world}.`,
    );
  return policy.kinds.map((kind, number) => {
    const part = instance.parts[number];
    const role = instance.roles?.[number] ?? {};
    const seen = fieldsOf(instance, role, part);
    /** @type {Field[]} */
    const taken = role.action ?? instance.action;
    const actions = exact(kind.actions, taken);
    if (kind.agents !== part.count || shapeOf(kind) !== shapeOf(seen) || actions === null)
      throw new DoesNotFit(
        `The policy was trained with other parameters of ${policy.environment}: ` +
          "what its agents see or do differs.",
      );
    const numbers = role.numbers ?? instance.numbers ?? 0;
    const isPicture = Boolean(role.pictures ?? instance.pictures);
    const layers = isPicture && seen.length > 1 ? layersOf(seen, numbers) : [layerOf("obs", seen)];
    const form = { isSplit: instance.role_form === "split", ...instance };
    return {
      ...{ kind, first: part.first, count: part.count, actions, layers },
      ...{ words: actions.words, begin: part.begin, isFloat: part.is_float },
      hasMask: part.outputs.action_mask !== undefined && role.masked !== false,
      rows: (array, name) => rowsIn(form, part, array, name),
    };
  });
}

/**
 * @param {string} output
 * @param {Field[]} fields That it has.
 * @returns {Layer}
 */
function layerOf(output, fields) {
  const isBytes = fields.every(({ type, high }) => type === "uint8" && high === 255);
  return { output, size: sizeOf(fields), divisor: isBytes ? 255 : 1 };
}

/**
 * The outputs of a picture's layers, and of the numbers beside it.
 * @param {Field[]} fields
 * @param {number} numbers How many of them are no layers: the last ones.
 */
function layersOf(fields, numbers) {
  const pictures = fields.slice(0, fields.length - numbers);
  const layers = pictures.map((field, k) => layerOf(k === 0 ? "obs" : field.name, [field]));
  return numbers === 0
    ? layers
    : [...layers, layerOf("numbers", fields.slice(fields.length - numbers))];
}

/**
 * Fields of a kind's observations.
 * @param {Record<string, any>} instance
 * @param {Record<string, any>} role
 * @param {Record<string, any>} part
 * @returns {Field[]}
 */
function fieldsOf(instance, role, part) {
  const { shape } = part.outputs.obs;
  if (instance.packed)
    return [{ name: "bits", type: "uint8", shape, low: 0, high: 255, choices: null }];
  /** @type {Field[]} */
  const fields = role.observation ?? instance.observation;
  return fields.length === 1 ? [{ ...fields[0], shape }] : fields;
}

/**
 * Names and shapes of fields as text, to be compared.
 * @param {Field[] | Kind} seen
 */
function shapeOf(seen) {
  const pairs = Array.isArray(seen)
    ? seen.map(({ name, shape }) => [name, shape])
    : seen.shape.names.map((name, k) => [name, seen.shape.shapes[k]]);
  return JSON.stringify(pairs);
}

/**
 * The distribution over a simulator's actions, with bounds of all digits; null where they differ
 * from those in the file.
 * @param {Actions} kept
 * @param {Field[]} fields
 */
function exact(kept, fields) {
  const each = fields.flatMap((field) => Array.from({ length: sizeOf([field]) }, () => field));
  if (kept instanceof Categorical) {
    const counts = each.map(({ choices }) => choices ?? 0);
    return counts.join() === kept.counts.join() ? new Categorical(counts, kept.isSingle) : null;
  }
  const low = Float32Array.from(each, (field) => field.low ?? -Infinity);
  const high = Float32Array.from(each, (field) => field.high ?? Infinity);
  return isNear(low, kept.low) && isNear(high, kept.high) ? new Gaussian(low, high) : null;
}

/**
 * Whether bounds are the same but for the digits that the file leaves out.
 * @param {Float32Array} some
 * @param {Float32Array} others
 */
function isNear(some, others) {
  if (some.length !== others.length) return false;
  return some.every(
    (x, k) => x === others[k] || Math.abs(x - others[k]) <= 1e-6 * (1 + Math.abs(x)),
  );
}

/**
 * The rows of a kind: all agents lie side by side, or kind after kind where rows are split.
 * @param {Record<string, any>} form
 * @param {Record<string, any>} part
 * @param {Array} array
 * @param {string} name Of the output.
 * @returns {Rows}
 */
function rowsIn(form, part, array, name) {
  const worlds = form.num_worlds;
  if (!form.isSplit) {
    const stride = array.length / (worlds * form.agents_per_world);
    return { array: /** @type {Rows["array"]} */ (array), stride };
  }
  const { type, shape, begin } = part.outputs[name];
  const stride = shape.reduce((/** @type {number} */ all, /** @type {number} */ n) => all * n, 1);
  const view = VIEWS[type] ?? VIEWS.int8; // booleans too
  const buffer = /** @type {ArrayBuffer} */ (array.buffer);
  return { array: view(buffer, array.byteOffset + begin, worlds * part.count * stride), stride };
}
