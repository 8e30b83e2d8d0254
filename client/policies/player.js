// Who acts for some rows: one network with a memory for each row, or chance.

/**
 * @typedef {import("./distributions.js").Draw} Draw
 * @typedef {import("./distributions.js").Numbers} Numbers
 * @typedef {import("./networks.js").Network} Network
 * @typedef {import("./rows.js").Actions} Actions
 * @typedef {{greedy?: boolean, draw?: Draw}} Choice `draw` returns a number in (0, 1) for a row and
 *   a column; without it, or if `greedy`, the likeliest actions are chosen.
 * @typedef {{actions?: Actions, divisor?: number, words?: Int32Array | Float32Array,
 *   wordStride?: number, places?: ArrayLike<number>, draws?: ArrayLike<number>,
 *   worlds?: ArrayLike<number>}} Seats Where rows lie: `places` are their numbers in what is given
 *   and in `words`, `draws` those by which they draw, `worlds` those of their worlds.
 * @typedef {{array: Numbers, stride: number, size: number, divisor: number}} Layer Numbers of rows:
 *   from one row to the next, of each, and what they are divided by.
 * @typedef {{stride?: number, maskStride?: number, values?: boolean, states?: Numbers | null}} How
 *   Numbers from one row to the next; whether to find values, with the states of the worlds.
 */

const NOTHING = new Float32Array(0);

/** The rows of a player, and where their actions go. */
class Seated {
  /**
   * @param {Actions} actions
   * @param {number} rows
   * @param {Seats} seats
   */
  constructor(actions, rows, { places, draws, worlds, words, wordStride }) {
    this.actions = actions;
    this.rows = rows;
    this.places = Float64Array.from({ length: rows }, (_, k) => places?.[k] ?? k);
    this.draws = Float64Array.from({ length: rows }, (_, k) => draws?.[k] ?? k);
    this.worlds = Float64Array.from({ length: rows }, (_, k) => worlds?.[k] ?? k);
    /** Actions of all places, as words of the engine. */
    this.words = words ?? actions.room(rows);
    this.wordStride = wordStride ?? actions.words;
    /** What is kept between steps, row by row. */
    this.memory = NOTHING;
    /** @type {Numbers | null} */
    this.masks = null;
    this.maskStride = actions.outputs;
  }
}

/** One network with the memories of its rows. */
export class Player extends Seated {
  /**
   * @param {Network} network
   * @param {number} rows
   * @param {Seats} seats
   */
  constructor(network, rows = 1, seats = {}) {
    super(seats.actions ?? network.actions, rows, seats);
    this.network = network;
    this.divisor = seats.divisor ?? network.shape.divisor;
    this.memory = new Float32Array(rows * network.memorySize);
    /** What the network said last, row by row: logits before any mask, or means. */
    this.outputs = new Float32Array(rows * this.actions.outputs);
    /** Values of what was seen last, where they were asked for. */
    this.values = new Float32Array(rows);
  }

  /**
   * See a row for each place; memories become the next ones.
   * @param {Numbers | Layer[]} observations Whole rows, or their layers, in the order of the fields.
   * @param {Numbers | null} masks 0 where a choice is forbidden.
   * @param {How} how
   */
  look(observations, masks = null, how = {}) {
    const { network, places, outputs } = this;
    const { size } = network.shape;
    const { stride = size, states = null } = how;
    const layers = Array.isArray(observations)
      ? observations
      : [{ array: observations, stride, size, divisor: this.divisor }];
    this.masks = masks;
    this.maskStride = how.maskStride ?? this.actions.outputs;
    for (let k = 0; k < this.rows; ++k) {
      const memoryAt = k * network.memorySize;
      let first = 0;
      for (const layer of layers) {
        network.take(layer.array, places[k] * layer.stride, layer.divisor, first, layer.size);
        first += layer.size;
      }
      network.look(this.memory, memoryAt);
      outputs.set(network.outputs, k * network.outputs.length);
      if (how.values) this.values[k] = network.value(states, this.worlds[k] * network.stateSize);
    }
  }

  /**
   * Choose actions for what was seen last.
   * @param {Choice} [choice]
   * @returns {Int32Array | Float32Array} `words`, until the next call.
   */
  choose({ greedy = false, draw } = {}) {
    const { actions, words, wordStride, outputs, places } = this;
    const deviations = this.network.logDeviations;
    for (let k = 0; k < this.rows; ++k) {
      const maskAt = places[k] * this.maskStride;
      actions.normalise(outputs, k * actions.outputs, this.masks, maskAt, deviations);
      if (greedy || draw === undefined) actions.likeliest(words, places[k] * wordStride);
      else actions.sample(words, places[k] * wordStride, draw, this.draws[k]);
    }
    return words;
  }

  /**
   * See, and choose.
   * @param {Numbers | Layer[]} observations
   * @param {Numbers | null} masks
   * @param {Choice} [choice]
   */
  act(observations, masks = null, choice = {}) {
    this.look(observations, masks);
    return this.choose(choice);
  }

  /**
   * Clear the memory of a row, or of all: where an episode begins.
   * @param {number | null} row
   */
  reset(row = null) {
    const size = this.network.memorySize;
    if (row === null) this.memory.fill(0);
    else this.memory.fill(0, row * size, (row + 1) * size);
  }
}

/** Acts uniformly at random, within the masks. */
export class Chance extends Seated {
  /**
   * @param {Actions} actions
   * @param {number} rows
   * @param {Seats} seats
   */
  constructor(actions, rows = 1, seats = {}) {
    super(actions, rows, seats);
  }

  /**
   * @param {Numbers | Layer[]} _
   * @param {Numbers | null} masks
   * @param {How} how
   */
  look(_, masks = null, how = {}) {
    this.masks = masks;
    this.maskStride = how.maskStride ?? this.actions.outputs;
  }

  /** @param {Choice} [choice] */
  choose({ draw = Math.random } = {}) {
    const { actions, words, wordStride, places, masks, maskStride } = this;
    for (let k = 0; k < this.rows; ++k)
      actions.uniform(
        masks,
        places[k] * maskStride,
        words,
        places[k] * wordStride,
        draw,
        this.draws[k],
      );
    return words;
  }

  /** Chance has no memory. @param {number | null} [_] */
  reset(_) {}
}
