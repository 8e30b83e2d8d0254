// The tree in a policy file: JSON with a tag in place of each array, whose numbers are in a member
// of their own in NumPy's format. A dict becomes a Map, so that no key has a meaning here.

import { NotAPolicy, damaged, membersOf, skeletonOf } from "./archive.js";

/**
 * @typedef {null | boolean | number | string | Uint8Array | StoredArray | Tree[] |
 *   Map<string, Tree>} Tree
 */

const FORMAT = "gpu_envs checkpoint";
const VERSION = 1;
const MOST_TEXT = 2 ** 20; // bytes of JSON
const DEEPEST = 32;
const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59]; // "\x93NUMPY"
const SHAPE = /^(\d+,|\d+(, \d+)+)?$/;
const HEADER = new RegExp(
  "^\\{'descr': '([<|][a-z]\\d{1,2})', 'fortran_order': (True|False), " +
    "'shape': \\(([\\d, ]*)\\), \\} *\\n$",
);

/**
 * Types of weights by torch's name: how NumPy names what is stored, and how it becomes single
 * precision.
 * @type {Record<string, {stored: string, bytes: number,
 *   read: (buffer: ArrayBuffer) => Float32Array}>}
 */
const FORMS = {
  float32: { stored: "<f4", bytes: 4, read: (buffer) => new Float32Array(buffer) },
  float64: {
    stored: "<f8",
    bytes: 8,
    read: (buffer) => Float32Array.from(new Float64Array(buffer)),
  },
  float16: { stored: "<f2", bytes: 2, read: (buffer) => widened(new Uint16Array(buffer), 10) },
  bfloat16: { stored: "<i2", bytes: 2, read: (buffer) => widened(new Uint16Array(buffer), 7) },
};

/**
 * Numbers of 16 bits in single precision.
 * @param {Uint16Array} halves
 * @param {number} digits Bits of the mantissa.
 */
function widened(halves, digits) {
  const most = 2 ** (15 - digits) - 1; // of the exponent: infinite, or no number
  const middle = most >> 1;
  return Float32Array.from(halves, (half) => {
    const sign = half >> 15 ? -1 : 1;
    const exponent = (half >> digits) & most;
    const share = (half & (2 ** digits - 1)) / 2 ** digits;
    if (exponent === most) return share === 0 ? sign * Infinity : NaN;
    return exponent === 0
      ? sign * share * 2 ** (1 - middle)
      : sign * (1 + share) * 2 ** (exponent - middle);
  });
}

/** An array in a member of the file; its numbers are read when they are wanted. */
export class StoredArray {
  /**
   * @param {string} name Of the member.
   * @param {Uint8Array} content
   * @param {string} type As torch names it; empty for an array of NumPy.
   */
  constructor(name, content, type) {
    this.name = name;
    this.content = content;
    this.type = type;
  }

  /**
   * Its numbers in order of rows, copied.
   * @param {number[]} shape That it must have.
   * @returns {Float32Array}
   */
  floats(shape) {
    const { type, isByColumns, extents, begin } = this.header();
    const form = Object.hasOwn(FORMS, this.type) ? FORMS[this.type] : null;
    if (form === null || form.stored !== type)
      throw new NotAPolicy(`The file's array ${this.name} is of a type that weights do not have.`);
    if (extents.join() !== shape.join())
      throw new NotAPolicy(
        `The file's array ${this.name} has the shape (${extents}) where (${shape}) belongs.`,
      );
    const count = extents.reduce((product, extent) => product * extent, 1);
    if (this.content.length - begin !== form.bytes * count)
      damaged(`${this.name} has another length`);
    const numbers = form.read(this.content.slice(begin).buffer);
    for (const number of numbers)
      if (!Number.isFinite(number))
        throw new NotAPolicy("The file has weights that are NaN or infinite.");
    return isByColumns ? byRows(numbers, extents) : numbers;
  }

  /** What stands before the numbers. */
  header() {
    const { content, name } = this;
    if (content.length < 12 || MAGIC.some((byte, k) => content[k] !== byte))
      damaged(`${name} is not an array`);
    const isShort = content[6] === 1;
    const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
    const from = isShort ? 10 : 12;
    const begin = from + (isShort ? view.getUint16(8, true) : view.getUint32(8, true));
    if (begin > Math.min(content.length, 4096)) damaged(`${name} has too long a header`);
    const found = HEADER.exec(String.fromCharCode(...content.subarray(from, begin)));
    if (found === null || !SHAPE.test(found[3])) damaged(`${name} has a header that says nothing`);
    const extents = (found[3].match(/\d+/g) ?? []).map(Number);
    return { type: found[1], isByColumns: found[2] === "True", extents, begin };
  }
}

