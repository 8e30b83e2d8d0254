// What a person can do by hand: the categories of an action, their names and keys, and what is done
// while no key is pressed.

import { isFloat, sizeOf } from "./groups.js";

/**
 * @typedef {import("./groups.js").Field} Field
 * @typedef {{word: number, category: number, name: string, key: string}} Deed
 */

/** The key of the category that is taken while no key of its word is pressed. */
const REST = ".";

/** Keys of further people, in place of the described ones. */
const SECOND = new Map([
  ["w", "ArrowUp"],
  ["s", "ArrowDown"],
  ["a", "ArrowLeft"],
  ["d", "ArrowRight"],
  ["j", "4"],
  ["l", "6"],
  ["i", "8"],
  ["k", "5"],
  [" ", "Enter"],
  ["e", "/"],
  ["r", "*"],
]);

/** The actions of an agent as deeds that have names and keys. */
export class Deeds {
  /**
   * @param {Field[]} action
   * @param {string[]} names Of all categories, word by word; empty: numbers.
   * @param {string[]} keys
   */
  constructor(action, names, keys) {
    this.isFloat = isFloat(action);
    /** Fields by word. */
    this.fields = action.flatMap((field) => new Array(sizeOf(field)).fill(field));
    /** @type {Deed[]} */
    this.all = [];
    /** What a word does while no key is pressed; -1: it goes on as before. */
    this.rest = this.fields.map(() => 0);
    if (this.isFloat) return;
    let k = 0;
    this.fields.forEach((field, word) => {
      let keyed = 0;
      for (let category = 0; category < (field.choices ?? 1); ++category, ++k) {
        const key = keys[k] ?? "";
        if (key === REST) this.rest[word] = category;
        const shown = key === REST ? "" : key;
        if (shown) ++keyed;
        this.all.push({
          word,
          category,
          name: names[k] ?? `${field.name} ${category}`,
          key: shown,
        });
      }
      if (keyed > 0 && keyed === field.choices) this.rest[word] = -1;
    });
  }

  /** Whether keys can be held; without any, choices are a list. */
  get hasKeys() {
    return this.all.some((deed) => deed.key !== "");
  }

  /**
   * Keys by deed for the person of a number; further people get keys of another side of the keyboard.
   * @param {number} person
   * @returns {Map<string, Deed>}
   */
  keysOf(person) {
    const keyed = this.all.filter((deed) => deed.key !== "");
    const first = new Map(keyed.map((deed) => [deed.key, deed]));
    if (person === 0) return first;
    if (person > 1) return new Map();
    /** @type {[string, Deed][]} */
    const pairs = [];
    for (const deed of keyed) {
      const key = SECOND.get(deed.key);
      if (key !== undefined && !first.has(key)) pairs.push([key, deed]);
    }
    return new Map(pairs);
  }
}

/** What one person holds down, and so does. */
export class Hand {
  /**
   * @param {Deeds} deeds
   * @param {number} agent
   * @param {number} person
   */
  constructor(deeds, agent, person) {
    this.deeds = deeds;
    this.agent = agent;
    this.person = person;
    this.keys = deeds.keysOf(person);
    /** Held deeds by word, the last one wins. @type {Map<number, Deed[]>} */
    this.held = new Map();
    this.words = deeds.isFloat
      ? deeds.fields.map(({ low, high }) => Math.min(Math.max(0, low ?? 0), high ?? Infinity))
      : deeds.rest.map((rest) => Math.max(rest, 0));
    /** Deeds that are done once, at the next step, though their key may be up again. @type {Deed[]} */
    this.due = [];
  }

  /** @param {Deed} deed */
  press(deed) {
    const held = this.held.get(deed.word) ?? [];
    if (!held.includes(deed)) held.push(deed);
    this.held.set(deed.word, held);
    this.tap(deed);
  }

  /**
   * Do something once, at the next step.
   * @param {Deed} deed
   */
  tap(deed) {
    this.due = [...this.due.filter((other) => other.word !== deed.word), deed];
  }

  /** @param {Deed} deed */
  release(deed) {
    const held = this.held.get(deed.word) ?? [];
    this.held.set(
      deed.word,
      held.filter((other) => other !== deed),
    );
  }

  /**
   * Take over the keys and numbers of an earlier hand, where its deeds are the same.
   * @param {Hand} earlier
   */
  follow(earlier) {
    const named = (/** @type {Deed[]} */ deeds) => deeds.map((deed) => deed.name).join("\n");
    if (named(earlier.deeds.all) !== named(this.deeds.all)) return;
    if (this.words.length === earlier.words.length && this.deeds.isFloat)
      this.words = [...earlier.words];
    this.person = earlier.person;
    this.keys = new Map();
    for (const [key, deed] of earlier.keys)
      this.keys.set(key, this.deeds.all[earlier.deeds.all.indexOf(deed)]);
  }

  /** Whether this person chooses from a list. */
  get hasList() {
    return !this.deeds.isFloat && !this.deeds.hasKeys;
  }

  /** Let go of everything, as when the game loses the focus. */
  releaseAll() {
    this.held.clear();
    this.due = [];
  }

  /**
   * Set a number.
   * @param {number} word
   * @param {number} value
   */
  set(word, value) {
    this.words[word] = value;
  }

  /**
   * The action of the next step. A key that went down and up between two steps counts once.
   * @returns {number[]}
   */
  take() {
    if (this.deeds.isFloat) return [...this.words];
    this.deeds.rest.forEach((rest, word) => {
      const last = this.due.find((deed) => deed.word === word) ?? this.held.get(word)?.at(-1);
      if (last !== undefined) this.words[word] = last.category;
      else if (rest >= 0) this.words[word] = rest;
    });
    this.due = [];
    return [...this.words];
  }

  /**
   * Give a deed another key; a deed of the person that had it has none then.
   * @param {Deed} deed
   * @param {string} key
   */
  bind(deed, key) {
    this.releaseAll();
    for (const [other, bound] of this.keys) if (bound === deed) this.keys.delete(other);
    this.keys.set(key, deed);
  }
}

/**
 * A key's name on the screen.
 * @param {string} key
 */
export function spelt(key) {
  return key === " " ? "space" : key.replace(/^Arrow/, "arrow ").toLowerCase();
}

/**
 * A key of the keyboard as bindings name it: letters are small whatever Shift does.
 * @param {{key: string}} event
 */
export function keyOf(event) {
  return event.key.length === 1 ? event.key.toLowerCase() : event.key;
}
