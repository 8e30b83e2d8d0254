// Policy files and their networks: files that are damaged, layers by themselves, and a game.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

import { crc32, membersOf } from "../../client/policies/archive.js";
import { Convolution, Pool } from "../../client/policies/convolutions.js";
import { Categorical, Gaussian } from "../../client/policies/distributions.js";
import { Cell, Norm, activate, multiply } from "../../client/policies/layers.js";
import { ACTIONS } from "../../client/policies/noise.js";
import { policyOfEach } from "../../client/policies/options.js";
import {
  DoesNotFit,
  EVALUATION,
  Noise,
  NotAPolicy,
  OPPONENTS,
  Player,
  Policy,
} from "../../client/policies/policy.js";
import { actionsOf } from "../../client/policies/rows.js";
import { StoredArray } from "../../client/policies/tree.js";
import { Room, Weights } from "../../client/policies/weights.js";
import { Module } from "../../client/simulator/module.js";
import { Simulator } from "../../client/simulator/simulator.js";

const ROOT = new URL("../../", import.meta.url);
/** @param {string} name */
const read = (name) => new Uint8Array(readFileSync(new URL(name, ROOT)));
const bytes = read("trained/CartPole-v0.ckpt");

/** Numbers that look random, the same in each run. @param {number} seed */
function numbers(seed) {
  let number = seed;
  return (/** @type {number} */ below) =>
    ((number = (Math.imul(number, 1103515245) + 12345) >>> 0) >>> 8) % below;
}

/** @param {number} seed @param {number} count */
function floats(seed, count) {
  const draw = numbers(seed);
  return Float32Array.from({ length: count }, () => draw(2001) / 1000 - 1);
}

/** Weights that are not in a file. @param {Record<string, Float32Array>} kept */
function weightsOf(kept) {
  const weights = new Weights(new Map());
  weights.take = (name) => kept[name];
  return weights;
}

/**
 * @param {ArrayLike<number>} found
 * @param {ArrayLike<number>} expected
 */
function near(found, expected, most = 1e-6) {
  assert.equal(found.length, expected.length);
  for (let k = 0; k < found.length; ++k)
    assert.ok(Math.abs(found[k] - expected[k]) <= most, `${k}: ${found[k]}, not ${expected[k]}`);
}

// ---- files

/** What the policy in a file says of a row. @param {Uint8Array} file */
function saidBy(file) {
  const player = Policy.read(file).player();
  player.look(Float32Array.from([0.1, -0.2, 0.03, 0.4]), null, {
    values: true,
  });
  return [...player.outputs, ...player.values];
}

/** An archive of members, with right checksums. @param {Map<string, Uint8Array>} members */
function archiveOf(members) {
  /** @type {Uint8Array[]} */
  const local = [];
  /** @type {Uint8Array[]} */
  const central = [];
  let [at, directory] = [0, 0];
  const long = (/** @type {number} */ n) => [n & 255, (n >> 8) & 255, (n >> 16) & 255, n >>> 24];
  for (const [name, content] of members) {
    const letters = Array.from(new TextEncoder().encode(name));
    const facts = [20, 0, 0, 0, 0, 0, 0, 0, 33, 0, ...long(crc32(content))];
    facts.push(...long(content.length), ...long(content.length), ...long(letters.length));
    const entry = [0x50, 0x4b, 1, 2, 20, 0, ...facts, ...new Array(10).fill(0), ...long(at)];
    central.push(Uint8Array.from([...entry, ...letters]));
    local.push(Uint8Array.from([0x50, 0x4b, 3, 4, ...facts, ...letters]), content);
    at += 30 + letters.length + content.length;
    directory += 46 + letters.length;
  }
  const count = long(members.size).slice(0, 2);
  const end = [0x50, 0x4b, 5, 6, 0, 0, 0, 0, ...count, ...count, ...long(directory), ...long(at)];
  const made = Buffer.concat([...local, ...central, Uint8Array.from([...end, 0, 0])]);
  return new Uint8Array(made);
}

/**
 * The file with other bytes in a member.
 * @param {string} name
 * @param {(content: Uint8Array) => Uint8Array} change
 */
