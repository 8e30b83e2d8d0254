// Things that a page does one at a time, in order, such as making a world and going to a step.

export class Turns {
  constructor() {
    /** What waits. @type {{name: string, does: () => any}[]} */
    this.waiting = [];
    this.isBusy = false;
  }

  /**
   * Do something once what was asked for earlier is done. It must not fail.
   * @param {() => any} does
   * @param {string} [name] Takes the place of what waits by the same name.
   */
  add(does, name = "") {
    if (name !== "") this.waiting = this.waiting.filter((one) => one.name !== name);
    this.waiting.push({ name, does });
    return this.#work();
  }

  async #work() {
    if (this.isBusy) return;
    this.isBusy = true;
    try {
      for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift())
        await next.does();
    } finally {
      this.isBusy = false;
    }
  }

  /**
   * Whether something of a name waits.
   * @param {string} name
   */
  has(name) {
    return this.waiting.some((one) => one.name === name);
  }

  /** Forget what waits. */
  clear() {
    this.waiting = [];
  }
}
