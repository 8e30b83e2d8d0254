// The page's side of a worker: calls that are promises, one worker at a time, and another one where
// it failed or did not answer.

/** The worker was ended, by the page or by a failure of its module. */
export class Ended extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = "Ended";
  }
}

/**
 * @typedef {{resolve: (value: any) => void, reject: (problem: Error) => void, isLong: boolean}} Call
 * @typedef {{id: number, result?: any, error?: {name: string, message: string, isEnd: boolean}}} Answer
 */

const PATIENCE = 10_000; // milliseconds for an answer; loading has no limit

export class Session {
  constructor() {
    /** @type {Worker | null} */
    this.worker = null;
    /** Open calls, of which the worker answers the first. @type {Map<number, Call>} */
    this.open = new Map();
    this.count = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
  }

  #start() {
    const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }) => this.#answered(data));
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      if (this.worker === worker) this.end(event.message || "The worker could not be started.");
    });
    return worker;
  }

  /** @param {Answer} answer */
  #answered({ id, result, error }) {
    const call = this.open.get(id);
    if (call === undefined) return;
    this.open.delete(id);
    this.#watch();
    if (error === undefined) return call.resolve(result);
    const problem = error.isEnd ? new Ended(error.message) : new Error(error.message);
    if (!error.isEnd) problem.name = error.name;
    call.reject(problem);
    if (error.isEnd) this.end(error.message);
  }

  /** Be patient with the call that the worker is at. */
  #watch() {
    clearTimeout(this.timer);
    const [first] = this.open.values();
    if (first === undefined || first.isLong) return;
    this.timer = setTimeout(
      () => this.end(`The world did not answer within ${PATIENCE / 1000} s; it was stopped.`),
      PATIENCE,
    );
  }

  /**
   * Call the worker. The call "load" starts one where there is none; others are refused then.
   * @param {string} call
   * @param {Record<string, any>} [given]
   * @param {boolean} [isLong] Whether an answer may take long.
   * @returns {Promise<any>}
   */
  ask(call, given = {}, isLong = false) {
    if (this.worker === null && call !== "load")
      return Promise.reject(new Ended("The world was stopped."));
    const worker = (this.worker ??= this.#start());
    const id = ++this.count;
    return new Promise((resolve, reject) => {
      this.open.set(id, { resolve, reject, isLong });
      if (this.open.size === 1) this.#watch();
      worker.postMessage({ id, call, given });
    });
  }

  /**
   * End the worker; the next "load" starts another, to which policies are given again.
   * @param {string} [why]
   */
  end(why = "The world was stopped.") {
    this.worker?.terminate();
    this.worker = null;
    clearTimeout(this.timer);
    const calls = [...this.open.values()];
    this.open.clear();
    for (const { reject } of calls) reject(new Ended(why));
  }
}
