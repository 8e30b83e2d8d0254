// Groups of agents that a person tells apart: roles, or agents of one name ("hider_0", "hider_1").

/**
 * @typedef {{name: string, type: string, shape: number[], low: number | null, high: number | null,
 *   choices: number | null, default: any, unit: string, doc: string, names?: string[]}} Field
 * @typedef {{name: string, agents: number[], action: Field[], observation: Field[],
 *   elements: number, maskElements: number}} Group
 */

/** Agents that are listed one by one, where somebody chooses one. */
export const MOST_LISTED = 64;

/**
 * How many numbers a field has.
 * @param {{shape: number[]}} field
 */
export function sizeOf(field) {
  return field.shape.reduce((product, extent) => product * extent, 1);
}

/**
 * The part of an agent's name in front of its number.
 * @param {string} agent
 */
function familyOf(agent) {
  return agent.replace(/_?\d+$/, "") || agent;
}

/**
 * The groups of a simulator's agents.
 * @param {Record<string, any>} instance What the simulator says of itself.
 * @returns {Group[]}
 */
export function groupsOf(instance) {
  const elements = (/** @type {Field[]} */ fields) => fields.reduce((sum, f) => sum + sizeOf(f), 0);
  if (Array.isArray(instance.roles) && instance.roles.length > 0)
    return instance.roles.map((/** @type {any} */ role) => ({
      name: role.name,
      agents: Array.from({ length: role.count }, (_, k) => role.first + k),
      action: role.action,
      observation: role.observation ?? instance.observation,
      elements: role.elements ?? elements(role.observation ?? []),
      maskElements: role.mask_elements ?? 0,
    }));
  const one = {
    action: /** @type {Field[]} */ (instance.action),
    observation: /** @type {Field[]} */ (instance.observation),
    elements: elements(instance.observation),
    maskElements: instance.action_mask ? choicesIn(instance.action) : 0,
  };
  /** @type {string[]} */
  const names = instance.agent_names ?? [];
  const all = Array.from({ length: instance.agents_per_world }, (_, k) => k);
  if (names.length !== all.length) return [{ name: "agent", agents: all, ...one }];
  /** @type {Map<string, number[]>} */
  const families = new Map();
  for (const agent of all) {
    const family = familyOf(names[agent]);
    const members = families.get(family) ?? [];
    members.push(agent);
    families.set(family, members);
  }
  return [...families].map(([name, agents]) => ({ name, agents, ...one }));
}

/**
 * Categories of all words of an action.
 * @param {Field[]} action
 */
export function choicesIn(action) {
  return action.reduce((sum, field) => sum + (field.choices ?? 0) * sizeOf(field), 0);
}

/**
 * Words of an action.
 * @param {Field[]} action
 */
export function wordsIn(action) {
  return action.reduce((sum, field) => sum + sizeOf(field), 0);
}

/**
 * Whether actions are numbers, not categories.
 * @param {Field[]} action
 */
export function isFloat(action) {
  return action.length > 0 && action[0].type === "float32";
}
