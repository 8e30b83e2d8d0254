// Plays episodes in a page's world by the policies of a file, for test_episodes.py:
// node play.mjs TASK.json
// Writes the actions that the policies choose, world by world and step by step, and prints the length
// and the returns of each episode. Where the task has numbers, those are the actions that are taken.
import { readFileSync, writeFileSync } from "node:fs";

import { brainOf } from "../../client/page/brain.js";
import { checkedPlace } from "../../client/page/link.js";
import { LiveWorld } from "../../client/page/world.js";
import { EVALUATION, Noise, Policy } from "../../client/policies/policy.js";
import { FOLDER, loaded } from "../../scripts/web/modules.mjs";

/**
 * @typedef {{stem: string, policy: string, place: Record<string, unknown>, worlds: number,
 *   out: string, numbers?: string}} Task
 */

const KINDS_APART = 2 ** 40; // distance between the first numbers by which agents of kinds draw
const PLAYER = "trained";

/** @type {Task} */
const task = JSON.parse(readFileSync(process.argv[2], "utf8"));
const policy = Policy.read(new Uint8Array(readFileSync(task.policy)));
const module = await loaded(FOLDER, task.stem);
const numbers =
  task.numbers === undefined
    ? null
    : new Float32Array(new Uint8Array(readFileSync(task.numbers)).buffer);
/** @type {Uint8Array[]} */
const chosen = [];
let taken = 0; // of the numbers

/**
 * The policy, which draws as the package does for a world among others.
 * @param {number} seed
 * @param {number} world
 */
function drawing(seed, world) {
  const noise = new Noise(seed, EVALUATION);
  const own = Object.create(policy);
  own.team = (/** @type {Record<string, any>} */ instance) => {
    const team = policy.team(instance);
    const act = team.act.bind(team);
    let step = -1;
    const draw = (/** @type {number} */ row, /** @type {number} */ column) => {
      const { count } = team.parts[Math.floor(row / KINDS_APART)];
      return noise.uniform(step, row + world * count, column);
    };
    team.act = (obs, masks, choice) => {
      ++step;
      const words = act(obs, masks, { ...choice, draw });
      chosen.push(new Uint8Array(words.slice().buffer));
      if (numbers === null) return words;
      taken += words.length;
      return numbers.subarray(taken - words.length, taken);
    };
    return team;
  };
  return own;
}

const episodes = [];
for (let world = 0; world < task.worlds; ++world) {
  const { id } = task.place;
  const place = checkedPlace({ ...task.place, world }, [/** @type {string} */ (id)]);
  const mind = drawing(place.seed, world);
  const live = new LiveWorld(
    module,
    place,
    new Map([[PLAYER, (instance) => brainOf(mind, instance, place)]]),
  );
  for (const { name } of live.groups) live.setPlayer(name, PLAYER);
  const returns = new Float64Array(live.agents);
  while (!live.isOver) {
    live.step();
    const reward = live.simulator.output("reward");
    for (let agent = 0; agent < live.agents; ++agent) returns[agent] += Number(reward[agent]);
  }
  episodes.push({ steps: live.steps, returns: [...returns] });
}
writeFileSync(task.out, Buffer.concat(chosen));
console.log(JSON.stringify(episodes));
