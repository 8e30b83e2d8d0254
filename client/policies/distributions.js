// Distributions of actions, as gpu_envs/policies/distributions.py has them. A network's outputs go
// in with `normalise`, then actions come out as words: whole numbers or floats.
//
// Draws come from a function of the row and a column that returns a number in (0, 1), as a table of
// them would: a choice is drawn by inverting the cumulative probabilities (column: the head), a
// normal number by the method of Box and Muller (columns: all radii, then all turns).

/**
 * @typedef {ArrayLike<number>} Numbers
 * @typedef {(row: number, column: number) => number} Draw
 */

const ILLEGAL = -1e9; // logit of an action that the mask forbids
const LEAST = 2 ** -24; // the smallest draw of the package

/** One choice, or several independent ones. */
export class Categorical {
  /**
   * @param {number[]} counts Choices of each head.
   * @param {boolean} isSingle Whether the space is Discrete.
   */
  constructor(counts, isSingle) {
    this.counts = counts;
    this.isSingle = isSingle;
    this.isFloat = false;
    this.outputs = counts.reduce((sum, n) => sum + n, 0);
    this.words = this.draws = counts.length;
    /** Logarithms of the probabilities, head by head, of what was normalised last. */
    this.logs = new Float32Array(this.outputs);
    this.same = new Float32Array(this.outputs);
  }

  /** Room for the actions of some rows. @param {number} rows */
  room(rows) {
    return new Int32Array(rows * this.words);
  }

  /**
   * Take a row of outputs.
   * @param {Numbers} raw
   * @param {number} at Where the row begins.
   * @param {Numbers | null} mask Choices whose number is 0 have no probability.
   * @param {number} maskAt
   * @param {Float32Array | null} [_] Deviations have no meaning here.
   */
  normalise(raw, at, mask, maskAt, _) {
    const { logs } = this;
    for (let k = 0; k < this.outputs; ++k)
      logs[k] = mask !== null && mask[maskAt + k] === 0 ? ILLEGAL : raw[at + k];
    let first = 0;
    for (const count of this.counts) {
      const end = first + count;
      let most = -Infinity;
      for (let k = first; k < end; ++k) most = Math.max(most, logs[k]);
      let sum = 0;
      for (let k = first; k < end; ++k) sum += Math.exp(logs[k] - most);
      const log = Math.log(sum);
      for (let k = first; k < end; ++k) logs[k] = logs[k] - most - log;
      first = end;
    }
  }

  /**
   * Write the most probable choice of each head.
   * @param {Numbers & {[at: number]: number}} words
   * @param {number} at
   */
  likeliest(words, at) {
    let first = 0;
    for (let head = 0; head < this.counts.length; ++head) {
      let best = first;
      const end = first + this.counts[head];
      for (let k = first + 1; k < end; ++k) if (this.logs[k] > this.logs[best]) best = k;
      words[at + head] = best - first;
      first = end;
    }
  }

  /**
   * Write a draw of each head.
   * @param {Numbers & {[at: number]: number}} words
   * @param {number} at
   * @param {Draw} draw
   * @param {number} row By which it draws.
   */
  sample(words, at, draw, row) {
    let first = 0;
    for (let head = 0; head < this.counts.length; ++head) {
      const end = first + this.counts[head];
      let total = 0;
      for (let k = first; k < end; ++k) total += Math.fround(Math.exp(this.logs[k]));
      const wanted = Math.max(draw(row, head), LEAST) * total;
      let chosen = 0;
      let sum = 0;
      for (let k = first; k < end; ++k) {
        sum += Math.fround(Math.exp(this.logs[k]));
        if (sum < wanted) ++chosen;
      }
      words[at + head] = Math.min(chosen, end - first - 1);
      first = end;
    }
  }

  /**
   * Write choices that are equally probable, among those that the mask allows.
   * @param {Numbers | null} mask
   * @param {number} maskAt
   * @param {Numbers & {[at: number]: number}} words
   * @param {number} at
   * @param {Draw} draw
   * @param {number} row
   */
  uniform(mask, maskAt, words, at, draw, row) {
    this.normalise(this.same, 0, mask, maskAt);
    this.sample(words, at, draw, row);
  }
}

