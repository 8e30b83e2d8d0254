// The network of one policy: encoder, memory, and its two heads, as gpu_envs/policies/networks.py
// has it.

import { Attention } from "./attention.js";
import { Cell, Linear, Mlp, Norm } from "./layers.js";
import { Cnn, Patches, Residual } from "./pictures.js";
import { Weights } from "./weights.js";

/**
 * @typedef {import("./distributions.js").Numbers} Numbers
 * @typedef {import("./options.js").Options} Options
 * @typedef {import("./rows.js").Actions} Actions
 * @typedef {import("./rows.js").RowShape} RowShape
 * @typedef {import("./tree.js").Tree} Tree
 * @typedef {import("./weights.js").Room} Room
 * @typedef {{outputs: number, run: (row: Float32Array) => Float32Array}} Encoder
 */

const FAR = 10; // limit of normalised observations [deviations]

/** Normalises each number of a row by the mean and the deviation that training has seen. */
class Inputs {
  /**
   * @param {Weights} weights
   * @param {string} name
   * @param {number} size
   */
  constructor(weights, name, size) {
    weights.drop(`${name}.moments`);
    this.mean = weights.take(`${name}.mean`, size);
    this.factor = weights.take(`${name}.factor`, size);
  }

  /**
   * Normalise numbers in place.
   * @param {Float32Array} x
   * @param {number} at
   */
  run(x, at) {
    const { mean, factor } = this;
    for (let k = 0; k < mean.length; ++k) {
      const scaled = Math.fround(x[at + k] - mean[k]) * factor[k];
      x[at + k] = scaled < -FAR ? -FAR : scaled > FAR ? FAR : scaled;
    }
  }
}

/**
 * The encoder that the options name.
 * @param {Weights} weights
 * @param {string} name
 * @param {RowShape} shape
 * @param {boolean} isFirst Whether channels of pictures come first, where weights leave it open.
 * @param {Options} options
 * @param {Room} room
 * @returns {Encoder}
 */
function encoderOf(weights, name, shape, isFirst, options, room) {
  switch (options.encoder) {
    case "cnn":
      return new Cnn(weights, name, shape, isFirst, options, room);
    case "patches":
      return new Patches(weights, name, shape, isFirst, options, room);
    case "residual":
      return new Residual(weights, name, shape, isFirst, options, room);
    case "attention":
      return new Attention(weights, name, shape, options, room);
    default:
      return new Mlp(weights, name, shape.size, options, room);
  }
}

/** Actor and critic of one kind of agent. It sees one row at a time. */
export class Network {
  /**
   * @param {string} name
   * @param {Options} options Of its role.
   * @param {RowShape} shape
   * @param {boolean} isFirst
   * @param {Actions} actions
   * @param {Map<string, Tree>} state Its weights.
   * @param {Room} room
   */
  constructor(name, options, shape, isFirst, actions, state, room) {
    const weights = new Weights(state);
    this.name = name;
    this.options = options;
    this.shape = shape;
    this.actions = actions;
    this.memorySize = options.memory;
    this.seesState = options.critic_state;
    this.isShared = options.share || (options.memory > 0 && !this.seesState);
    this.encoder = encoderOf(weights, "encoder", shape, isFirst, options, room);
    this.inputs = options.normalize_observations ? new Inputs(weights, "inputs", shape.size) : null;
    let width = this.encoder.outputs;
    let criticWidth = options.memory > 0 && this.isShared ? options.memory : width;
    /** @type {Encoder | null} */
    this.critic = null;
    this.stateSize = 0;
    /** @type {Inputs | null} */
    this.stateInputs = null;
    if (this.seesState) {
      const seen = weights.extents("critic_encoder.layers.0.weight")[1] ?? 0;
      this.stateSize = Math.max(seen - shape.size, 0);
      this.critic = new Mlp(weights, "critic_encoder", shape.size + this.stateSize, options, room);
      if (options.normalize_observations)
        this.stateInputs = new Inputs(weights, "state_inputs", this.stateSize);
      criticWidth = this.critic.outputs;
    } else if (!this.isShared)
      this.critic = encoderOf(weights, "critic_encoder", shape, isFirst, options, room);
    /** @type {Cell | null} */
    this.cell = null;
    /** @type {Norm | null} */
    this.normIn = null;
    /** @type {Norm | null} */
    this.normOut = null;
    if (options.memory > 0) {
      if (options.memory_norm) {
        this.normIn = new Norm(weights, "norm_in", width);
        this.normOut = new Norm(weights, "norm_out", options.memory);
      }
      this.cell = new Cell(weights, "cell", width, options.memory, room);
      width = options.memory;
    }
    this.actor = new Linear(weights, "actor", width, actions.outputs, room);
    this.logDeviations = actions.isFloat ? weights.take("log_std", actions.outputs) : null;
    this.valueHead = new Linear(weights, "critic", criticWidth, 1, room);
    weights.drop("scale.moments");
    this.mean = weights.take("scale.mean")[0];
    this.deviation = weights.take("scale.deviation")[0];
    weights.end();
    /** How many numbers the networks have. */
    this.weights = weights.count;
    this.row = room.array(shape.size + this.stateSize); // normalised, with the state behind it
    this.between = room.array(Math.max(this.encoder.outputs, width));
    /** What the actor said last: logits or means. */
    this.outputs = room.array(actions.outputs);
    this.spoken = room.array(1);
    /** What the critic shares with the actor. @type {Float32Array} */
    this.features = this.between;
  }

  /**
   * Take a part of a row, to be seen by the next `look`.
   * @param {Numbers} numbers
   * @param {number} at Where the part begins there.
   * @param {number} divisor
   * @param {number} first Where it begins in the row.
   * @param {number} size
   */
  take(numbers, at, divisor, first, size) {
    for (let k = 0; k < size; ++k) this.row[first + k] = numbers[at + k] / divisor;
  }

  /**
   * See the row that was taken: `outputs` is what the actor says, and the memory becomes the next
   * one.
   * @param {Float32Array} memory Of all rows; empty without memory.
   * @param {number} memoryAt
   */
  look(memory, memoryAt) {
    const { row, shape } = this;
    if (this.options.blind) row.fill(0, 0, shape.seen);
    this.inputs?.run(row, 0);
    let x = this.encoder.run(row);
    if (this.cell !== null) {
      if (this.normIn !== null) {
        this.normIn.run(x, 0, this.between, 0);
        x = this.between;
      }
      this.cell.run(x, memory, memoryAt);
      x = this.between;
      if (this.normOut !== null) this.normOut.run(memory, memoryAt, x, 0);
      else for (let k = 0; k < this.memorySize; ++k) x[k] = memory[memoryAt + k];
    }
    this.actor.run(x, 0, this.outputs, 0);
    this.features = x;
    return this.outputs;
  }

  /**
   * The value of the row that was seen last, in the units of rewards. A critic that sees the state
   * says nothing without one: then the value is the mean of those that training has seen.
   * @param {Numbers | null} state Of the world.
   * @param {number} at
   */
  value(state = null, at = 0) {
    this.spoken[0] = 0;
    if (this.critic === null) this.valueHead.run(this.features, 0, this.spoken, 0);
    else if (!this.seesState || state !== null) {
      const { size } = this.shape;
      if (state !== null)
        for (let k = 0; k < this.stateSize; ++k) this.row[size + k] = state[at + k];
      this.stateInputs?.run(this.row, size);
      this.valueHead.run(this.critic.run(this.row), 0, this.spoken, 0);
    }
    return this.spoken[0] * this.deviation + this.mean;
  }
}
