// Encoders that see pictures, as gpu_envs/policies/encoders.py has them. `run` returns the last
// layer's activations, which the next call replaces.

import { NotAPolicy } from "./archive.js";
import { Convolution, Pool } from "./convolutions.js";
import { Mlp, activate } from "./layers.js";

/**
 * @typedef {import("./convolutions.js").Extents} Extents
 * @typedef {import("./options.js").Options} Options
 * @typedef {import("./rows.js").RowShape} RowShape
 * @typedef {import("./weights.js").Room} Room
 * @typedef {import("./weights.js").Weights} Weights
 */

const CHANNELS = 32; // of convolutions
const IMAGE = 36; // the least side of a picture at which convolutions have strides
const LARGE_PLAN = [
  [8, 4, 0],
  [4, 2, 0],
  [3, 1, 0],
]; // kernel, stride and margin of each
const SMALL_PLAN = [
  [3, 1, 1],
  [3, 1, 1],
];
const PATCH = 4; // pixels of a patch, along each side
const SMALL = 40; // places of a picture that are not reduced further
const STAGES = [8, 16, 16]; // channels of each stage of residual blocks
const BLOCKS = 2; // of a stage

/** A picture in a row, of one layer or several, brought to channels last. */
class Picture {
  /**
   * @param {number[][]} shapes Of its layers.
   * @param {number} at Where it begins in a row.
   * @param {boolean} isFirst Whether the channels come first.
   * @param {Room} room
   */
  constructor(shapes, at, isFirst, room) {
    const channel = isFirst ? 0 : 2;
    const [height, width] = shapes[0].filter((_, axis) => axis !== channel);
    this.layers = shapes.map((shape) => shape[channel]);
    const channels = this.layers.reduce((sum, n) => sum + n, 0);
    /** @type {Extents} */
    this.extents = [height, width, channels];
    this.at = at;
    this.isFirst = isFirst;
    this.out = room.array(height * width * channels);
  }

  /** @param {Float32Array} row */
  run(row) {
    const { out } = this;
    const [height, width, channels] = this.extents;
    const places = height * width;
    let from = this.at;
    let first = 0;
    for (const own of this.layers) {
      const [next, beside] = this.isFirst ? [places, 1] : [1, own];
      for (let c = 0; c < own; ++c)
        for (let k = 0; k < places; ++k)
          out[k * channels + first + c] = row[from + c * next + k * beside];
      from += own * places;
      first += own;
    }
    return out;
  }
}

/**
 * Whether the channels of a picture come first: as the weights of its first convolution say, and
 * where they leave it open, as the package decides it.
 * @param {Weights} weights
 * @param {string} name
 * @param {number[][]} shapes Of the picture's layers.
 * @param {boolean} isFirst
 */
function comesFirst(weights, name, shapes, isFirst) {
  const depth = weights.extents(`${name}.weight`)[1];
  const along = (/** @type {number} */ axis) => shapes.reduce((sum, shape) => sum + shape[axis], 0);
  return along(0) === along(2) ? isFirst : depth === along(0);
}

/** Convolutions over each field of three axes, then layers over everything. */
export class Cnn {
  /**
   * @param {Weights} weights
   * @param {string} name
   * @param {RowShape} shape
   * @param {boolean} isFirst
   * @param {Options} options
   * @param {Room} room
   */
  constructor(weights, name, shape, isFirst, options, room) {
    this.activation = options.activation;
    this.sizes = shape.sizes;
    /** For each field its convolutions, none for plain numbers. */
    this.fields = shape.shapes.map(() => {
      return {
        picture: /** @type {Picture | null} */ (null),
        stack: /** @type {Convolution[]} */ ([]),
      };
    });
    let number = 0;
    let at = 0;
    let size = 0;
    for (const [k, extents] of shape.shapes.entries()) {
      if (extents.length === 3) {
        const stack = `${name}.stacks.${number++}`;
        const first = comesFirst(weights, `${stack}.0`, [extents], isFirst);
        const picture = new Picture([extents], at, first, room);
        this.fields[k] = { picture, stack: convolutions(weights, stack, picture.extents, room) };
        size += this.fields[k].stack[this.fields[k].stack.length - 1].out.length;
      } else size += shape.sizes[k];
      at += shape.sizes[k];
    }
    if (number === 0) throw new NotAPolicy("The file's network needs a picture, and sees none.");
    this.row = room.array(size);
    this.last = new Mlp(weights, `${name}.last`, size, options, room);
    this.outputs = this.last.outputs;
  }

