// What a policy sees and how it may act, as the file describes both.

import { NotAPolicy } from "./archive.js";
import { count, dict, text } from "./tree.js";
import { Categorical, Gaussian } from "./distributions.js";

/**
 * @typedef {import("./tree.js").Tree} Tree
 * @typedef {Categorical | Gaussian} Actions
 */

const MOST = 2 ** 22; // numbers in a row
const LAYERS = ["rgb", "depth", "segmentation"]; // fields that are pictures
const MOST_HEADS = 4096;

/** The contents of a row of observations: names and shapes of fields, in order. */
export class RowShape {
  /**
   * @param {string[]} names
   * @param {number[][]} shapes
   */
  constructor(names, shapes) {
    this.names = names;
    this.shapes = shapes;
    this.sizes = shapes.map((shape) => shape.reduce((product, extent) => product * extent, 1));
    this.size = this.sizes.reduce((sum, size) => sum + size, 0);
  }

  /** How many fields are layers of a picture: the first ones. */
  get pictures() {
    const isLayer = (/** @type {string} */ name, /** @type {number} */ k) =>
      this.shapes[k].length === 3 && LAYERS.includes(name);
    const other = this.names.findIndex((name, k) => !isLayer(name, k));
    return other < 0 ? this.names.length : other;
  }

  /** Numbers of a row that are pixels; all, where nothing is a picture. */
  get seen() {
    const { pictures, sizes } = this;
    return pictures === 0 ? this.size : sizes.slice(0, pictures).reduce((sum, n) => sum + n, 0);
  }

  /** What the numbers are divided by: bytes of a picture's colours become 0 to 1. */
  get divisor() {
    return this.names.length === 1 && this.pictures === 1 && this.names[0] === "rgb" ? 255 : 1;
  }

  /**
   * Read it from a file.
   * @param {Tree | undefined} node
   */
  static of(node) {
    const fields = dict(node, "fields of observations");
    const shapes = [...fields.values()].map((shape) => {
      if (!Array.isArray(shape) || shape.length > 8)
        throw new NotAPolicy("The file has a field of observations without a shape.");
      return shape.map((extent) => count(extent, "shape of a field", MOST));
    });
    const made = new RowShape([...fields.keys()], shapes);
    if (!(made.size >= 1 && made.size <= MOST) || made.names.length > 4096)
      throw new NotAPolicy("The file's observations have no numbers, or too many.");
    return made;
  }
}

/**
 * The distribution over a space of actions, from Gymnasium's text of it.
 * @param {Tree | undefined} node
 * @returns {Actions}
 */
export function actionsOf(node) {
  const space = text(node, "space of actions");
  const one = /^Discrete\((\d{1,6})\)$/.exec(space);
  if (one !== null) return categorical([Number(one[1])], true);
  const several = /^MultiDiscrete\(([\d\s[\]]+)\)$/.exec(space);
  if (several !== null) return categorical((several[1].match(/\d+/g) ?? []).map(Number), false);
  const box = /^Box\(([^,]+), ([^,]+), \(([\d, ]+)\), float32\)$/.exec(space);
  if (box === null) throw new NotAPolicy("The file has a space of actions that is not known here.");
  const size = (box[3].match(/\d+/g) ?? []).reduce(
    (product, extent) => product * Number(extent),
    1,
  );
  if (!(size >= 1 && size <= MOST_HEADS))
    throw new NotAPolicy("The file's actions have no numbers, or too many.");
  return new Gaussian(bounds(box[1], size), bounds(box[2], size));
}

/**
 * @param {number[]} counts
 * @param {boolean} isSingle
 */
function categorical(counts, isSingle) {
  const total = counts.reduce((sum, n) => sum + n, 0);
  if (counts.length === 0 || counts.includes(0) || !(total <= 2 ** 20))
    throw new NotAPolicy("The file's actions have no choices, or too many.");
  return new Categorical(counts, isSingle);
}

/**
 * Bounds as NumPy prints them: one number for all, or each.
 * @param {string} said
 * @param {number} size
 */
function bounds(said, size) {
  const words = said.replace(/[[\]]/g, " ").trim().split(/\s+/);
  const numbers = words.map((word) => Number(word.replace("inf", "Infinity")));
  if ((numbers.length !== 1 && numbers.length !== size) || numbers.some(Number.isNaN))
    throw new NotAPolicy("The file has bounds of actions that cannot be read.");
  return Float32Array.from({ length: size }, (_, k) => numbers[numbers.length === 1 ? 0 : k]);
}