function changed(name, change) {
  const members = membersOf(bytes);
  members.set(name, change(members.get(name) ?? new Uint8Array()));
  return archiveOf(members);
}

/** The file with another description. @param {(text: string) => string} change */
function described(change) {
  return changed("checkpoint.json", (content) => {
    const text = new TextDecoder().decode(content);
    const next = change(text);
    assert.notEqual(next, text);
    return new TextEncoder().encode(next);
  });
}

/** @param {Uint8Array} file @param {RegExp} message */
function refused(file, message) {
  assert.throws(
    () => Policy.read(file),
    (/** @type {any} */ error) => {
      assert.ok(error instanceof NotAPolicy, String(error));
      assert.match(error.message, message);
      assert.match(error.message, /^[A-Z][^\n]*\.$/);
      return true;
    },
  );
}

test("a file says what it was trained for", () => {
  const policy = Policy.read(read("trained/HideSeek-v0.ckpt"));
  assert.equal(policy.environment, "HideSeek-v0");
  assert.equal(policy.agents, 5);
  assert.equal(policy.hasMemory, true);
  assert.equal(policy.isSampled, false);
  assert.deepEqual(policy.trained, { payment: "own" });
  assert.deepEqual(policy.parameters, {
    payment: "team",
    preparation_steps: -1,
    sight_half_angle: -1,
  });
  assert.deepEqual(policy.facts[1], {
    name: "seeker",
    encoder: "mlp",
    hidden: "128,128",
    activation: "relu",
    memory: 64,
    weights: 79624,
  });
  const economy = Policy.read(read("trained/CovidEconomy-v0.ckpt"));
  assert.deepEqual(economy.settings, { max_episode_steps: 405 });
  assert.equal(economy.parameters.max_episode_steps, undefined);
  assert.deepEqual(
    economy.kinds.map(({ name, agents }) => [name, agents]),
    [
      ["governor", 51],
      ["planner", 1],
    ],
  );
});

test("bytes of colours become 0 to 1, other bytes stay", () => {
  const player = (/** @type {string} */ id) => Policy.read(read(`trained/${id}-v0.ckpt`)).player();
  assert.equal(player("Collect").divisor, 255);
  assert.equal(player("Overcooked").divisor, 1);
});

test("every kept file is read", () => {
  const names = readdirSync(new URL("trained", ROOT), { recursive: true }).map(String);
  const files = names.filter((name) => name.endsWith(".ckpt"));
  assert.ok(files.length > 15);
  for (const name of files) assert.ok(Policy.read(read(`trained/${name}`)).networks.size > 0);
});

test("a file that was written again says the same", () => {
  assert.deepEqual(saidBy(Buffer.from([0, ...bytes]).subarray(1)), saidBy(bytes));
  assert.deepEqual(saidBy(archiveOf(membersOf(bytes))), saidBy(bytes));
});

test("files of another kind are refused", () => {
  refused(new Uint8Array(), /empty/);
  refused(new TextEncoder().encode("PNG"), /not a policy of gpu_envs/);
  refused(bytes.subarray(0, bytes.length - 1), /does not end as it should/);
  refused(bytes.subarray(0, 1000), /does not end as it should/);
  refused(Uint8Array.from([...bytes, 0]), /does not end/);
  refused(archiveOf(new Map([["0.npy", bytes]])), /another kind/);
  refused(archiveOf(new Map([["checkpoint.js", bytes]])), /another kind/);
  refused(
    described((text) => text.replace("gpu_envs checkpoint", "other")),
    /another kind/,
  );
  refused(
    described((text) => text.replace('"version":1', '"version":2')),
    /another version/,
  );
  refused(
    described((text) => text.slice(1)),
    /not JSON/,
  );
  refused(
    described((text) => text.replace('"kind","policy"', '"kind","song"')),
    /no policies/,
  );
});

test("a member whose bytes changed, or that is compressed, is refused by name", () => {
  const flipped = bytes.slice();
  flipped[30000] ^= 4;
  refused(flipped, /\d+\.npy has another checksum/);
  const packed = bytes.slice();
  const directory = new DataView(packed.buffer).getUint32(packed.length - 6, true);
  packed[directory + 10] = 8;
  refused(packed, /compressed/);
});

