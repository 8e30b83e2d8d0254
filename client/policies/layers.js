// Layers over rows of numbers. Sums are of doubles, results of single precision. All arrays are
// made before the first step.

import { widthsOf } from "./options.js";

/**
 * @typedef {import("./options.js").Options} Options
 * @typedef {import("./weights.js").Room} Room
 * @typedef {import("./weights.js").Weights} Weights
 */

const EPSILON = 1e-5; // of layer normalisation

/** A matrix and an offset. */
export class Linear {
  /**
   * @param {Weights} weights
   * @param {string} name
   * @param {number} inputs
   * @param {number} outputs
   * @param {Room} room
   * @param {number} places At how many places a decision uses it.
   */
  constructor(weights, name, inputs, outputs, room, places = 1) {
    room.work(inputs * outputs * places);
    this.inputs = inputs;
    this.outputs = outputs;
    this.weight = weights.take(`${name}.weight`, outputs, inputs);
    this.bias = weights.take(`${name}.bias`, outputs);
  }

  /**
   * Write the outputs of a row.
   * @param {Float32Array} x
   * @param {number} from
   * @param {Float32Array} out
   * @param {number} at
   */
  run(x, from, out, at) {
    multiply(this.weight, this.bias, this.inputs, this.outputs, x, from, out, at);
  }
}

/**
 * Write bias + weight x row. Four outputs share the loads of the row.
 * @param {Float32Array} weight Row by row.
 * @param {Float32Array} bias
 * @param {number} inputs
 * @param {number} outputs
 * @param {Float32Array} x
 * @param {number} from
 * @param {Float32Array} out
 * @param {number} at
 */
export function multiply(weight, bias, inputs, outputs, x, from, out, at) {
  let row = 0;
  let k = 0;
  for (; row + 4 <= outputs; row += 4) {
    let a = bias[row];
    let b = bias[row + 1];
    let c = bias[row + 2];
    let d = bias[row + 3];
    const second = k + inputs;
    const third = second + inputs;
    const fourth = third + inputs;
    for (let i = 0; i < inputs; ++i) {
      const value = x[from + i];
      a += weight[k + i] * value;
      b += weight[second + i] * value;
      c += weight[third + i] * value;
      d += weight[fourth + i] * value;
    }
    out[at + row] = a;
    out[at + row + 1] = b;
    out[at + row + 2] = c;
    out[at + row + 3] = d;
    k = fourth + inputs;
  }
  for (; row < outputs; ++row, k += inputs) {
    let sum = bias[row];
    for (let i = 0; i < inputs; ++i) sum += weight[k + i] * x[from + i];
    out[at + row] = sum;
  }
}

/**
 * Apply an activation in place.
 * @param {string} name tanh or relu.
 * @param {Float32Array} x
 * @param {number} at
 * @param {number} count
 */
export function activate(name, x, at, count) {
  const end = at + count;
  if (name === "relu") for (let k = at; k < end; ++k) x[k] = x[k] > 0 ? x[k] : 0;
  else for (let k = at; k < end; ++k) x[k] = Math.tanh(x[k]);
}

/** Layer normalisation. */
export class Norm {
  /**
   * @param {Weights} weights
   * @param {string} name
   * @param {number} size
   */
  constructor(weights, name, size) {
    this.size = size;
    this.weight = weights.take(`${name}.weight`, size);
    this.bias = weights.take(`${name}.bias`, size);
  }

  /**
   * Write a row of mean 0 and deviation 1, scaled; it may be written in place.
   * @param {Float32Array} x
   * @param {number} from
   * @param {Float32Array} out
   * @param {number} at
   */
  run(x, from, out, at) {
    const { size, weight, bias } = this;
    let sum = 0;
    for (let k = 0; k < size; ++k) sum += x[from + k];
    const mean = sum / size;
    let squares = 0;
    for (let k = 0; k < size; ++k) squares += (x[from + k] - mean) ** 2;
    const factor = 1 / Math.sqrt(squares / size + EPSILON);
    for (let k = 0; k < size; ++k)
      out[at + k] = (x[from + k] - mean) * factor * weight[k] + bias[k];
  }
}

/** A recurrent cell (GRU). */
export class Cell {
  /**
   * @param {Weights} weights
   * @param {string} name
   * @param {number} inputs
   * @param {number} size Of the memory.
   * @param {Room} room
   */
  constructor(weights, name, inputs, size, room) {
    room.work(3 * size * (inputs + size));
    this.inputs = inputs;
    this.size = size;
    this.inputWeight = weights.take(`${name}.weight_ih`, 3 * size, inputs);
    this.memoryWeight = weights.take(`${name}.weight_hh`, 3 * size, size);
    this.inputBias = weights.take(`${name}.bias_ih`, 3 * size);
    this.memoryBias = weights.take(`${name}.bias_hh`, 3 * size);
    this.seen = room.array(3 * size);
    this.kept = room.array(3 * size);
  }

  /**
   * Replace a row's memory by what it is after an input.
   * @param {Float32Array} x
   * @param {Float32Array} memory
   * @param {number} at Where the row's memory begins.
   */
  run(x, memory, at) {
    const { size, seen, kept } = this;
    multiply(this.inputWeight, this.inputBias, this.inputs, 3 * size, x, 0, seen, 0);
    multiply(this.memoryWeight, this.memoryBias, size, 3 * size, memory, at, kept, 0);
    for (let k = 0; k < size; ++k) {
      const reset = 1 / (1 + Math.exp(-(seen[k] + kept[k])));
      const update = 1 / (1 + Math.exp(-(seen[size + k] + kept[size + k])));
      const fresh = Math.tanh(seen[2 * size + k] + reset * kept[2 * size + k]);
      memory[at + k] = fresh + update * (memory[at + k] - fresh);
    }
  }
}

/** Layers one after the other. */
export class Mlp {
  /**
   * @param {Weights} weights
   * @param {string} name
   * @param {number} inputs
   * @param {Options} options
   * @param {Room} room
   */
  constructor(weights, name, inputs, options, room) {
    this.activation = options.activation;
    /** @type {Linear[]} */
    this.layers = [];
    for (const width of widthsOf(options)) {
      const layer = `${name}.layers.${this.layers.length}`;
      this.layers.push(new Linear(weights, layer, inputs, width, room));
      inputs = width;
    }
    this.rows = this.layers.map((layer) => room.array(layer.outputs));
    this.outputs = inputs;
  }

  /** @param {Float32Array} row */
  run(row) {
    for (let k = 0; k < this.layers.length; ++k) {
      this.layers[k].run(row, 0, this.rows[k], 0);
      row = this.rows[k];
      activate(this.activation, row, 0, row.length);
    }
    return row;
  }
}
