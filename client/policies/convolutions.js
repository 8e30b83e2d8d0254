// Convolutions and maxima over pictures, which lie row by row with their channels last.

import { NotAPolicy } from "./archive.js";
import { multiply } from "./layers.js";

/**
 * @typedef {import("./weights.js").Room} Room
 * @typedef {import("./weights.js").Weights} Weights
 * @typedef {[number, number, number]} Extents Height, width and channels.
 */

/** A convolution of a picture with black borders. */
export class Convolution {
  /**
   * @param {Weights} weights
   * @param {string} name
   * @param {Extents} extents Of the picture.
   * @param {number} made Channels of the results.
   * @param {number} kernel
   * @param {number} stride
   * @param {[number, number]} margin Of black, above and to the left.
   * @param {Room} room
   */
  constructor(weights, name, extents, made, kernel, stride, margin, room) {
    const [height, width, channels] = extents;
    const places = [height, width].map(
      (n, k) => Math.floor((n + 2 * margin[k] - kernel) / stride) + 1,
    );
    /** @type {Extents} */
    this.extents = [places[0], places[1], made];
    if (!(places[0] >= 1 && places[1] >= 1))
      throw new NotAPolicy("The file's pictures are too small for its network.");
    const [side, inputs] = [kernel * kernel, kernel * kernel * channels];
    room.work(inputs * made * places[0] * places[1]);
    const given = weights.take(`${name}.weight`, made, channels, kernel, kernel);
    this.weight = new Float32Array(given.length); // with channels last
    for (let k = 0; k < given.length; ++k) {
      const [filter, channel, place] = [
        Math.floor(k / inputs),
        Math.floor(k / side) % channels,
        k % side,
      ];
      this.weight[filter * inputs + place * channels + channel] = given[k];
    }
    this.bias = weights.take(`${name}.bias`, made);
    this.seen = room.array(inputs); // what one place sees
    this.out = room.array(places[0] * places[1] * made);
    this.from = extents;
    this.kernel = kernel;
    this.stride = stride;
    this.margin = margin;
  }

  /**
   * The results for a picture.
   * @param {Float32Array} image
   */
  run(image) {
    const { kernel, stride, margin, seen, out, weight, bias } = this;
    const [height, width, channels] = this.from;
    const [rows, columns, made] = this.extents;
    const length = kernel * channels;
    let at = 0;
    for (let y = 0; y < rows; ++y)
      for (let x = 0; x < columns; ++x, at += made) {
        const left = x * stride - margin[1];
        const [first, end] = [Math.max(left, 0), Math.min(left + kernel, width)];
        for (let k = 0; k < kernel; ++k) {
          const row = y * stride - margin[0] + k;
          const begin = k * length;
          if (row < 0 || row >= height || first !== left || end !== left + kernel)
            seen.fill(0, begin, begin + length);
          if (row < 0 || row >= height) continue;
          const [from, to] = [(row * width + first) * channels, (row * width + end) * channels];
          const shift = begin + (first - left) * channels - from;
          for (let n = from; n < to; ++n) seen[shift + n] = image[n];
        }
        multiply(weight, bias, seen.length, made, seen, 0, out, at);
      }
    return out;
  }
}

/** The greatest of every 3 x 3 places, two steps apart. */
export class Pool {
  /**
   * @param {Extents} extents
   * @param {Room} room
   */
  constructor(extents, room) {
    const [height, width, channels] = extents;
    this.from = extents;
    /** @type {Extents} */
    this.extents = [(height + 1) >> 1, (width + 1) >> 1, channels];
    this.out = room.array(this.extents[0] * this.extents[1] * channels);
  }

  /**
   * The results for a picture.
   * @param {Float32Array} image
   */
  run(image) {
    const [height, width, channels] = this.from;
    const [rows, columns] = this.extents;
    const { out } = this;
    out.fill(-Infinity);
    for (let y = 0; y < rows; ++y)
      for (let x = 0; x < columns; ++x) {
        const at = (y * columns + x) * channels;
        for (let v = Math.max(2 * y - 1, 0); v < Math.min(2 * y + 2, height); ++v)
          for (let u = Math.max(2 * x - 1, 0); u < Math.min(2 * x + 2, width); ++u) {
            const from = (v * width + u) * channels;
            for (let k = 0; k < channels; ++k)
              if (image[from + k] > out[at + k]) out[at + k] = image[from + k];
          }
      }
    return out;
  }
}
