// Modules for web pages as the builder leaves them in a clone.

import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { Module } from "../../client/simulator/module.js";

/** The folder into which `python -m gpu_envs build` puts modules. */
export const FOLDER = "gpu_envs/modules";

/**
 * Names of environments' modules in a folder.
 * @param {string} folder
 */
export function stemsIn(folder) {
  const names = readdirSync(folder).filter((name) => name.endsWith(".wasm"));
  return names.map((name) => name.slice(0, -".wasm".length)).sort();
}

/**
 * The bytes of a module.
 * @param {string} folder
 * @param {string} stem
 */
export function bytesOf(folder, stem) {
  return new Uint8Array(readFileSync(join(folder, `${stem}.wasm`)));
}

/**
 * Start a module, with the data files that lie beside its environment's header.
 * @param {string} folder
 * @param {string} stem
 */
export async function loaded(folder, stem) {
  const module = await Module.load(bytesOf(folder, stem));
  const data = `kernels/envs/${stem}/data`;
  for (const name of existsSync(data) ? readdirSync(data) : [])
    module.call("ge_hold_file", name, new Uint8Array(readFileSync(join(data, name))));
  return module;
}
