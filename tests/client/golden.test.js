// Recorded cases in a module: CartPole's here; all of them by scripts/web/golden.mjs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { casesIn, parseCase, runCase } from "../../client/simulator/golden.js";
import { Module } from "../../client/simulator/module.js";

const root = new URL("../../", import.meta.url);
const bytes = () => new Uint8Array(readFileSync(new URL("gpu_envs/modules/cartpole.wasm", root)));
const cases = casesIn(readFileSync(new URL("tests/golden/cartpole.txt", root), "utf8"));

for (const one of cases)
  test(`${one.id} ${JSON.stringify(one.settings)} gives the recorded hashes`, async () => {
    const found = runCase(await Module.load(bytes()), one);
    assert.deepEqual([found.records, found.outputs], [one.records, one.outputs]);
  });

test("another seed gives other hashes", async () => {
  const found = runCase(await Module.load(bytes()), { ...cases[0], seed: cases[0].seed + 1n });
  assert.equal(found.same, false);
});

test("a line that is not a case is refused", () => {
  assert.throws(() => parseCase("CartPole-v0 | -"), /not a recorded case/);
});
