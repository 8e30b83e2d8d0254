// Loads a module of WebAssembly and calls its functions: text and bytes in, text and arrays out,
// and failures as errors. The functions are those of kernels/web/face.cpp.

import { system } from "./system.js";

/** Kinds of failures, in the order of `Fault` in the engine. */
const FAULTS = ["value", "type", "memory", "runtime", "device", "reset_needed"];

/** A call of a module failed; the module can be used further. */
export class EngineError extends Error {
  /**
   * @param {string} message
   * @param {string} kind One of value, type, memory, runtime, device, reset_needed.
   */
  constructor(message, kind) {
    super(message);
    this.name = "EngineError";
    this.kind = kind;
  }
}

/** The bytes are not a module that may run here. */
export class NotAModule extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = "NotAModule";
  }
}

const FIXED_VECTORS = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15,
  253, 98, 11,
]);
const EXCEPTIONS = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 10, 8, 1, 6, 0, 6, 64, 25, 11, 11,
]);

/**
 * What this browser lacks of what modules need; an empty text: nothing.
 * @returns {string}
 */
export function missing() {
  if (typeof WebAssembly !== "object") return "This browser has no WebAssembly.";
  if (!WebAssembly.validate(FIXED_VECTORS))
    return "This browser's WebAssembly has no vector instructions (SIMD).";
  if (!WebAssembly.validate(EXCEPTIONS)) return "This browser's WebAssembly has no exceptions.";
  return "";
}

/**
 * SHA-256 of bytes, in hexadecimal.
 * @param {Uint8Array<ArrayBuffer>} bytes
 */
export async function digestOf(bytes) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** One instance of a module, with a memory of its own. */
export class Module {
  /** @param {WebAssembly.Instance} instance */
  constructor(instance) {
    /** @type {Record<string, (...values: any[]) => any>} */
    this.functions = /** @type {any} */ (instance.exports);
    this.memory = /** @type {WebAssembly.Memory} */ (instance.exports.memory);
    this.encoder = new TextEncoder();
    this.decoder = new TextDecoder();
  }

  /**
   * Make an instance of a module's bytes.
   * @param {Uint8Array<ArrayBuffer>} bytes
   * @param {{digest?: string, print?: (line: string) => void}} [options] `digest`: the SHA-256 that
   *   the bytes must have.
   * @returns {Promise<Module>}
   */
  static async load(bytes, { digest, print = console.log } = {}) {
    if (digest !== undefined && (await digestOf(bytes)) !== digest)
      throw new NotAModule(
        "The module is not the one that belongs to this page; it was not started.",
      );
    const { imports, attach } = system(print);
    let made;
    try {
      made = await WebAssembly.instantiate(bytes, imports);
    } catch (problem) {
      throw new NotAModule(`The module is damaged: ${/** @type {Error} */ (problem).message}`);
    }
    const module = new Module(made.instance);
    for (const name of ["ge_make", "ge_step", "ge_error", "_initialize"])
      if (typeof module.functions[name] !== "function")
        throw new NotAModule(`The module is not one of gpu_envs: it has no ${name}.`);
    attach(module.memory);
    module.functions._initialize();
    return module;
  }

  /** Throw the failure of the last call, if it failed. */
  check() {
    const fault = this.functions.ge_fault();
    if (fault < 0) return;
    throw new EngineError(this.textAt(this.functions.ge_error()), FAULTS[fault] ?? "runtime");
  }

  /**
   * Call a function whose failure is in the module's error; texts and bytes among the arguments
   * become an address and a length.
   * @param {string} name
   * @param {...(number | bigint | string | Uint8Array)} values
   * @returns {any}
   */
  call(name, ...values) {
    /** @type {number[]} */
    const lent = [];
    const given = values.flatMap((value) => {
      if (typeof value === "number" || typeof value === "bigint") return [value];
      const bytes = typeof value === "string" ? this.encoder.encode(value) : value;
      const at = this.lend(bytes);
      lent.push(at);
      return [at, bytes.length];
    });
    try {
      const result = this.functions[name](...given);
      this.check();
      return result;
    } finally {
      for (const at of lent) this.functions.ge_free(at);
    }
  }

  /**
   * Call a function that returns a text.
   * @param {string} name
   * @param {...(number | bigint | string | Uint8Array)} values
   * @returns {string}
   */
  text(name, ...values) {
    return this.textAt(this.call(name, ...values));
  }

  /**
   * Copy bytes into the module's memory; ge_free gives them back.
   * @param {Uint8Array} bytes
   * @returns {number}
   */
  lend(bytes) {
    const at = this.functions.ge_alloc(Math.max(bytes.length, 1));
    if (at === 0) throw new EngineError("there is not enough memory for this", "memory");
    new Uint8Array(this.memory.buffer, at, bytes.length).set(bytes);
    return at;
  }

  /**
   * The text that begins at an address and ends with 0.
   * @param {number} at
   */
  textAt(at) {
    const bytes = new Uint8Array(this.memory.buffer);
    return this.decoder.decode(bytes.subarray(at, bytes.indexOf(0, at)));
  }

  /**
   * A view of bytes in the module's memory. It ends where the memory grows, so it is for at once.
   * @param {number} at
   * @param {number} length
   */
  bytesAt(at, length) {
    return new Uint8Array(this.memory.buffer, at, length);
  }
}
