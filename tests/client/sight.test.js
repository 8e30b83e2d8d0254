// What agents see, made only when it is asked for: of every module that was built.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Simulator } from "../../client/simulator/simulator.js";
import { FOLDER, loaded, stemsIn } from "../../scripts/web/modules.mjs";

const STEPS = 30;

/**
 * @param {Simulator} simulator
 * @param {number} seed
 * @param {boolean} sight
 */
function step(simulator, seed, sight) {
  simulator.sampleActions(seed);
  simulator.step({ sight });
}

/** @param {Simulator} simulator */
function shown(simulator) {
  const names = Object.keys(simulator.outputs).sort();
  return Object.fromEntries(names.map((name) => [name, simulator.output(name).slice()]));
}

for (const stem of stemsIn(FOLDER)) {
  test(`${stem}: steps without sight lead to the same world, and the same is seen then`, async () => {
    const module = await loaded(FOLDER, stem);
    for (const { id } of JSON.parse(module.text("ge_describe"))) {
      const run = (/** @type {(k: number) => boolean} */ sees) => {
        const simulator = new Simulator(module, id, { worlds: 2, autoreset: "NextStep" });
        simulator.reset(3);
        for (let k = 0; k < STEPS; ++k) step(simulator, k, sees(k));
        return { shown: shown(simulator), records: [simulator.record(0), simulator.record(1)] };
      };
      const always = run(() => true);
      assert.deepEqual(
        run(() => false),
        always,
        id,
      );
      assert.deepEqual(
        run((k) => k % 3 === 0),
        always,
        id,
      );
      const sight = Object.values(new Simulator(module, id).outputs).filter((one) => one.is_sight);
      assert.ok(sight.length >= 1, id);
    }
  });
}