test("descriptions that do not fit the weights are refused", () => {
  const other = (/** @type {string} */ from, /** @type {string} */ to) =>
    described((text) => text.replace(from, to));
  refused(other('"hidden","64,64"', '"hidden","64,65"'), /shape/);
  refused(other('"hidden","64,64"', '"hidden","99999,99999"'), /work|shape|memory/);
  refused(other('"hidden","64,64"', '"hidden","64"'), /shape|not ask for/);
  refused(other('"hidden","64,64"', '"hidden","1e3"'), /option hidden/);
  refused(other('"memory",0', '"memory",-1'), /option memory/);
  refused(other('"memory",0', '"memory",64'), /lacks the weights/);
  refused(other('"encoder","mlp"', '"encoder","patches"'), /picture/);
  refused(other('"encoder","mlp"', '"encoder","cnn"'), /picture/);
  const layers = '["rgb",[3,8,8]],["depth",[1,4,8]],';
  refused(
    described((text) =>
      text.replace('["x",[]],["velocity",[]],', layers).replace('"mlp"', '"patches"'),
    ),
    /needs one picture, and sees several/,
  );
  refused(other('"encoder","mlp"', '"encoder","attention"'), /entities/);
  refused(other('"encoder","mlp"', '"encoder","constructor"'), /option encoder/);
  refused(other('"share",false', '"shares",false'), /not known here/);
  refused(other('"share",false', '"share",0'), /option share/);
  refused(other("Discrete(2)", "Discrete(3)"), /shape/);
  refused(other("Discrete(2)", "Discrete(0)"), /no choices/);
  refused(other("Discrete(2)", "Text(3)"), /space of actions/);
  refused(other('["x",[]]', '["x",[5000000,5000000]]'), /shape of a field/);
  refused(other('["x",[]]', '["x",[4000000,4000000]]'), /too many/);
  refused(other('["velocity",[]]', '["x",[]]'), /key twice/);
  refused(other('{"tensor":"1.npy"', '{"tensor":"0.npy"'), /names a member/);
  refused(other('{"tensor":"0.npy"', '{"tensor":"99.npy"'), /names a member/);
  refused(other('{"tensor":"0.npy"', '{"tensor":"checkpoint.json"'), /not an array/);
  refused(other('"dtype":"float32"', '"dtype":"int32"'), /of a type/);
  refused(other('["kind","policy"]', `["kind",${"[".repeat(40)}${"]".repeat(40)}]`), /too deep/);
  refused(other("{", `${" ".repeat(2 ** 20)}{`), /too long/);
});

test("arrays that are not what they say are refused", () => {
  const other = (/** @type {(text: string) => string} */ change) =>
    changed("0.npy", (content) => {
      const head = String.fromCharCode(...content.subarray(0, 128));
      const next = Uint8Array.from(change(head), (letter) => letter.charCodeAt(0));
      return Uint8Array.from([...next, ...content.subarray(128)]);
    });
  refused(
    other((head) => head.replace("(64, 4)", "(64, 5)")),
    /shape/,
  );
  refused(
    other((head) => head.replace("(64, 4)", "(4, 64)")),
    /shape/,
  );
  refused(
    other((head) => head.replace("<f4", "|O8")),
    /says nothing/,
  );
  refused(
    other((head) => head.replace("<f4", "<f8")),
    /of a type/,
  );
  refused(
    other((head) => head.replace("NUMPY", "numpy")),
    /not an array/,
  );
  refused(
    other((head) => head.slice(0, -1)),
    /says nothing/,
  );
  refused(
    other((head) => `${head}\0`),
    /another length/,
  );
  refused(
    other((head) => head.replace("v\0", "\xff\xff")),
    /too long a header/,
  );
  refused(
    changed("0.npy", (content) => {
      const next = content.slice();
      next.fill(0xff, 128, 132);
      return next;
    }),
    /NaN or infinite/,
  );
});

test("an array in order of columns is read as rows", () => {
  const turned = changed("0.npy", (content) => {
    const next = content.slice();
    const head = String.fromCharCode(...content.subarray(0, 128));
    const text = head.replace("False", "True").replace("\n", " \n");
    next.set(Uint8Array.from(text, (letter) => letter.charCodeAt(0)));
    for (let row = 0; row < 64; ++row)
      for (let column = 0; column < 4; ++column) {
        const from = 128 + 4 * (row * 4 + column);
        next.set(content.subarray(from, from + 4), 128 + 4 * (column * 64 + row));
      }
    return next;
  });
  assert.deepEqual(saidBy(turned), saidBy(bytes));
});