/**
 * Numbers in order of columns (Fortran's), as rows.
 * @param {Float32Array} numbers
 * @param {number[]} extents
 */
function byRows(numbers, extents) {
  const made = new Float32Array(numbers.length);
  const place = extents.map(() => 0);
  for (let k = 0; k < numbers.length; ++k) {
    let at = 0;
    for (let axis = extents.length - 1; axis >= 0; --axis) at = at * extents[axis] + place[axis];
    made[k] = numbers[at];
    for (let axis = extents.length - 1; axis >= 0 && ++place[axis] === extents[axis]; --axis)
      place[axis] = 0;
  }
  return made;
}

/**
 * The tree in a file.
 * @param {Uint8Array} bytes
 * @returns {Map<string, Tree>}
 */
export function treeOf(bytes) {
  const members = membersOf(bytes);
  const text = skeletonOf(members);
  if (text.length > MOST_TEXT) throw new NotAPolicy("The file's description is too long.");
  /** @type {any} */
  let facts;
  try {
    facts = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(text));
  } catch {
    damaged("its description is not JSON");
  }
  if (facts === null || typeof facts !== "object" || facts.format !== FORMAT)
    throw new NotAPolicy("The file is an archive of another kind, not a policy of gpu_envs.");
  if (facts.version !== VERSION)
    throw new NotAPolicy(
      `The file has another version of the format, and only version ${VERSION} is read here.`,
    );
  const tree = decoded(facts.tree, members, 0);
  if (!(tree instanceof Map)) damaged("its tree is not a dict");
  return tree;
}

/**
 * @param {any} node
 * @param {Map<string, Uint8Array>} members Those that nothing has named yet.
 * @param {number} depth
 * @returns {Tree}
 */
function decoded(node, members, depth) {
  if (depth > DEEPEST) damaged("its tree is too deep");
  if (Array.isArray(node)) return node.map((item) => decoded(item, members, depth + 1));
  if (node === null || typeof node !== "object") return node === undefined ? null : node;
  if (Object.hasOwn(node, "dict")) return dictOf(node.dict, members, depth);
  if (Object.hasOwn(node, "bits")) return numberOf(node.bits);
  if (Object.hasOwn(node, "bytes")) return taken(node.bytes, members);
  for (const tag of ["tensor", "array"])
    if (Object.hasOwn(node, tag)) {
      const type = tag === "tensor" && Object.hasOwn(node, "dtype") ? String(node.dtype) : "";
      return new StoredArray(String(node[tag]), taken(node[tag], members), type);
    }
  return damaged("its tree has an unknown tag");
}

/**
 * @param {any} pairs
 * @param {Map<string, Uint8Array>} members
 * @param {number} depth
 */
function dictOf(pairs, members, depth) {
  /** @type {Map<string, Tree>} */
  const made = new Map();
  if (!Array.isArray(pairs)) damaged("a dict of its tree is none");
  for (const pair of pairs) {
    if (!Array.isArray(pair) || pair.length !== 2 || !["string", "number"].includes(typeof pair[0]))
      damaged("a dict of its tree is none");
    const key = String(pair[0]);
    if (made.has(key)) damaged("a dict of its tree has a key twice");
    made.set(key, decoded(pair[1], members, depth + 1));
  }
  return made;
}

/**
 * A float that JSON does not have.
 * @param {any} bits
 */
function numberOf(bits) {
  if (typeof bits !== "string" || !/^[0-9a-f]{16}$/.test(bits)) damaged("a float of it is none");
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(`0x${bits}`));
  return view.getFloat64(0);
}

/**
 * A member, which only one part of the tree may name: no file asks for more than its own size.
 * @param {any} name
 * @param {Map<string, Uint8Array>} members
 */
function taken(name, members) {
  const found = typeof name === "string" ? members.get(name) : undefined;
  if (found === undefined) damaged("its tree names a member that is not there, or one twice");
  members.delete(name);
  return found;
}

/**
 * A dict of the tree.
 * @param {Tree | undefined} value
 * @param {string} what
 * @returns {Map<string, Tree>}
 */
export function dict(value, what) {
  if (!(value instanceof Map)) damaged(`it has no ${what}`);
  return value;
}

/**
 * A text of the tree.
 * @param {Tree | undefined} value
 * @param {string} what
 * @returns {string}
 */
export function text(value, what) {
  if (typeof value !== "string" || value.length > 4096) damaged(`its ${what} is no text`);
  return value;
}

/**
 * A whole number of the tree, at least 0.
 * @param {Tree | undefined} value
 * @param {string} what
 * @param {number} most
 * @returns {number}
 */
export function count(value, what, most = 2 ** 24) {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > most)
    damaged(`its ${what} is no whole number below ${most}`);
  return value;
}
