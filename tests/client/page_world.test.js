// A live world on CartPole's module: the same bits by whichever way a step is reached.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { brainOf, drawOf } from "../../client/page/brain.js";
import { NotReadable, checkedPlace, fileOf, readFile } from "../../client/page/link.js";
import { LiveWorld } from "../../client/page/world.js";
import { Policy } from "../../client/policies/policy.js";
import { Module } from "../../client/simulator/module.js";

/**
 * @typedef {import("../../client/page/link.js").Place} Place
 * @typedef {import("../../client/page/world.js").Brain} Brain
 */

const ID = "CartPole-v0";
const bytes = readFileSync(new URL("../../gpu_envs/modules/cartpole.wasm", import.meta.url));
const HANABI = new URL("../../gpu_envs/modules/hanabi.wasm", import.meta.url);
const TRAINED = new URL(`../../trained/${ID}.ckpt`, import.meta.url);

/** A policy with a memory: it acts by the sum of what it has seen. @returns {Brain} */
function rememberer() {
  let sum = 0;
  return {
    remembers: true,
    begin: () => (sum = 0),
    act: (simulator) => {
      sum += Number(simulator.output("obs")[2]) + Number(simulator.output("obs")[0]);
      return Int32Array.of(sum > 0 ? 1 : 0);
    },
    keep: () => sum,
    restore: (kept) => (sum = kept),
  };
}

/** @param {Partial<Place>} given */
async function live(given = {}) {
  const place = { ...checkedPlace({ id: ID, seed: 7 }, [ID]), ...given };
  const module = await Module.load(new Uint8Array(bytes));
  return new LiveWorld(module, place, new Map([["memory", rememberer]]));
}

/** @param {LiveWorld} world */
function bitsOf(world) {
  return Buffer.from(world.simulator.record(0)).toString("hex");
}

/**
 * Play, and note the bits of every step.
 * @param {LiveWorld} world
 * @param {number} steps
 */
function played(world, steps) {
  const bits = [bitsOf(world)];
  while (world.steps < steps) {
    const before = world.steps;
    world.step();
    if (world.steps > before) bits[world.steps] = bitsOf(world);
  }
  return bits;
}

const MEMORY = { players: { player: "memory" } };

test("the same place gives the same bits, and other seeds and worlds others", async () => {
  const runs = [];
  for (const given of [{}, {}, { seed: 8 }, { world: 1 }])
    runs.push(played(await live(given), 40).join());
  assert.equal(runs[0], runs[1]);
  assert.equal(new Set(runs).size, 3);
});

test("worlds of neighbouring seeds do not draw the same actions one step later", async () => {
  const [one, two] = [await live({ seed: 1 }), await live({ seed: 2 })];
  for (const world of [one, two]) played(world, 64);
  assert.notDeepEqual(one.record.all().slice(1, 64), two.record.all().slice(0, 63));
});

for (const [name, given] of /** @type {[string, Partial<Place>][]} */ ([
  ["random actions", {}],
  ["a policy with a memory", MEMORY],
]))
  test(`any step of ${name} has the bits of its first passing`, async () => {
    const world = await live({ ...given, limit: 30 });
    const bits = played(world, 200);
    const later = world.returns.slice();
    for (const step of [0, 199, 64, 63, 65, 128, 30, 31, 5, 4, 6, 150, 1, 200]) {
      world.goTo(step);
      assert.equal(world.steps, step);
      assert.equal(bitsOf(world), bits[step], `step ${step}`);
    }
    assert.deepEqual(world.returns, later);
    world.goTo(-5);
    assert.equal(world.steps, 0);
    world.goTo(1e9);
    assert.equal(world.steps, 200);
  });

test("what comes after the record does not depend on the way back", async () => {
  const [straight, back] = [await live(MEMORY), await live(MEMORY)];
  const bits = played(straight, 260);
  played(back, 200);
  for (const step of [100, 20, 170]) back.goTo(step);
  back.goTo(200);
  assert.deepEqual(played(back, 260).slice(201), bits.slice(201));
});

test("a policy that joined in the middle remembers from there, also when passed again", async () => {
  const join = async () => {
    const world = await live({ limit: 500 });
    played(world, 10);
    world.setPlayer("player", "memory");
    played(world, 12);
    return world;
  };
  const [straight, back] = [await join(), await join()];
  back.goTo(3);
  back.goTo(12);
  assert.deepEqual(played(back, 100).slice(13), played(straight, 100).slice(13));
});

test("saved states are thinned, and steps are found between them", async () => {
  const world = await live();
  const bits = played(world, 6000);
  assert.ok(world.kept.size <= 65, String(world.kept.size));
  assert.ok(world.keepEvery > 64);
  for (const step of [5999, 100, 3333]) {
    world.goTo(step);
    assert.equal(bitsOf(world), bits[step]);
  }
});

test("a way to a step can be interrupted and gone on with", async () => {
  const world = await live();
  const bits = played(world, 150);
  world.goTo(3);
  let calls = 0;
  while (world.steps !== 140) {
    world.goTo(140, () => true);
    ++calls;
  }
  assert.equal(bitsOf(world), bits[140]);
  assert.ok(calls > 1);
});

test("an episode that is over is followed by the next one, at the same step", async () => {
  const world = await live({ limit: 5 });
  for (let k = 0; k < 5; ++k) world.step();
  assert.equal(world.isOver, true);
  const over = bitsOf(world);
  assert.equal(world.returns[0], 5);
  world.step();
  assert.deepEqual([world.isOver, world.steps, world.returns[0]], [false, 5, 0]);
  assert.notEqual(bitsOf(world), over);
  world.goTo(5);
  assert.deepEqual([world.isOver, bitsOf(world)], [true, over]);
});