test("weights of other precision become single", () => {
  const header = (/** @type {string} */ type) =>
    `{'descr': '${type}', 'fortran_order': False, 'shape': (5,), }`.padEnd(117) + "\n";
  const stored = (
    /** @type {string} */ type,
    /** @type {string} */ torch,
    /** @type {any} */ data,
  ) => {
    const letters = Array.from(header(type), (letter) => letter.charCodeAt(0));
    const begin = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, letters.length, 0];
    return new StoredArray("0.npy", Uint8Array.from([...begin, ...letters, ...data]), torch);
  };
  const halves = new Uint8Array(Uint16Array.from([0, 0x3c00, 0xc100, 1, 0x7bff]).buffer);
  near(stored("<f2", "float16", halves).floats([5]), [0, 1, -2.5, 2 ** -24, 65504], 0);
  const brains = new Uint8Array(Uint16Array.from([0, 0x3f80, 0xc020, 1, 0x4040]).buffer);
  near(stored("<i2", "bfloat16", brains).floats([5]), [0, 1, -2.5, 2 ** -133, 3], 0);
  const doubles = new Uint8Array(Float64Array.from([0, 1, -2.5, 0.1, 3]).buffer);
  near(stored("<f8", "float64", doubles).floats([5]), [0, 1, -2.5, Math.fround(0.1), 3], 0);
  const infinite = new Uint8Array(Uint16Array.from([0, 0x7c00, 0, 0, 0]).buffer);
  assert.throws(() => stored("<f2", "float16", infinite).floats([5]), /NaN or infinite/);
  assert.throws(() => stored("<i2", "int16", halves).floats([5]), /of a type/);
});

test("fuzzed files are refused, or say the same", () => {
  const expected = saidBy(bytes);
  const draw = numbers(99);
  let read = 0;
  for (let k = 0; k < 500; ++k) {
    let next = bytes.slice();
    // A third of the changes are in the directory at the end, a third at the beginning.
    const from = [0, 0, next.length - 1200][k % 3];
    const length = [next.length, 2500, 1200][k % 3];
    for (let n = 1 + draw(3); n > 0; --n) next[from + draw(length)] ^= 1 + draw(255);
    if (k % 10 === 8) next = next.slice(0, draw(next.length));
    if (k % 10 === 9) next.copyWithin(draw(next.length), draw(next.length));
    try {
      assert.deepEqual(saidBy(next), expected);
      ++read;
    } catch (problem) {
      assert.ok(problem instanceof NotAPolicy, String(problem));
    }
  }
  assert.ok(read < 200, `${read} were read`);
});

test("fuzzed descriptions and arrays with right checksums are refused, or read", () => {
  const draw = numbers(7);
  const members = membersOf(bytes);
  const names = ["checkpoint.json", "checkpoint.json", "0.npy", "4.npy"];
  const words = [
    "9",
    "-1",
    "{}",
    "[]",
    "null",
    '"',
    "1e99",
    ",",
    "[",
    "]",
    "true",
    '"__proto__"',
    "0",
  ];
  let refusals = 0;
  for (let k = 0; k < 500; ++k) {
    const name = names[k % names.length];
    const content = Array.from(members.get(name) ?? []);
    const length = name.endsWith("json") ? content.length : 128;
    for (let n = 1 + draw(3); n > 0; --n) {
      const word = words[draw(words.length)];
      const letters = Array.from(word, (letter) => letter.charCodeAt(0));
      if (draw(2) === 0) content.splice(draw(length), draw(6), ...letters);
      else content[draw(length)] ^= 1 + draw(127);
    }
    const file = archiveOf(new Map([...members, [name, Uint8Array.from(content)]]));
    try {
      saidBy(file);
    } catch (problem) {
      ++refusals;
      assert.ok(
        problem instanceof NotAPolicy,
        `${problem} ${new TextDecoder().decode(file.subarray(0, 3000))}`,
      );
    }
  }
  assert.ok(refusals > 250, `${refusals} were refused`);
});

