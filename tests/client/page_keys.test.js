// Actions by hand: what keys hold, what a short press does, and what is done at rest.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { Deeds, Hand, keyOf, spelt } from "../../client/page/keys.js";
import { Module } from "../../client/simulator/module.js";
import { Simulator } from "../../client/simulator/simulator.js";

/** @typedef {import("../../client/page/groups.js").Field} Field */

const HIDE_SEEK = new URL("../../gpu_envs/modules/hide_seek.wasm", import.meta.url);

/**
 * @param {string} name
 * @param {number} choices
 * @returns {Field}
 */
function field(name, choices) {
  const range = { low: 0, high: choices - 1, choices, default: null };
  return { name, type: "int32", shape: [], unit: "", doc: "", ...range };
}

const WALK = [field("walk", 3), field("jump", 2)];
const NAMES = ["left", "stand", "right", "keep", "jump"];
const KEYS = ["a", ".", "d", "", " "];
const hand = (person = 0) => new Hand(new Deeds(WALK, NAMES, KEYS), 0, person);
const deed = (/** @type {Hand} */ own, /** @type {string} */ key) => {
  const found = own.keys.get(key);
  assert.ok(found, `no deed has the key '${key}'`);
  return found;
};

test("the category that rests is done while no key is held", () => {
  const own = hand();
  assert.deepEqual(own.take(), [1, 0]);
  own.press(deed(own, "d"));
  own.take();
  assert.deepEqual(own.take(), [2, 0]);
  own.release(deed(own, "d"));
  assert.deepEqual(own.take(), [1, 0]);
});

test("a short press counts once, also while another key is held", () => {
  const own = hand();
  own.press(deed(own, " "));
  own.release(deed(own, " "));
  assert.deepEqual(own.take(), [1, 1]);
  assert.deepEqual(own.take(), [1, 0]);
  own.press(deed(own, "a"));
  own.take();
  own.press(deed(own, "d"));
  own.release(deed(own, "d"));
  assert.deepEqual(own.take(), [2, 0]);
  assert.deepEqual(own.take(), [0, 0]);
});

test("presses between two steps are kept once for each word", () => {
  const own = hand();
  for (let k = 0; k < 1000; ++k) own.press(deed(own, k % 2 ? "a" : "d"));
  assert.equal(own.due.length, 1);
  own.releaseAll();
  assert.deepEqual(own.take(), [1, 0]);
});

test("where every category has a key, the last one goes on", () => {
  const own = new Hand(new Deeds([field("push", 2)], ["left", "right"], ["a", "d"]), 0, 0);
  assert.deepEqual(own.take(), [0]);
  own.press(deed(own, "d"));
  own.release(deed(own, "d"));
  own.take();
  assert.deepEqual(own.take(), [1]);
});

test("a key moves to the action that it is given to last", () => {
  const own = hand();
  const [left, right] = [deed(own, "a"), deed(own, "d")];
  own.press(left);
  own.bind(right, "a");
  assert.equal(own.keys.get("a"), right);
  assert.equal(own.keys.has("d"), false);
  assert.equal([...own.keys.values()].includes(left), false);
  assert.deepEqual(own.take(), [1, 0]);
});

test("the second person has other keys, and later ones have none", () => {
  const own = hand(1);
  assert.deepEqual([...own.keys.keys()], ["ArrowLeft", "ArrowRight", "Enter"]);
  const both = new Deeds([field("walk", 2)], ["left", "up"], ["a", "ArrowLeft"]);
  assert.deepEqual([...both.keysOf(1).keys()], []);
  assert.equal(hand(2).keys.size, 0);
});

test("keys are kept where a world is made again with the same deeds", () => {
  const earlier = hand(1);
  earlier.bind(deed(earlier, "Enter"), "x");
  const own = hand(0);
  own.follow(earlier);
  assert.equal(own.person, 1);
  assert.equal(deed(own, "x"), own.deeds.all[4]);
  const other = new Hand(new Deeds([field("walk", 2)], ["on", "off"], ["a", "b"]), 0, 0);
  other.follow(earlier);
  assert.deepEqual([...other.keys.keys()], ["a", "b"]);
});

test("without keys a person chooses from a list, and numbers begin within their range", () => {
  assert.equal(new Hand(new Deeds([field("move", 4)], [], []), 0, 0).hasList, true);
  const force = { ...field("force", 2), type: "float32", choices: null, low: 2, high: 5 };
  const own = new Hand(new Deeds([force], [], []), 0, 0);
  assert.equal(own.hasList, false);
  assert.deepEqual(own.take(), [2]);
});

test("keys are named whatever Shift does", () => {
  assert.equal(keyOf({ key: "W" }), "w");
  assert.equal(keyOf({ key: "ArrowUp" }), "ArrowUp");
  assert.equal(spelt(" "), "space");
  assert.equal(spelt("ArrowUp"), "arrow up");
});

test("HideSeek's forces rest in the middle", { skip: lacks(HIDE_SEEK) }, async () => {
  const module = await Module.load(new Uint8Array(readFileSync(HIDE_SEEK)));
  const simulator = new Simulator(module, "HideSeek-v0", { worlds: 1 });
  const { action } = simulator.instance;
  const own = new Hand(new Deeds(action, simulator.actionNames(), simulator.actionKeys()), 0, 0);
  assert.deepEqual(own.take().slice(0, 3), [5, 5, 5]);
  own.press(deed(own, "d"));
  assert.deepEqual(own.take().slice(0, 3), [10, 5, 5]);
});

/** @param {URL} file */
function lacks(file) {
  return existsSync(file) ? false : "needs the module: python -m gpu_envs build --target wasm";
}
