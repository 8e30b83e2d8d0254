// Random numbers that depend only on their purpose, to the bit as gpu_envs/policies/noise.py draws
// them: a hash of seed, stream, step, row and column. Numbers of 64 bits are two halves here.

const GOLDEN = [0x9e3779b9, 0x7f4a7c15];
const FIRST = [0xbf58476d, 0x1ce4e5b9];
const SECOND = [0x94d049bb, 0x133111eb];
const STEP = [0xd1b54a32, 0xd192ed03];
const ROW = [0xabc98388, 0xfb8fac03];
const COLUMN = [0x8cb92ba7, 0x2f3d8dd7];

/** Streams: what draws are for. */
export const ACTIONS = 0;
export const OPPONENTS = 2;
export const EVALUATION = 3;

/** Half a number of 64 bits: the upper one of the last product or sum. */
let upper = 0;

/**
 * The lower half of a product; `upper` is the other one.
 * @param {number} high
 * @param {number} low
 * @param {number[]} factor
 */
function times(high, low, factor) {
  const [otherHigh, otherLow] = factor;
  const a = low & 0xffff;
  const b = low >>> 16;
  const c = otherLow & 0xffff;
  const d = otherLow >>> 16;
  const middle = b * c + ((a * c) >>> 16); // below 2^33
  const rest = (middle % 0x10000) + a * d;
  const carried = b * d + Math.floor(middle / 0x10000) + Math.floor(rest / 0x10000);
  upper = (carried + Math.imul(high, otherLow) + Math.imul(low, otherHigh)) >>> 0;
  return Math.imul(low, otherLow) >>> 0;
}

/**
 * The product of a whole number and a factor, as halves.
 * @param {number} number Below 2^53.
 * @param {number[]} factor
 */
function product(number, factor) {
  const low = times(Math.floor(number / 2 ** 32) >>> 0, number >>> 0, factor);
  return [upper, low];
}

/** Draws of one stream of one seed. */
export class Noise {
  /**
   * @param {number | bigint} seed
   * @param {number} stream
   */
  constructor(seed, stream) {
    const next = BigInt(seed) + 1n;
    const whole = (/** @type {number[]} */ part) => (BigInt(part[0]) << 32n) | BigInt(part[1]);
    const key = BigInt.asUintN(64, next * whole(GOLDEN) + BigInt(stream) * whole(FIRST));
    this.high = Number(key >> 32n);
    this.low = Number(key & 0xffffffffn);
  }

  /**
   * A number in (0, 1).
   * @param {number} step
   * @param {number} row
   * @param {number} column
   */
  uniform(step, row, column) {
    let high = this.high;
    let low = this.low;
    for (const [h, l] of [product(step, STEP), product(row, ROW), product(column, COLUMN)]) {
      const sum = low + l;
      low = sum >>> 0;
      high = (high + h + (sum > 0xffffffff ? 1 : 0)) >>> 0;
    }
    for (let k = 0; k < 2; ++k) {
      low = times((high ^ (high >>> 30)) >>> 0, (low ^ ((low >>> 30) | (high << 2))) >>> 0, FIRST);
      high = upper;
      low = times((high ^ (high >>> 27)) >>> 0, (low ^ ((low >>> 27) | (high << 5))) >>> 0, SECOND);
      high = upper;
      low = (low ^ ((low >>> 31) | (high << 1))) >>> 0;
      high = (high ^ (high >>> 31)) >>> 0;
    }
    return ((high >>> 9) + 0.5) * 2 ** -23; // the upper 23 bits, in the middle of their part
  }
}
