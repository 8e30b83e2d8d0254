// What a module asks of the system it runs in: a few calls of WASI, version 1. A page has no files
// or arguments for it, so every call but those for messages, the time and the end answers "not here".
// Node's own node:wasi is not used: it ended in a fault of node 20, and a page has none.

/** WASI's numbers of errors. */
const OK = 0;
const NOT_HERE = 52;
const BAD_FILE = 8;

/** A module called `exit` or `abort`: it cannot be used further. */
export class ModuleEnded extends Error {
  /** @param {number} code */
  constructor(code) {
    super(`the module ended itself with ${code}`);
    this.name = "ModuleEnded";
    this.code = code;
  }
}

/**
 * Make the imports of a module.
 * @param {(line: string) => void} print Called with each line that the module prints.
 * @returns {{imports: WebAssembly.Imports, attach: (memory: WebAssembly.Memory) => void}}
 */
export function system(print) {
  /** @type {WebAssembly.Memory | null} */
  let memory = null;
  let line = "";
  const decoder = new TextDecoder();
  const view = () => {
    if (memory === null) throw new Error("the module has no memory yet");
    return new DataView(memory.buffer);
  };

  /** @type {Record<string, (...values: any[]) => number>} */
  const calls = {
    /**
     * @param {number} file
     * @param {number} list Address of pairs: an address and a length each.
     * @param {number} count
     * @param {number} written
     */
    fd_write(file, list, count, written) {
      if (file !== 1 && file !== 2) return BAD_FILE;
      const data = view();
      let all = 0;
      for (let k = 0; k < count; ++k) {
        const at = data.getUint32(list + 8 * k, true);
        const bytes = data.getUint32(list + 8 * k + 4, true);
        line += decoder.decode(new Uint8Array(data.buffer, at, bytes));
        all += bytes;
      }
      const lines = line.split("\n");
      line = lines.pop() ?? "";
      for (const each of lines) print(each);
      data.setUint32(written, all, true);
      return OK;
    },
    /** @param {number} code */
    proc_exit(code) {
      throw new ModuleEnded(code);
    },
    /**
     * Nanoseconds of a clock that never goes back; the engine times tiles of worlds.
     * @param {number} clock
     * @param {bigint} precision
     * @param {number} at
     */
    clock_time_get(clock, precision, at) {
      view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
      return OK;
    },
    /**
     * No variables.
     * @param {number} count
     * @param {number} bytes
     */
    environ_sizes_get(count, bytes) {
      view().setUint32(count, 0, true);
      view().setUint32(bytes, 0, true);
      return OK;
    },
    environ_get: () => OK,
    /** Standard output is a terminal, so that lines are written at once. */
    fd_fdstat_get(/** @type {number} */ file, /** @type {number} */ at) {
      if (file > 2) return BAD_FILE;
      const data = view();
      for (let k = 0; k < 24; ++k) data.setUint8(at + k, 0);
      data.setUint8(at, 2);
      return OK;
    },
    fd_prestat_get: () => BAD_FILE,
  };
  const answered = new Proxy(calls, { get: (all, name) => all[String(name)] ?? (() => NOT_HERE) });
  return {
    imports: { wasi_snapshot_preview1: answered },
    attach: (own) => {
      memory = own;
    },
  };
}
