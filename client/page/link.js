// Links and files that say what was played: an environment, its parameters, a seed, and either a
// number of steps or the actions of each. What they hold is checked here before it is used.

/**
 * @typedef {Record<string, string | number | boolean>} Parameters
 * @typedef {{id: string, parameters: Parameters, options: Parameters, seed: number, world: number,
 *   limit: number | null, steps: number, players: Record<string, string>, drawn: boolean}} Place
 *   `drawn`: policies draw their actions; else they take the likeliest ones.
 * @typedef {Place & {words: number, isFloat: boolean, actions: Int32Array}} Episode
 */

/** Steps that a link may ask for, or a file may hold. */
export const MOST_STEPS = 100_000;
/** The number of a world under its seed. */
export const MOST_WORLD = 2 ** 31 - 2;
const MOST_FILE = 64 << 20; // bytes
const MOST_TEXT = 4096;
const MOST_LINK = 1 << 16;
const MOST_NAMES = 256;
const FORMAT = "gpu_envs episode 1";

/** A link or a file cannot be read. */
export class NotReadable extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = "NotReadable";
  }
}

/**
 * @param {unknown} value
 * @param {string} what
 * @param {number} most
 */
function whole(value, what, most) {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0 || value > most)
    throw new NotReadable(`${what} must be a whole number from 0 to ${most}.`);
  return value + 0; // without a sign
}

/**
 * @param {unknown} value
 * @param {string} what
 * @returns {Parameters}
 */
function named(value, what) {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new NotReadable(`${what} must be names and values.`);
  /** @type {Parameters} */
  const found = {};
  const pairs = Object.entries(value);
  if (pairs.length > MOST_NAMES) throw new NotReadable(`${what}: there are too many.`);
  for (const [name, one] of pairs) {
    if (!/^[A-Za-z][A-Za-z0-9_.-]{0,63}$/.test(name))
      throw new NotReadable(`${what}: '${name.slice(0, 64)}' is no name.`);
    if (
      typeof one === "string"
        ? one.length > MOST_TEXT
        : typeof one !== "boolean" && !Number.isFinite(one)
    )
      throw new NotReadable(
        `${what}: the value of ${name} is neither text, number, true nor false.`,
      );
    found[name] = one;
  }
  return found;
}

/**
 * Check what a link or a file says of a place.
 * @param {Record<string, unknown>} given
 * @param {string[]} ids Environments that the page has.
 * @returns {Place}
 */
export function checkedPlace(given, ids) {
  const { id } = given;
  if (typeof id !== "string") throw new NotReadable("It does not say which environment.");
  if (!ids.includes(id))
    throw new NotReadable(`The environment '${id.slice(0, 64)}' is not on this page.`);
  const players = named(given.players ?? {}, "players");
  return {
    id,
    parameters: named(given.parameters ?? {}, "parameters"),
    options: named(given.options ?? {}, "options"),
    seed: whole(given.seed ?? 0, "seed", Number.MAX_SAFE_INTEGER),
    world: whole(given.world ?? 0, "world", MOST_WORLD),
    limit:
      given.limit === null || given.limit === undefined
        ? null
        : whole(given.limit, "limit", 2 ** 31 - 1),
    steps: whole(given.steps ?? 0, "steps", MOST_STEPS),
    players: Object.fromEntries(Object.entries(players).map(([name, one]) => [name, String(one)])),
    drawn: given.drawn === true,
  };
}

/**
 * The part of an address behind "#".
 * @param {Place} place
 */
export function linkOf(place) {
  const words = new URLSearchParams({ id: place.id, seed: String(place.seed) });
  if (place.world) words.set("world", String(place.world));
  if (place.limit !== null) words.set("limit", String(place.limit));
  if (place.drawn) words.set("drawn", "true");
  if (place.steps) words.set("steps", String(place.steps));
  for (const [name, value] of Object.entries(place.parameters))
    words.set(`p.${name}`, JSON.stringify(value));
  for (const [name, value] of Object.entries(place.options))
    words.set(`o.${name}`, JSON.stringify(value));
  for (const [name, value] of Object.entries(place.players)) words.set(`by.${name}`, value);
  return words.toString();
}

/**
 * Read the part of an address behind "#"; null: it says nothing.
 * @param {string} text
 * @param {string[]} ids
 * @returns {Place | null}
 */
export function readLink(text, ids) {
  if (text === "") return null;
  if (text.length > MOST_LINK) throw new NotReadable("The link is too long.");
  /** @type {Record<string, any>} */
  const given = {};
  for (const kind of ["parameters", "options", "players"]) given[kind] = Object.create(null);
  for (const [name, value] of new URLSearchParams(text)) {
    const [kind, rest] = [name.slice(0, 2), name.slice(2)];
    if (kind === "p.") given.parameters[rest] = json(value);
    else if (kind === "o.") given.options[rest] = json(value);
    else if (name.startsWith("by.")) given.players[name.slice(3)] = value;
    else if (["seed", "world", "limit", "steps", "drawn"].includes(name)) given[name] = json(value);
    else if (name === "id") given.id = value;
    else throw new NotReadable(`The link has an unknown word, '${name.slice(0, 64)}'.`);
  }
  return checkedPlace(given, ids);
}

/** @param {string} text */
function json(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new NotReadable(`'${text.slice(0, 64)}' is not a value.`);
  }
}

/**
 * The text of a file that keeps an episode.
 * @param {Episode} episode
 */
export function fileOf(episode) {
  const { actions, ...place } = episode;
  const bytes = new Uint8Array(actions.buffer, actions.byteOffset, actions.byteLength);
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return JSON.stringify({ format: FORMAT, ...place, actions: btoa(text) });
}

/**
 * Read such a file.
 * @param {string} text
 * @param {string[]} ids
 * @returns {Episode}
 */
export function readFile(text, ids) {
  if (text.length > MOST_FILE) throw new NotReadable("The file is too large.");
  let given;
  try {
    given = JSON.parse(text);
  } catch {
    throw new NotReadable("The file is not an episode: it is not JSON.");
  }
  if (typeof given !== "object" || given === null || given.format !== FORMAT)
    throw new NotReadable(`The file is not an episode: its format is not '${FORMAT}'.`);
  const place = checkedPlace(given, ids);
  const words = whole(given.words, "words", 2 ** 20);
  let bytes;
  try {
    bytes = Uint8Array.from(atob(String(given.actions)), (letter) => letter.charCodeAt(0));
  } catch {
    throw new NotReadable("The file's actions are damaged.");
  }
  if (bytes.length !== 4 * words * place.steps)
    throw new NotReadable("The file's actions are damaged: they do not fit its steps.");
  return {
    ...place,
    words,
    isFloat: given.isFloat === true,
    actions: new Int32Array(bytes.buffer),
  };
}

/**
 * The place of an episode, without its actions.
 * @param {Episode} episode
 * @returns {Place}
 */
export function placeOf({ id, parameters, options, seed, world, limit, steps, players, drawn }) {
  return { id, parameters, options, seed, world, limit, steps, players, drawn };
}
