// Groups of agents, the pace of pictures, the record of actions, and turns.
import assert from "node:assert/strict";
import { test } from "node:test";

import { choicesIn, groupsOf, isFloat, wordsIn } from "../../client/page/groups.js";
import { LEVELS, Pace } from "../../client/page/pace.js";
import { Record as Actions } from "../../client/page/record.js";
import { Turns } from "../../client/page/turns.js";

const FIELD = { name: "x", type: "int32", shape: [], choices: 3, low: 0, high: 2 };

test("agents are in groups by the parts of their names before a number", () => {
  const names = ["hider_0", "seeker_0", "hider_1"];
  const found = groupsOf({
    ...{ agent_names: names, agents_per_world: 3 },
    ...{ action: [FIELD], observation: [], action_mask: true },
  });
  assert.deepEqual(
    found.map(({ name, agents, maskElements }) => [name, agents, maskElements]),
    [
      ["hider", [0, 2], 3],
      ["seeker", [1], 3],
    ],
  );
});

test("agents without names are one group, and roles are groups of their own", () => {
  const [one] = groupsOf({ agent_names: [], agents_per_world: 2, action: [], observation: [] });
  assert.deepEqual([one.name, one.agents], ["agent", [0, 1]]);
  const role = { count: 2, action: [FIELD], observation: [], elements: 4 };
  const roles = [
    { name: "a", first: 0, ...role },
    { name: "b", first: 2, ...role },
  ];
  assert.deepEqual(
    groupsOf({ roles, agents_per_world: 4 }).map(({ name, agents }) => [name, agents]),
    [
      ["a", [0, 1]],
      ["b", [2, 3]],
    ],
  );
});

test("words and categories of actions are counted with their shapes", () => {
  const action = /** @type {any} */ ([FIELD, { ...FIELD, shape: [2, 2], choices: 5 }]);
  assert.equal(wordsIn(action), 5);
  assert.equal(choicesIn(action), 23);
  assert.equal(isFloat(action), false);
  assert.equal(isFloat([]), false);
});

test("pictures become cheaper soon and better after a while", () => {
  const pace = new Pace();
  pace.drew(50, 20); // one slow picture changes nothing
  pace.drew(1, 20);
  assert.equal(pace.level, new Pace().level);
  for (let k = 0; k < 30; ++k) pace.drew(50, 20);
  assert.equal(pace.level, LEVELS.length - 1);
  assert.deepEqual(pace.sizeFor(640, 360, 20), { width: 224, height: 126, samples: 1 });
  assert.deepEqual(pace.sizeFor(640, 360, 0), { width: 640, height: 360, samples: 3 });
  assert.deepEqual(pace.sizeFor(8, 8, 20), { width: 8, height: 8, samples: 1 });
  const { level } = pace;
  let count = 0;
  for (; pace.level === level; ++count) pace.drew(1, 20);
  assert.equal(count, 20);
});

test("a better picture is tried only where it is expected to fit", () => {
  for (const [took, rises] of /** @type {[number, boolean][]} */ ([
    [3, true], // four times the rays: 12 of 20 milliseconds
    [4, false],
  ])) {
    const pace = new Pace();
    const { level } = pace;
    for (let k = 0; k < 100 && pace.level === level; ++k) pace.drew(took, 20);
    assert.equal(pace.level, rises ? level - 1 : level);
  }
});

test("a better picture that was tried in vain is tried more rarely", () => {
  const pace = new Pace();
  const tried = () => {
    const { level } = pace;
    let count = 0;
    for (; pace.level === level; ++count) pace.drew(1, 20);
    for (let k = 0; k < 3; ++k) pace.drew(50, 20);
    assert.equal(pace.level, level);
    return count;
  };
  assert.deepEqual([tried(), tried(), tried()], [20, 40, 80]);
  for (let k = 0; k < 10; ++k) tried();
  assert.equal(pace.patience, 640);
  pace.reset();
  assert.equal(tried(), 20);
});

test("a record grows, is cut, and is filled from a file", () => {
  const record = new Actions(2);
  for (let k = 0; k < 500; ++k) record.push(Int32Array.of(k, -k));
  assert.deepEqual([...record.at(499)], [499, -499]);
  record.cut(3);
  record.push(Int32Array.of(7, 8));
  assert.deepEqual([...record.all()], [0, 0, 1, -1, 2, -2, 7, 8]);
  record.fill(Int32Array.of(5, 6));
  record.push(Int32Array.of(7, 8));
  assert.deepEqual([...record.all()], [5, 6, 7, 8]);
});

test("turns are taken in order, one at a time, and the latest of a name counts", async () => {
  const turns = new Turns();
  /** @type {string[]} */
  const done = [];
  const slowly = (/** @type {string} */ text) => async () => {
    done.push(`${text}…`);
    await new Promise((resolve) => {
      setTimeout(resolve, 2);
    });
    done.push(text);
  };
  const all = turns.add(slowly("make"));
  turns.add(slowly("scrub 1"), "scrub");
  turns.add(slowly("scrub 2"), "scrub");
  assert.equal(turns.has("scrub"), true);
  await all;
  assert.deepEqual(done, ["make…", "make", "scrub 2…", "scrub 2"]);
  const rest = turns.add(slowly("one"));
  turns.add(slowly("two"));
  turns.clear();
  await rest;
  assert.deepEqual(done.slice(4), ["one…", "one"]);
});