// ---- layers

test("a product is the sum of products, whatever the number of outputs", () => {
  for (const outputs of [1, 3, 4, 7, 8]) {
    const [weight, bias, x] = [floats(1, 5 * outputs), floats(2, outputs), floats(3, 7)];
    const expected = Array.from(bias, (sum, row) => {
      for (let i = 0; i < 5; ++i) sum += weight[row * 5 + i] * x[2 + i];
      return sum;
    });
    const out = new Float32Array(outputs + 1).fill(9);
    multiply(weight, bias, 5, outputs, x, 2, out, 1);
    near(out, [9, ...expected]);
  }
});

test("activations change their part only", () => {
  const x = Float32Array.from([-1, -1, 2, 2]);
  activate("relu", x, 1, 2);
  near(x, [-1, 0, 2, 2]);
  activate("tanh", x, 2, 1);
  near(x, [-1, 0, Math.tanh(2), 2]);
});

test("a norm has mean 0 and deviation 1 before it is scaled", () => {
  const kept = {
    "n.weight": Float32Array.from([1, 1, 2]),
    "n.bias": Float32Array.from([0, 0, 5]),
  };
  const out = new Float32Array(3);
  new Norm(weightsOf(kept), "n", 3).run(Float32Array.from([1, 2, 3]), 0, out, 0);
  near(out, [-1.2247357, 0, 5 + 2 * 1.2247357], 1e-5);
});

test("a cell says what torch's says", () => {
  /** @param {number} count @param {number} shift */
  const line = (count, shift) => Float32Array.from({ length: count }, (_, k) => 0.1 * k - shift);
  const kept = {
    "c.weight_ih": line(18, 0),
    "c.weight_hh": line(27, 0.3),
    "c.bias_ih": line(9, 0.6),
    "c.bias_hh": line(9, 0.9),
  };
  const cell = new Cell(weightsOf(kept), "c", 2, 3, new Room());
  const memory = Float32Array.from([7, 0.1, 0.2, -0.3, 7]);
  cell.run(Float32Array.from([0.5, -1]), memory, 1);
  near(memory, [7, -0.48506647, -0.44416325, -0.5433014, 7]);
});

test("a convolution is the sum over its kernel, with black borders", () => {
  const cases = [
    { size: [5, 6, 3], made: 5, kernel: 3, stride: 1, margin: [1, 1] },
    { size: [6, 7, 2], made: 4, kernel: 4, stride: 4, margin: [1, 1] },
    { size: [9, 8, 1], made: 3, kernel: 3, stride: 2, margin: [1, 0] },
    { size: [3, 3, 2], made: 2, kernel: 5, stride: 1, margin: [2, 2] },
  ];
  for (const { size, made, kernel, stride, margin } of cases) {
    const [height, width, channels] = size;
    const weight = floats(4, made * channels * kernel * kernel);
    const kept = { "c.weight": weight, "c.bias": floats(5, made) };
    const extents = /** @type {[number, number, number]} */ (size);
    const sides = /** @type {[number, number]} */ (margin);
    const layer = new Convolution(
      ...[weightsOf(kept), "c", extents, made, kernel, stride, sides, new Room()],
    );
    const image = floats(6, height * width * channels);
    /** @type {number[]} */
    const expected = [];
    for (let y = 0; y < layer.extents[0]; ++y)
      for (let x = 0; x < layer.extents[1]; ++x)
        for (let o = 0; o < made; ++o) {
          let sum = kept["c.bias"][o];
          for (let c = 0; c < channels; ++c)
            for (let v = 0; v < kernel; ++v)
              for (let u = 0; u < kernel; ++u) {
                const [row, column] = [y * stride + v - margin[0], x * stride + u - margin[1]];
                if (row < 0 || row >= height || column < 0 || column >= width) continue;
                const at = ((o * channels + c) * kernel + v) * kernel + u;
                sum += weight[at] * image[(row * width + column) * channels + c];
              }
          expected.push(sum);
        }
    near(layer.run(image), expected, 1e-5);
    near(layer.run(image), expected, 1e-5); // again: nothing of the last picture stays
  }
});