  /** @param {Float32Array} row */
  run(row) {
    let [from, at] = [0, 0];
    for (let k = 0; k < this.fields.length; ++k) {
      const { picture, stack } = this.fields[k];
      if (picture === null) {
        for (let n = 0; n < this.sizes[k]; ++n) this.row[at + n] = row[from + n];
        at += this.sizes[k];
      } else {
        let image = picture.run(row);
        for (const layer of stack) {
          image = layer.run(image);
          activate(this.activation, image, 0, image.length);
        }
        const places = image.length / CHANNELS; // channels come first in what follows
        for (let n = 0; n < places; ++n)
          for (let c = 0; c < CHANNELS; ++c)
            this.row[at + c * places + n] = image[n * CHANNELS + c];
        at += image.length;
      }
      from += this.sizes[k];
    }
    return this.last.run(this.row);
  }
}

/**
 * @param {Weights} weights
 * @param {string} name
 * @param {Extents} extents
 * @param {Room} room
 */
function convolutions(weights, name, extents, room) {
  const isLarge = Math.min(extents[0], extents[1]) >= IMAGE;
  const plan = isLarge ? LARGE_PLAN : SMALL_PLAN;
  /** @type {Convolution[]} */
  const made = [];
  for (const [kernel, stride, margin] of plan) {
    const layer = `${name}.${made.length}`;
    const sides = /** @type {[number, number]} */ ([margin, margin]);
    made.push(new Convolution(weights, layer, extents, CHANNELS, kernel, stride, sides, room));
    extents = made[made.length - 1].extents;
  }
  return made;
}

/** The picture of a row, and the numbers beside it, which join what becomes of it. */
class Sight {
  /**
   * @param {Weights} weights
   * @param {string} layer The first convolution.
   * @param {RowShape} shape
   * @param {boolean} isFirst
   * @param {Room} room
   */
  constructor(weights, layer, shape, isFirst, room) {
    const shapes = shape.shapes.slice(0, shape.pictures || shape.shapes.length);
    if (shapes.some((extents) => extents.length !== 3))
      throw new NotAPolicy("The file's network needs a picture, and sees something else.");
    const first = comesFirst(weights, layer, shapes, isFirst);
    const sides = shapes.map((extents) => (first ? extents.slice(1) : extents.slice(0, 2)).join());
    if (new Set(sides).size > 1)
      throw new NotAPolicy("The file's network needs one picture, and sees several.");
    this.picture = new Picture(shapes, 0, first, room);
    this.beside = shape.size - this.picture.out.length;
    this.end = shape.size;
    this.joined = room.array(0);
  }

  /**
   * Make room for an image of `size` numbers and those beside it; returns how many they are.
   * @param {number} size
   * @param {Room} room
   */
  join(size, room) {
    if (this.beside > 0) this.joined = room.array(size + this.beside);
    return size + this.beside;
  }

  /**
   * An image with the numbers beside it.
   * @param {Float32Array} image
   * @param {Float32Array} row
   */
  handOn(image, row) {
    if (this.beside === 0) return image;
    this.joined.set(image);
    this.joined.set(row.subarray(this.end - this.beside, this.end), image.length);
    return this.joined;
  }
}

