// Runs the recorded cases of tests/golden in modules for web pages: node scripts/web/golden.mjs
// [--long] [STEM ...]; without names all stems that have a module.

import { existsSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { casesIn, runCase } from "../../client/simulator/golden.js";
import { FOLDER, loaded, stemsIn } from "./modules.mjs";

const { values, positionals } = parseArgs({
  options: { long: { type: "boolean", default: false } },
  allowPositionals: true,
});

let wrong = 0;
for (const stem of positionals.length > 0 ? positionals : stemsIn(FOLDER)) {
  const files = [`tests/golden/${stem}.txt`];
  if (values.long) files.push(`tests/golden/long/${stem}.txt`);
  for (const file of files.filter(existsSync)) {
    const begun = performance.now();
    const cases = casesIn(readFileSync(file, "utf8"));
    for (const one of cases) {
      const found = runCase(await loaded(FOLDER, stem), one);
      if (found.same) continue;
      ++wrong;
      console.log(`${file}: ${one.id}, seed ${one.seed}: ${found.records} | ${found.outputs}`);
      console.log(`  recorded: ${one.records} | ${one.outputs}`);
    }
    const seconds = (performance.now() - begun) / 1000;
    console.log(`${file}: ${cases.length} cases, ${seconds.toFixed(1)} s`);
  }
}
console.log(wrong === 0 ? "all hashes are the recorded ones" : `${wrong} cases differ`);
process.exit(wrong === 0 ? 0 : 1);
