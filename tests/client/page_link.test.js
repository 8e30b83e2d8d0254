// Links and files: what is written is read again, and whatever else is read is refused by a sentence.
import assert from "node:assert/strict";
import { test } from "node:test";

import {
  MOST_STEPS,
  MOST_WORLD,
  NotReadable,
  checkedPlace,
  fileOf,
  linkOf,
  readFile,
  readLink,
} from "../../client/page/link.js";

/** @typedef {import("../../client/page/link.js").Place} Place */

const IDS = ["CartPole-v0", "HideSeek-v0"];
const FUZZED = 2000;

/** @type {Place} */
const PLACE = {
  id: "HideSeek-v0",
  parameters: { profile: "openai", hider_count: 2, arena_size: 0.25, lasers: true },
  options: { layout: "wall 1 2\nbox 3 4 # & = %" },
  seed: Number.MAX_SAFE_INTEGER,
  world: MOST_WORLD,
  limit: 0,
  steps: MOST_STEPS,
  players: { hider: "trained", seeker: "random" },
  drawn: true,
};
const PLAIN = checkedPlace({ id: "CartPole-v0" }, IDS);
const EPISODE = {
  ...{ ...PLAIN, steps: 3 },
  ...{ words: 2, isFloat: false, actions: Int32Array.of(1, -2, 3, 2 ** 31 - 1, -(2 ** 31), 0) },
};

/** Numbers from 0 to 1 that are the same in every run. */
function chance() {
  let state = 12345;
  return () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * A text with a few changed, dropped, doubled or added characters.
 * @param {string} text
 * @param {() => number} draw
 */
function damaged(text, draw) {
  const pieces = [
    "%",
    "&",
    "=",
    "null",
    "[]",
    "{}",
    "-0",
    "1e999",
    "__proto__",
    '"',
    "\0",
    "é",
    "9",
  ];
  let found = text;
  for (let k = 0; k <= draw() * 4; ++k) {
    const at = Math.floor(draw() * (found.length + 1));
    const piece = pieces[Math.floor(draw() * pieces.length)];
    const gap = Math.floor(draw() * 12);
    found = found.slice(0, at) + (draw() < 0.7 ? piece : "") + found.slice(at + gap);
  }
  return found;
}

/** @param {Place} place */
function assertChecked(place) {
  assert.deepEqual(checkedPlace({ ...place }, IDS), place);
}

test("a link is read as it was written", () => {
  for (const place of [PLACE, PLAIN]) assert.deepEqual(readLink(linkOf(place), IDS), place);
  assert.equal(readLink("", IDS), null);
});

test("bounds of numbers are refused by name", () => {
  for (const [name, value] of [
    ["seed", "-1"],
    ["seed", "0.5"],
    ["seed", String(2 ** 53)],
    ["world", String(MOST_WORLD + 1)],
    ["steps", String(MOST_STEPS + 1)],
    ["limit", String(2 ** 31)],
    ["steps", "null"],
    ["steps", "[1]"],
  ]) {
    const read = () => readLink(`id=CartPole-v0&${name}=${value}`, IDS);
    if (value === "null") assert.equal(read()?.steps, 0);
    else
      assert.throws(read, { name: "NotReadable", message: new RegExp(name) }, `${name} ${value}`);
  }
});

test("what is no link is refused", () => {
  for (const text of [
    "id=Chess-v0",
    "seed=1",
    "id=CartPole-v0&colour=3",
    "id=CartPole-v0&seed=x",
    "id=CartPole-v0&p.__proto__=1",
    "id=CartPole-v0&p.a=null",
    "id=CartPole-v0&p.a=[1]",
    `id=CartPole-v0&o.a="${"x".repeat(5000)}"`,
    `id=CartPole-v0&${"x".repeat(1 << 16)}`,
  ])
    assert.throws(() => readLink(text, IDS), NotReadable, text.slice(0, 60));
});

test("damaged links are a checked place or NotReadable, never another error", () => {
  const draw = chance();
  let readable = 0;
  for (let k = 0; k < FUZZED; ++k) {
    const text = damaged(linkOf(PLACE), draw);
    try {
      const place = readLink(text, IDS);
      if (place === null) continue;
      assertChecked(place);
      ++readable;
    } catch (problem) {
      assert.ok(problem instanceof NotReadable, `${text}: ${problem}`);
    }
  }
  assert.ok(readable > 0 && readable < FUZZED);
});

test("a file is read as it was written", () => {
  assert.deepEqual(readFile(fileOf(EPISODE), IDS), EPISODE);
  const empty = { ...EPISODE, steps: 0, actions: new Int32Array(0) };
  assert.deepEqual(readFile(fileOf(empty), IDS), empty);
});

test("a file whose actions do not fit its steps is refused", () => {
  const given = JSON.parse(fileOf(EPISODE));
  for (const change of [
    { steps: 2 },
    { words: 3 },
    { actions: "AAAA" },
    { actions: "*" },
    { actions: { toString: 1 } },
    { format: "gpu_envs episode 2" },
    { id: { toString: 1 } },
    { parameters: [1] },
  ])
    assert.throws(() => readFile(JSON.stringify({ ...given, ...change }), IDS), NotReadable);
  for (const text of ["", "null", "1", "[]", "{}"])
    assert.throws(() => readFile(text, IDS), NotReadable);
});

test("damaged files are a checked episode or NotReadable, never another error", () => {
  const draw = chance();
  for (let k = 0; k < FUZZED; ++k) {
    const text = damaged(fileOf(EPISODE), draw);
    try {
      const { actions, words, isFloat, ...place } = readFile(text, IDS);
      assert.equal(actions.length, words * place.steps);
      assert.equal(typeof isFloat, "boolean");
      assertChecked(place);
    } catch (problem) {
      assert.ok(problem instanceof NotReadable, `${text}: ${problem}`);
    }
  }
});