/** Independent normal distributions; finite bounds of the space are mapped to -1 and 1. */
export class Gaussian {
  /**
   * @param {Float32Array} low
   * @param {Float32Array} high
   */
  constructor(low, high) {
    this.isFloat = true;
    this.outputs = this.words = low.length;
    this.draws = 2 * low.length;
    this.low = low;
    this.high = high;
    this.isBounded = Array.from(low, (x, k) => Number.isFinite(x) && Number.isFinite(high[k]));
    const half = (/** @type {number} */ k, /** @type {number} */ sign) =>
      Math.fround(Math.fround(high[k] / 2) + sign * Math.fround(low[k] / 2));
    this.centre = low.map((_, k) => (this.isBounded[k] ? half(k, 1) : 0));
    this.reach = low.map((_, k) => (this.isBounded[k] ? half(k, -1) : 1));
    /** Of what was normalised last. */
    this.means = new Float32Array(this.outputs);
    this.deviations = new Float32Array(this.outputs).fill(1);
  }

  /** Room for the actions of some rows. @param {number} rows */
  room(rows) {
    return new Float32Array(rows * this.words);
  }

  /**
   * Take a row of means; masks have no meaning here.
   * @param {Numbers} raw
   * @param {number} at
   * @param {Numbers | null} mask
   * @param {number} maskAt
   * @param {Float32Array | null} logs Logarithms of the deviations.
   */
  normalise(raw, at, mask, maskAt, logs) {
    for (let k = 0; k < this.outputs; ++k) {
      this.means[k] = raw[at + k];
      this.deviations[k] = logs === null ? 1 : Math.exp(Math.min(Math.max(logs[k], -10), 2));
    }
  }

  /**
   * Write the means, within the bounds.
   * @param {Numbers & {[at: number]: number}} words
   * @param {number} at
   */
  likeliest(words, at) {
    for (let k = 0; k < this.outputs; ++k) words[at + k] = this.bounded(k, this.means[k]);
  }

  /**
   * Write a draw.
   * @param {Numbers & {[at: number]: number}} words
   * @param {number} at
   * @param {Draw} draw
   * @param {number} row By which it draws.
   */
  sample(words, at, draw, row) {
    for (let k = 0; k < this.outputs; ++k) words[at + k] = draw(row, k);
    for (let k = 0; k < this.outputs; ++k) {
      const normal = normalOf(words[at + k], draw(row, this.outputs + k));
      words[at + k] = this.bounded(k, this.means[k] + this.deviations[k] * normal);
    }
  }

  /**
   * Write numbers that are even within the bounds; where there are none, normal ones.
   * @param {Numbers | null} mask
   * @param {number} maskAt
   * @param {Numbers & {[at: number]: number}} words
   * @param {number} at
   * @param {Draw} draw
   * @param {number} row
   */
  uniform(mask, maskAt, words, at, draw, row) {
    for (let k = 0; k < this.outputs; ++k) words[at + k] = draw(row, k);
    for (let k = 0; k < this.outputs; ++k) {
      const turn = draw(row, this.outputs + k);
      const even = 2 * words[at + k] - 1;
      words[at + k] = this.bounded(k, this.isBounded[k] ? even : normalOf(words[at + k], turn));
    }
  }

  /**
   * A number as the environment takes it.
   * @param {number} k
   * @param {number} x
   */
  bounded(k, x) {
    const reached = Math.fround(this.centre[k] + Math.fround(this.reach[k] * x));
    return Math.min(Math.max(reached, this.low[k]), this.high[k]);
  }
}

/**
 * A normal number from two even ones.
 * @param {number} radius
 * @param {number} turn
 */
function normalOf(radius, turn) {
  return Math.sqrt(-2 * Math.log(Math.max(radius, LEAST))) * Math.cos(2 * Math.PI * turn);
}