test("a file replays to the same bits", async () => {
  const world = await live({ limit: 40 });
  played(world, 20);
  for (let k = 0; k < 10; ++k) world.step({ 0: [k % 2] });
  const bits = bitsOf(world);
  const episode = readFile(fileOf(world.episode()), [ID]);
  const again = await live({ ...episode });
  played(again, 100); // which is forgotten
  again.replay(episode);
  assert.equal(again.steps, 0);
  again.goTo(30);
  assert.equal(bitsOf(again), bits);
  assert.deepEqual(again.episode(), world.episode());
});

test("another future is played from a branch", async () => {
  const world = await live({ limit: 500 });
  const bits = played(world, 130);
  world.goTo(2);
  world.step({ 0: [1 - world.record.at(2)[0]] });
  assert.equal(bitsOf(world), bits[3], "a record is played as it was");
  world.goTo(2);
  world.branch();
  world.step({ 0: [1 - bitOf(world, 2)] });
  assert.equal(world.record.length, 3);
  assert.ok([...world.kept.keys()].every((step) => step <= 3));
});

/**
 * The action that a new world draws at a step.
 * @param {LiveWorld} world
 * @param {number} step
 */
function bitOf(world, step) {
  world.simulator.sampleActions(Math.floor(drawOf(world.place.seed, step) * 2 ** 32));
  return world.simulator.actions[0];
}

test("what cannot be is refused by a sentence, and nothing has moved", async () => {
  const world = await live();
  played(world, 3);
  const bits = bitsOf(world);
  const refused = [
    () => world.setPlayer("toString", "random"),
    () => world.setPlayer("player", "nobody"),
    () => world.step({ 1: [0] }),
    () => world.step({ 0: [0, 1] }),
    () => world.replay({ ...world.episode(), words: 2 }),
    () => world.replay({ ...world.episode(), isFloat: true }),
    () => world.replay({ ...world.episode(), actions: Int32Array.of(0, 1, 2) }),
  ];
  for (const does of refused) assert.throws(does, NotReadable);
  assert.throws(() => world.step({ 0: [2] }), { name: "EngineError" });
  assert.equal(bitsOf(world), bits);
  assert.equal(world.record.length, 3);
  world.step();
  assert.equal(world.steps, 4);
  await assert.rejects(live({ players: { nobody: "random" } }), NotReadable);
  await assert.rejects(live({ parameters: { nothing: 1 } }), { name: "EngineError" });
});

test("a world goes on after another could not be made in its module", async () => {
  const world = await live(MEMORY);
  const bits = played(world, 100);
  world.goTo(90);
  const place = { ...world.place, options: { low: 1, high: 0 }, players: {} };
  assert.throws(() => new LiveWorld(world.module, place), { name: "EngineError" });
  world.revive();
  assert.equal(world.steps, 90);
  assert.deepEqual(played(world, 100).slice(91), bits.slice(91));
});

test("a record that is full is told", async () => {
  const world = await live();
  world.steps = 100_000;
  assert.throws(() => world.step(), { name: "NotReadable", message: /full/ });
});

test("a world waits for people who are on turn", { skip: lacks(HANABI) }, async () => {
  const module = await Module.load(new Uint8Array(readFileSync(HANABI)));
  const place = checkedPlace({ id: "Hanabi-v0" }, ["Hanabi-v0"]);
  const world = new LiveWorld(module, place);
  const [first] = world.waitsFor({ 0: null, 1: null });
  assert.deepEqual(world.waitsFor({ [1 - first]: null }), []);
  assert.deepEqual(world.waitsFor({ [first]: [0] }), []);
  world.step();
  assert.deepEqual(world.waitsFor({ 0: null, 1: null }), [1 - first]);
  world.goTo(0);
  assert.deepEqual(world.waitsFor({ 0: null, 1: null }), [], "a record is played");
});

test(
  "a trained policy keeps the pole up, and draws the same game again",
  { skip: lacks(TRAINED) },
  async () => {
    const policy = Policy.read(new Uint8Array(readFileSync(TRAINED)));
    const module = await Module.load(new Uint8Array(bytes));
    const { parameters, settings } = policy;
    const limit = /** @type {number} */ (settings.max_episode_steps ?? 500);
    const place = checkedPlace({ id: ID, seed: 3, parameters, limit }, [ID]);
    const made = (/** @type {boolean} */ drawn) => {
      /** @type {(instance: Record<string, any>) => Brain} */
      const brain = (instance) => brainOf(policy, instance, { drawn, seed: 3 });
      const players = { player: "trained" };
      return new LiveWorld(module, { ...place, players }, new Map([["trained", brain]]));
    };
    const world = made(false);
    const bits = played(world, 200);
    assert.equal(world.returns[0], 200);
    world.goTo(77);
    assert.equal(bitsOf(world), bits[77]);
    const drawn = [played(made(true), 100), played(made(true), 100)];
    assert.deepEqual(drawn[0], drawn[1]);
  },
);

test("draws are functions of their keys, and spread", () => {
  assert.equal(drawOf(1, 2, 3), drawOf(1, 2, 3));
  const found = Array.from({ length: 4000 }, (_, k) => drawOf(5, k));
  const mean = found.reduce((sum, one) => sum + one, 0) / found.length;
  assert.ok(Math.abs(mean - 0.5) < 0.02);
  assert.ok(found.every((one) => one > 0 && one < 1));
});

/** @param {URL} file */
function lacks(file) {
  return existsSync(file) ? false : `is not here: ${file.pathname.split("/").at(-1)}`;
}
