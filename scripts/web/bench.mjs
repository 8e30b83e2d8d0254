// Measures modules for web pages: node scripts/web/bench.mjs [--modules FOLDER] [ID ...]
// prints bytes packed by gzip (without the builder's label), steps a second of one world with random
// actions, and steps with a picture of 640 x 360 a second, of one ray a pixel and of four.

import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";

import { Simulator } from "../../client/simulator/simulator.js";
import { FOLDER, bytesOf, loaded, stemsIn } from "./modules.mjs";

const SECONDS = 1.0; // of a measurement; the best of three counts
const { values, positionals } = parseArgs({
  options: { modules: { type: "string", default: FOLDER } },
  allowPositionals: true,
});

/**
 * How often a call is made in a second.
 * @param {() => void} body
 */
function rate(body) {
  let best = 0;
  for (let k = 0; k < 3; ++k) {
    const begun = performance.now();
    let calls = 0;
    while (performance.now() - begun < 1000 * SECONDS) {
      body();
      ++calls;
    }
    best = Math.max(best, (1000 * calls) / (performance.now() - begun));
  }
  return best;
}

const number = (/** @type {number} */ value) =>
  (Number.isNaN(value) ? "-" : value.toFixed(value < 100 ? 1 : 0)).padStart(10);
const titles = ["gzip KB", "steps/s", "1 ray/s", "4 rays/s"];
console.log("id".padEnd(24), ...titles.map((title) => title.padStart(10)));
for (const stem of stemsIn(values.modules)) {
  const bytes = bytesOf(values.modules, stem);
  const module = await loaded(values.modules, stem);
  const label = WebAssembly.Module.customSections(new WebAssembly.Module(bytes), "gpu_envs")[0];
  const content = bytes.subarray(0, bytes.length - label.byteLength);
  const packed = gzipSync(content, { level: 9 }).length / 1000;
  for (const { id } of JSON.parse(module.text("ge_describe"))) {
    if (positionals.length > 0 && !positionals.includes(id)) continue;
    const simulator = new Simulator(module, id, { autoreset: "SameStep" });
    simulator.reset(1);
    let seed = 0;
    const step = () => {
      simulator.sampleActions(++seed);
      simulator.step();
    };
    const size = { width: 640, height: 360 };
    const draw = (/** @type {number} */ samples) => {
      if (!simulator.instance.scene) return NaN;
      return rate(() => {
        step();
        simulator.picture({ ...size, samples });
      });
    };
    const numbers = [packed, rate(step), draw(1), draw(2)];
    console.log(id.padEnd(24), ...numbers.map(number));
  }
}
