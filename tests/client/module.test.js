// The loader and its simulator, on CartPole's module.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import {
  EngineError,
  Module,
  NotAModule,
  digestOf,
  missing,
} from "../../client/simulator/module.js";
import { Float, Simulator, written } from "../../client/simulator/simulator.js";

const FILE = new URL("../../gpu_envs/modules/cartpole.wasm", import.meta.url);
const bytes = new Uint8Array(readFileSync(FILE));
const load = () => Module.load(bytes.slice());
const cartpole = async (settings = {}, parameters = {}) =>
  new Simulator(await load(), "CartPole-v0", settings, parameters);

test("this node has what modules need", () => assert.equal(missing(), ""));

test("a module describes its environment", async () => {
  const described = JSON.parse((await load()).text("ge_describe"));
  assert.deepEqual(
    described.map((/** @type {{id: string}} */ one) => one.id),
    ["CartPole-v0"],
  );
});

test("a step moves the worlds, and the same seed gives the same outputs", async () => {
  const runs = [];
  for (let k = 0; k < 2; ++k) {
    const simulator = await cartpole({ worlds: 5 });
    simulator.reset(7);
    const first = simulator.output("obs").slice();
    for (let step = 0; step < 20; ++step) {
      simulator.sampleActions(3);
      simulator.step();
    }
    assert.notDeepEqual(simulator.output("obs"), first);
    runs.push([...simulator.output("obs"), ...simulator.output("reward")]);
  }
  assert.deepEqual(runs[0], runs[1]);
});

test("an action outside of its range is refused by name, and nothing has moved", async () => {
  const simulator = await cartpole();
  simulator.reset(1);
  const before = simulator.record(0);
  simulator.actions[0] = 2;
  assert.throws(() => simulator.step(), {
    name: "EngineError",
    kind: "value",
    message: /world 0.*2/,
  });
  assert.deepEqual(simulator.record(0), before);
  simulator.actions[0] = 1;
  simulator.step();
  assert.notDeepEqual(simulator.record(0), before);
});

test("an unknown environment, setting, parameter or value is refused by name", async () => {
  const module = await load();
  /** @typedef {import("../../client/simulator/simulator.js").Values} Values */
  /** @type {(id: string, settings?: Values, parameters?: Values) => () => Simulator} */
  const made =
    (...given) =>
    () =>
      new Simulator(module, ...given);
  assert.throws(made("Chess-v0"), /no environment 'Chess-v0'/);
  assert.throws(made("CartPole-v0", { colour: 3 }), /'colour' is not a setting/);
  assert.throws(made("CartPole-v0", { worlds: new Float(2) }), /worlds must be a whole number/);
  assert.throws(made("CartPole-v0", { worlds: 0 }), /at least 1/);
  assert.throws(made("CartPole-v0", { autoreset: "Sometimes" }), /NextStep, SameStep, Disabled/);
  assert.throws(made("CartPole-v0", {}, { gravity_of_jupiter: 1 }), /gravity_of_jupiter/);
  assert.throws(made("CartPole-v0", {}, { velocities: 3 }), EngineError);
  assert.doesNotThrow(made("CartPole-v0"));
});

test("a call before a simulator is made is refused", async () => {
  assert.throws(() => new Simulator(new Module({ exports: {} }), "CartPole-v0"));
  const module = await load();
  assert.throws(() => module.call("ge_step"), { kind: "runtime", message: /ge_make/ });
});

test("more worlds than fit are refused before memory is taken", async () => {
  const module = await load();
  const before = module.memory.buffer.byteLength;
  assert.throws(() => new Simulator(module, "CartPole-v0", { worlds: 100_000_000 }), {
    kind: "memory",
  });
  assert.ok(module.memory.buffer.byteLength - before < 2 ** 21);
});

test("a saved state is restored to the byte", async () => {
  const simulator = await cartpole({ worlds: 3 });
  simulator.reset(5);
  simulator.sampleActions(1);
  simulator.step();
  const state = simulator.save();
  const record = simulator.record(2);
  const seen = simulator.output("obs").slice();
  simulator.sampleActions(1);
  simulator.step();
  assert.notDeepEqual(simulator.record(2), record);
  simulator.load(state);
  assert.deepEqual(simulator.record(2), record);
  assert.deepEqual(simulator.output("obs"), seen);
  state[state.length >> 1] ^= 1;
  assert.throws(() => simulator.load(state), EngineError);
  assert.deepEqual(simulator.record(2), record);
});

test("a picture has the asked size and changes with the world", async () => {
  const simulator = await cartpole();
  simulator.reset(5);
  const draw = () => simulator.picture({ width: 120, height: 80, samples: 1 }).slice();
  const first = draw();
  assert.equal(first.length, 4 * 120 * 80);
  assert.ok(first.every((byte, k) => k % 4 !== 3 || byte === 255));
  for (let step = 0; step < 15; ++step) simulator.step();
  assert.notDeepEqual(draw(), first);
  assert.throws(() => simulator.picture({ width: 0, height: 80 }), EngineError);
  assert.throws(
    () => simulator.picture({ world: 1, width: 120, height: 80 }),
    /world 1 does not exist/,
  );
});

test("texts with a zero are refused, and whole numbers stay apart from floats", () => {
  assert.throws(() => written({ name: "a\0b" }), EngineError);
  assert.equal(
    written({ a: 1, b: new Float(1), c: 0.5, d: true, e: "x", f: 2n ** 60n }),
    "a\0i1\0b\0f1\0c\0f0.5\0d\0btrue\0e\0sx\0f\0i1152921504606846976\0",
  );
});

test("bytes that are not a module, or another's, are not started", async () => {
  /** @type {string[]} */
  const lines = [];
  /** @type {(data: Uint8Array<ArrayBuffer>, options?: {digest?: string}) => Promise<Module>} */
  const loaded = (data, options) =>
    Module.load(data, { print: (line) => lines.push(line), ...options });
  await assert.rejects(loaded(bytes.slice(0, 1000)), NotAModule);
  await assert.rejects(loaded(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])), NotAModule);
  await assert.rejects(loaded(bytes.slice(), { digest: "00" }), /not the one that belongs/);
  await loaded(bytes.slice(), { digest: await digestOf(bytes) });
  assert.deepEqual(lines, []);
});

test("fuzzed modules never run code: they are damaged, or have another digest", async () => {
  const digest = await digestOf(bytes);
  let number = 12345;
  /** @param {number} below */
  const draw = (below) => (number = (Math.imul(number, 1103515245) + 12345) >>> 0) % below;
  for (let k = 0; k < 200; ++k) {
    const changed = bytes.slice();
    for (let n = 1 + draw(4); n > 0; --n) changed[draw(changed.length)] ^= 1 + draw(255);
    await assert.rejects(Module.load(changed, { digest }), NotAModule);
  }
});
