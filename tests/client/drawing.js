// What a module makes of a state that the package saved: for node (draw.mjs) and for pages (draw_page.js).

import { Simulator } from "../../client/simulator/simulator.js";

/**
 * @typedef {{id: string, settings: import("../../client/simulator/simulator.js").Values,
 *   world: number, width: number, height: number}} Task
 */

/**
 * The state as it is saved again, and a world's text and picture, as bytes.
 * @param {import("../../client/simulator/module.js").Module} module
 * @param {Task} task
 * @param {Uint8Array} state
 */
export function drawn(module, { id, settings, world, width, height }, state) {
  const simulator = new Simulator(module, id, settings);
  simulator.load(state);
  /** @type {Record<string, Uint8Array<ArrayBuffer>>} */
  const found = {
    state: simulator.save(),
    text: new TextEncoder().encode(simulator.text(world)),
  };
  if (simulator.instance.scene)
    found.pixels = new Uint8Array(simulator.picture({ world, width, height, samples: 2 }));
  return found;
}
