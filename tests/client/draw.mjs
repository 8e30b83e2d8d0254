// Loads a state that the package saved and writes what a module makes of it, for test_same_bits.py:
// node draw.mjs STEM TASK.json STATE OUT
import { readFileSync, writeFileSync } from "node:fs";

import { FOLDER, loaded } from "../../scripts/web/modules.mjs";
import { drawn } from "./drawing.js";

const [stem, task, state, out] = process.argv.slice(2);
const found = drawn(
  await loaded(FOLDER, stem),
  JSON.parse(readFileSync(task, "utf8")),
  new Uint8Array(readFileSync(state)),
);
for (const [name, bytes] of Object.entries(found)) writeFileSync(`${out}.${name}`, bytes);