test("a pool takes the greatest of nine places, without a border of zeros", () => {
  const pool = new Pool([3, 4, 1], new Room());
  assert.deepEqual(pool.extents, [2, 2, 1]);
  const image = Float32Array.from([-5, -2, -3, -4, -6, -7, -8, -9, -10, -11, -12, -13]);
  near(pool.run(image), [-2, -2, -6, -7]);
});

test("networks may not ask for more memory or work than is allowed", () => {
  const room = new Room();
  assert.throws(() => room.array(2 ** 25), NotAPolicy);
  assert.throws(() => new Room().work(2 ** 31), NotAPolicy);
  assert.throws(() => new Room().work(NaN), NotAPolicy);
});

// ---- actions

test("forbidden choices are never taken", () => {
  const actions = new Categorical([3, 2], false);
  const raw = Float32Array.from([9, 1, 2, 0, 50]);
  const words = actions.room(1);
  const mask = Int8Array.from([7, 0, 1, 1, 1, 0]); // after a row of another agent
  actions.normalise(raw, 0, mask, 1);
  actions.likeliest(words, 0);
  assert.deepEqual([...words], [2, 0]);
  for (let k = 0; k <= 100; ++k) {
    actions.sample(words, 0, () => k / 100, 0);
    assert.equal(words[1], 0);
    assert.ok(words[0] > 0);
  }
  actions.uniform(mask, 1, words, 0, () => 0.4, 0);
  assert.deepEqual([...words], [1, 0]);
});

test("draws follow the probabilities", () => {
  const actions = new Categorical([3], true);
  actions.normalise(Float32Array.from([Math.log(0.2), Math.log(0.5), Math.log(0.3)]), 0, null, 0);
  near(actions.logs, [0.2, 0.5, 0.3].map(Math.log));
  const words = actions.room(1);
  const drawn = (/** @type {number} */ noise) => {
    actions.sample(words, 0, () => noise, 0);
    return words[0];
  };
  assert.deepEqual([0, 0.19, 0.21, 0.69, 0.71, 0.999, 1].map(drawn), [0, 0, 1, 1, 2, 2, 2]);
});

test("numbers stay within the bounds of the space", () => {
  const found = actionsOf("Box([-2. -inf], [4. inf], (2,), float32)");
  assert.ok(found instanceof Gaussian);
  const words = found.room(1);
  found.normalise(Float32Array.from([0.5, 100]), 0, null, 0, new Float32Array(2));
  found.likeliest(words, 0);
  near(words, [2.5, 100]);
  found.normalise(Float32Array.from([-9, 100]), 0, null, 0, new Float32Array(2));
  found.likeliest(words, 0);
  near(words, [-2, 100]);
  // Radius and turn: sqrt(-2 log(e^-2)) cos(0) = 2.
  const draws = [Math.exp(-2), Math.exp(-2), 0, 0.5];
  found.normalise(new Float32Array(2), 0, null, 0, new Float32Array(2).fill(-1));
  found.sample(words, 0, (_, column) => draws[column], 0);
  near(words, [1 + 3 * 2 * Math.exp(-1), -2 * Math.exp(-1)], 1e-5);
  found.uniform(null, 0, words, 0, (_, column) => draws[column], 0);
  near(words, [1 + 3 * (2 * Math.exp(-2) - 1), -2], 1e-5);
  found.sample(words, 0, () => 0, 0);
  assert.ok(words.every(Number.isFinite));
});

test("spaces are read as Gymnasium prints them", () => {
  const several = actionsOf("MultiDiscrete([11 11 11  2  2])");
  assert.ok(several instanceof Categorical && several.counts.join() === "11,11,11,2,2");
  assert.equal(actionsOf("MultiDiscrete([[3 3]\n [2 2]])").outputs, 10);
  assert.equal(actionsOf("Box(-1.0, 1.0, (3, 2), float32)").outputs, 6);
  const others = ["Box(-1.0, 1.0, (2,), float64)", "Box([-1. ... 0.], 1.0, (2,), float32)"];
  for (const space of [...others, "Discrete(3, start=1)", "MultiDiscrete([])"])
    assert.throws(() => actionsOf(space), NotAPolicy, space);
});

