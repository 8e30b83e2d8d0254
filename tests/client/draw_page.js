// The page of test_records_in_browsers.py: shows hashes of what a module makes of a saved state.

import { Module, digestOf } from "../../client/simulator/module.js";
import { drawn } from "./drawing.js";

/** @param {string} url */
async function bytesAt(url) {
  return new Uint8Array(await (await fetch(url)).arrayBuffer());
}

async function hashes() {
  const task = JSON.parse(await (await fetch("task.json")).text());
  const module = await Module.load(await bytesAt(task.module));
  for (const { name, url } of task.data) module.call("ge_hold_file", name, await bytesAt(url));
  /** @type {Record<string, string>} */
  const found = {};
  for (const [name, bytes] of Object.entries(drawn(module, task, await bytesAt("state"))))
    found[name] = await digestOf(bytes);
  return JSON.stringify(found);
}

const shown = document.createElement("output");
try {
  shown.textContent = await hashes();
} catch (problem) {
  shown.textContent = String(problem);
}
document.body.append(shown);
