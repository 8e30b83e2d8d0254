// The weights of a file, and what its networks may take.

import { NotAPolicy } from "./archive.js";
import { StoredArray } from "./tree.js";

/** @typedef {import("./tree.js").Tree} Tree */

/** What the networks of a file may take: memory, and work for a decision. */
export class Room {
  constructor() {
    this.floats = 2 ** 24;
    this.products = 2 ** 30;
  }

  /**
   * An array for results of a layer.
   * @param {number} count
   */
  array(count) {
    this.floats -= count;
    if (!(this.floats >= 0))
      throw new NotAPolicy("The file's networks need more memory than is allowed here.");
    return new Float32Array(count);
  }

  /**
   * Count the products of a layer.
   * @param {number} products
   */
  work(products) {
    this.products -= products;
    if (!(this.products >= 0))
      throw new NotAPolicy("The file's networks need more work than is allowed here.");
  }
}

/** The weights of one policy by name; each is taken once, and none may be left over. */
export class Weights {
  /** @param {Map<string, Tree>} state */
  constructor(state) {
    this.rest = new Map(state);
    this.count = 0;
  }

  /**
   * An array, copied.
   * @param {string} name
   * @param {...number} shape
   */
  take(name, ...shape) {
    const numbers = this.stored(name).floats(shape);
    this.count += numbers.length;
    return numbers;
  }

  /**
   * Drop an array that only training needs.
   * @param {string} name
   */
  drop(name) {
    this.stored(name);
  }

  /** @param {string} name */
  stored(name) {
    const found = this.rest.get(name);
    if (!(found instanceof StoredArray))
      throw new NotAPolicy(`The file lacks the weights ${name} that its options ask for.`);
    this.rest.delete(name);
    return found;
  }

  /** Refuse a file with more weights than its options ask for. */
  end() {
    if (this.rest.size > 0)
      throw new NotAPolicy("The file has weights that its options do not ask for.");
  }

  /**
   * Extents of an array that is still there.
   * @param {string} name
   * @returns {number[]}
   */
  extents(name) {
    const found = this.rest.get(name);
    return found instanceof StoredArray ? found.header().extents : [];
  }
}
