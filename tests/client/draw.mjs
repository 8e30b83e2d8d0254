// Loads a state that the package saved and writes pixels, text and record of one world, for test_same_bits.py:
// node draw.mjs STEM TASK.json OUT
import { readFileSync, writeFileSync } from "node:fs";

import { Simulator } from "../../client/simulator/simulator.js";
import { FOLDER, loaded } from "../../scripts/web/modules.mjs";

const [stem, task, out] = process.argv.slice(2);
const { id, state, settings, world, width, height } = JSON.parse(readFileSync(task, "utf8"));
const simulator = new Simulator(await loaded(FOLDER, stem), id, settings);
simulator.load(new Uint8Array(readFileSync(state)));
writeFileSync(`${out}.record`, simulator.record(world));
writeFileSync(`${out}.state`, simulator.save());
writeFileSync(`${out}.text`, simulator.text(world));
if (simulator.instance.scene)
  writeFileSync(`${out}.pixels`, simulator.picture({ world, width, height, samples: 2 }));