/** A picture's patches as linear layers see them, convolutions that halve it, then layers. */
export class Patches {
  /**
   * @param {Weights} weights
   * @param {string} name
   * @param {RowShape} shape
   * @param {boolean} isFirst
   * @param {Options} options
   * @param {Room} room
   */
  constructor(weights, name, shape, isFirst, options, room) {
    this.activation = options.activation;
    this.sight = new Sight(weights, `${name}.convolutions.0`, shape, isFirst, room);
    let extents = this.sight.picture.extents;
    // Where patches do not divide a side, borders complete the last ones.
    const margin = /** @type {[number, number]} */ (
      [extents[0], extents[1]].map((n) => (((PATCH - (n % PATCH)) % PATCH) + 1) >> 1)
    );
    /** @type {Convolution[]} */
    this.layers = [];
    const add = (
      /** @type {number} */ made,
      /** @type {number} */ kernel,
      /** @type {number} */ stride,
      /** @type {[number, number]} */ border,
    ) => {
      const layer = `${name}.convolutions.${this.layers.length}`;
      const next = new Convolution(weights, layer, extents, made, kernel, stride, border, room);
      this.layers.push(next);
      extents = next.extents;
    };
    add(CHANNELS / 2, PATCH, PATCH, margin);
    add(CHANNELS, 3, 1, [1, 1]);
    while (extents[0] * extents[1] > SMALL) add(CHANNELS, 3, 2, [1, 1]);
    const size = this.sight.join(extents[0] * extents[1] * CHANNELS, room);
    this.last = new Mlp(weights, `${name}.last`, size, options, room);
    this.outputs = this.last.outputs;
  }

  /** @param {Float32Array} row */
  run(row) {
    let image = this.sight.picture.run(row);
    for (const layer of this.layers) {
      image = layer.run(image);
      activate(this.activation, image, 0, image.length);
    }
    return this.last.run(this.sight.handOn(image, row));
  }
}

/** Halves a picture by the greatest of every 3 x 3 places, then adds what blocks make of it. */
class Stage {
  /**
   * @param {Weights} weights
   * @param {string} name
   * @param {Extents} extents
   * @param {number} made
   * @param {string} activation
   * @param {Room} room
   */
  constructor(weights, name, extents, made, activation, room) {
    this.activation = activation;
    const layer = (/** @type {string} */ which, /** @type {Extents} */ seen) =>
      new Convolution(weights, `${name}.${which}`, seen, made, 3, 1, [1, 1], room);
    this.first = layer("first", extents);
    this.pool = new Pool(this.first.extents, room);
    this.extents = this.pool.extents;
    const blocks = Array.from({ length: BLOCKS }, (_, k) => k);
    this.inner = blocks.map((k) => layer(`inner.${k}`, this.extents));
    this.outer = blocks.map((k) => layer(`outer.${k}`, this.extents));
    this.seen = room.array(this.pool.out.length);
  }

  /** @param {Float32Array} image */
  run(image) {
    const { seen, activation } = this;
    const x = this.pool.run(this.first.run(image));
    for (let k = 0; k < BLOCKS; ++k) {
      seen.set(x);
      activate(activation, seen, 0, seen.length);
      const inner = this.inner[k].run(seen);
      activate(activation, inner, 0, inner.length);
      const added = this.outer[k].run(inner);
      for (let n = 0; n < x.length; ++n) x[n] += added[n];
    }
    return x;
  }
}

/** Stages of residual blocks that halve a picture, then layers. */
export class Residual {
  /**
   * @param {Weights} weights
   * @param {string} name
   * @param {RowShape} shape
   * @param {boolean} isFirst
   * @param {Options} options
   * @param {Room} room
   */
  constructor(weights, name, shape, isFirst, options, room) {
    this.activation = options.activation;
    this.sight = new Sight(weights, `${name}.stages.0.first`, shape, isFirst, room);
    let extents = this.sight.picture.extents;
    this.stages = STAGES.map((made, k) => {
      const stage = `${name}.stages.${k}`;
      const next = new Stage(weights, stage, extents, made, options.activation, room);
      extents = next.extents;
      return next;
    });
    const size = this.sight.join(extents[0] * extents[1] * extents[2], room);
    this.last = new Mlp(weights, `${name}.last`, size, options, room);
    this.outputs = this.last.outputs;
  }

  /** @param {Float32Array} row */
  run(row) {
    let image = this.sight.picture.run(row);
    for (const stage of this.stages) image = stage.run(image);
    activate(this.activation, image, 0, image.length);
    return this.last.run(this.sight.handOn(image, row));
  }
}
