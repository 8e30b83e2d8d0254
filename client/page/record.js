// The actions of every step of a world, in one array that grows.

export class Record {
  /** @param {number} words Of a step. */
  constructor(words) {
    this.words = words;
    /** Recorded steps. */
    this.length = 0;
    this.actions = new Int32Array(64 * words);
  }

  /**
   * The actions of a step, until the next push.
   * @param {number} step
   */
  at(step) {
    return this.actions.subarray(step * this.words, (step + 1) * this.words);
  }

  /** @param {Int32Array} row */
  push(row) {
    const at = this.length * this.words;
    if (at + this.words > this.actions.length) {
      const larger = new Int32Array(2 * this.actions.length);
      larger.set(this.actions);
      this.actions = larger;
    }
    this.actions.set(row, at);
    ++this.length;
  }

  /**
   * Forget the steps from one on.
   * @param {number} step
   */
  cut(step) {
    this.length = Math.min(this.length, step);
  }

  /** A copy of all actions. */
  all() {
    return this.actions.slice(0, this.length * this.words);
  }

  /**
   * Take the actions of a file.
   * @param {Int32Array} actions
   */
  fill(actions) {
    this.length = actions.length / this.words;
    this.actions = new Int32Array(Math.max(actions.length, this.words));
    this.actions.set(actions);
  }
}
