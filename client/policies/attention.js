// Entities that look at each other, as gpu_envs/policies/encoders.py has it.

import { NotAPolicy } from "./archive.js";
import { Linear, Mlp, Norm, activate } from "./layers.js";
import { widthsOf } from "./options.js";

/**
 * @typedef {import("./options.js").Options} Options
 * @typedef {import("./rows.js").RowShape} RowShape
 * @typedef {import("./weights.js").Room} Room
 * @typedef {import("./weights.js").Weights} Weights
 */

const HEADS = 4;

/**
 * Entities look at each other once; their mean joins the other numbers. An entity whose numbers are
 * all zero is absent: only those present have a token.
 */
export class Attention {
  /**
   * @param {Weights} weights
   * @param {string} name
   * @param {RowShape} shape
   * @param {Options} options
   * @param {Room} room
   */
  constructor(weights, name, shape, options, room) {
    this.activation = options.activation;
    const width = Math.ceil(widthsOf(options)[0] / HEADS) * HEADS;
    this.width = width;
    /** Where the other numbers lie in a row: beginnings and lengths. @type {number[][]} */
    this.rest = [];
    /** Where each set begins, its entities, and the numbers of each. @type {number[][]} */
    this.sets = [];
    let at = 0;
    for (const [k, extents] of shape.shapes.entries()) {
      if (extents.length === 2) this.sets.push([at, extents[0], extents[1]]);
      else this.rest.push([at, shape.sizes[k]]);
      at += shape.sizes[k];
    }
    if (this.sets.length === 0)
      throw new NotAPolicy("The file's network needs sets of entities, and sees none.");
    const own = this.rest.reduce((sum, [, size]) => sum + size, 0);
    const tokens = 1 + this.sets.reduce((sum, [, entities]) => sum + entities, 0);
    this.numbers = room.array(Math.max(own, 1)).fill(1); // ones where there are no others
    this.own = new Linear(weights, `${name}.own`, Math.max(own, 1), width, room);
    this.embeddings = this.sets.map(
      ([, entities, numbers], k) =>
        new Linear(weights, `${name}.embeddings.${k}`, numbers, width, room, entities),
    );
    this.normIn = new Norm(weights, `${name}.norm_in`, width);
    this.normOut = new Norm(weights, `${name}.norm_out`, width);
    this.mix = new Linear(weights, `${name}.mix`, width, 3 * width, room, tokens);
    this.out = new Linear(weights, `${name}.out`, width, width, room, tokens);
    room.work(2 * tokens * tokens * width);
    this.last = new Mlp(weights, `${name}.last`, 2 * width, options, room);
    this.outputs = this.last.outputs;
    this.tokens = room.array(tokens * width);
    this.mixed = room.array(tokens * 3 * width); // query, key and value of each token
    this.seen = room.array(width);
    this.added = room.array(width);
    this.shares = room.array(tokens);
    this.row = room.array(2 * width);
  }

  /** @param {Float32Array} row */
  run(row) {
    const { width, tokens, seen, added } = this;
    const count = this.embed(row);
    for (let k = 0; k < count; ++k) {
      this.normIn.run(tokens, k * width, seen, 0);
      this.mix.run(seen, 0, this.mixed, k * 3 * width);
    }
    this.row.fill(0);
    for (let k = 0; k < count; ++k) {
      for (let head = 0; head < HEADS; ++head) this.look(k, head, count);
      this.out.run(seen, 0, added, 0);
      for (let n = 0; n < width; ++n) added[n] += tokens[k * width + n];
      this.normOut.run(added, 0, added, 0);
      if (k === 0) this.row.set(added);
      else for (let n = 0; n < width; ++n) this.row[width + n] += added[n] / (count - 1);
    }
    return this.last.run(this.row);
  }

  /**
   * Write a token for the agent and for each entity that is there, and return how many.
   * @param {Float32Array} row
   */
  embed(row) {
    const { width, tokens, numbers } = this;
    let at = 0;
    for (const [from, size] of this.rest)
      for (let k = 0; k < size; ++k) numbers[at++] = row[from + k];
    this.own.run(numbers, 0, tokens, 0);
    activate(this.activation, tokens, 0, width);
    let count = 1;
    for (let set = 0; set < this.sets.length; ++set) {
      const [first, entities, size] = this.sets[set];
      for (let from = first; from < first + entities * size; from += size) {
        let isThere = false;
        for (let k = from; k < from + size; ++k) if (row[k] !== 0) isThere = true;
        if (!isThere) continue;
        const to = count++ * width;
        this.embeddings[set].run(row, from, tokens, to);
        activate(this.activation, tokens, to, width);
        for (let n = 0; n < width; ++n) tokens[to + n] += tokens[n];
      }
    }
    return count;
  }

  /**
   * Write what a token sees through one head.
   * @param {number} token
   * @param {number} head
   * @param {number} count Of tokens.
   */
  look(token, head, count) {
    const { width, mixed, shares, seen } = this;
    const size = width / HEADS;
    const scale = 1 / Math.sqrt(size);
    const query = token * 3 * width + head * size;
    let most = -Infinity;
    for (let other = 0; other < count; ++other) {
      const key = other * 3 * width + width + head * size;
      let sum = 0;
      for (let n = 0; n < size; ++n) sum += mixed[query + n] * mixed[key + n];
      shares[other] = sum * scale;
      most = Math.max(most, shares[other]);
    }
    let total = 0;
    for (let other = 0; other < count; ++other) {
      shares[other] = Math.exp(shares[other] - most);
      total += shares[other];
    }
    const at = head * size;
    for (let n = 0; n < size; ++n) {
      let sum = 0;
      const value = 2 * width + at + n;
      for (let other = 0; other < count; ++other)
        sum += shares[other] * mixed[other * 3 * width + value];
      seen[at + n] = sum / total;
    }
  }
}