test("noise is the package's to the bit", () => {
  assert.equal(new Noise(7, EVALUATION).uniform(0, 0, 0), 0.34541553258895874);
  const far = new Noise(2n ** 63n - 1n, OPPONENTS);
  assert.equal(far.uniform(2 ** 31 + 5, 3 * 2 ** 40 + 17, 4), 0.1100274920463562);
  assert.equal(new Noise(1, ACTIONS).uniform(123, 45, 6), 0.08534926176071167);
});

// ---- who plays

test("agents have the policies of their roles", () => {
  const names = ["hider_0", "hider_1", "seeker_0"];
  const { options } = Policy.read(bytes);
  const each = (/** @type {object} */ own) => policyOfEach({ ...options, ...own }, names);
  assert.deepEqual(each({}), ["all", "all", "all"]);
  assert.deepEqual(each({ policies: "role" }), ["hider", "hider", "seeker"]);
  assert.deepEqual(each({ policies: "agent" }), names);
  assert.deepEqual(each({ policies: "a=seeker;b=hider_1,hider_0" }), ["b", "b", "a"]);
  assert.deepEqual(each({ policies: "a=hider_0" }), ["a", null, null]);
  assert.deepEqual(each({ learn: "seeker" }), [null, null, "seeker"]);
  assert.deepEqual(each({ policies: "agent", learn: "hider" }), ["hider_0", "hider_1", null]);
});

test("rows have memories of their own, which a reset clears", () => {
  const player = Policy.read(read("trained/HideSeek-v0.ckpt")).player("hider", 2);
  assert.throws(() => Policy.read(bytes).player("nobody"), /no policy 'nobody', but all/);
  const seen = floats(11, 2 * 176);
  const look = () => {
    player.look(seen);
    return [player.outputs.slice(0, 37), player.outputs.slice(37)];
  };
  const first = look();
  const second = look();
  assert.notDeepEqual(second[0], first[0]);
  player.reset(1);
  const third = look();
  assert.notDeepEqual(third[0], second[0]);
  assert.deepEqual(third[1], first[1]);
  player.reset();
  assert.deepEqual(look(), first);
});

/** @param {object} settings @param {object} parameters */
async function cartpole(settings = {}, parameters = {}) {
  const module = await Module.load(read("gpu_envs/modules/cartpole.wasm"));
  return new Simulator(module, "CartPole-v0", { ...settings }, { ...parameters });
}

test("a policy balances the pole in a module", async () => {
  const policy = Policy.read(bytes);
  const simulator = await cartpole({ worlds: 3, autoreset: "Disabled" }, policy.parameters);
  const team = policy.team(simulator.instance);
  simulator.reset(4);
  for (let step = 0; step < 300; ++step) {
    const words = team.act(team.seenIn(simulator), null, {
      greedy: step % 2 === 0,
      draw: Math.random,
    });
    simulator.actions.set(words);
    simulator.step();
    assert.ok(
      simulator.output("terminated").every((flag) => flag === 0),
      `step ${step}`,
    );
  }
});

test("a policy of another environment, or with other agents, is refused", async () => {
  const { instance } = await cartpole();
  const other = Policy.read(read("trained/TagGrid-v0.ckpt"));
  assert.throws(() => other.team(instance), DoesNotFit);
  const policy = Policy.read(bytes);
  assert.throws(() => policy.team({ ...instance, agents_per_world: 2 }), /trained with 1 agents/);
  const observation = instance.observation.slice(1);
  assert.throws(() => policy.team({ ...instance, observation }), /other parameters/);
  const action = [{ ...instance.action[0], choices: 3 }];
  assert.throws(() => policy.team({ ...instance, action }), /other parameters/);
});

test("five agents decide in well below 10 ms", () => {
  const policy = Policy.read(read("trained/HideSeek-v0.ckpt"));
  const players = [policy.player("hider", 3), policy.player("seeker", 2)];
  const seen = floats(12, 3 * 176);
  const times = Array.from({ length: 60 }, () => {
    const from = performance.now();
    for (const player of players) player.act(seen);
    return performance.now() - from;
  }).sort((a, b) => a - b);
  assert.ok(times[30] < 10, `${times[30]} ms`);
  assert.ok(players[0] instanceof Player);
});
