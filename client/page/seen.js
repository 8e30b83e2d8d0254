// What an agent sees: its observation by field, pictures as pictures, long rows as bars, and which
// choices are legal.

import { MOST_LISTED, sizeOf } from "./groups.js";
import { made } from "./form.js";

/**
 * @typedef {import("./groups.js").Field} Field
 * @typedef {import("./stage.js").Made} Made
 * @typedef {import("./stage.js").Stage} Stage
 */

const EVERY = 200; // milliseconds between two looks
const MANY = 9; // numbers from which a field is drawn as bars
const MOST_BARS = 512;

export class SeenPanel {
  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.agent = made("select", { ariaLabel: "agent whose observation is shown" });
    this.agent.addEventListener("change", () => this.refresh());
    this.fields = made("div", { className: "seen" });
    this.element = made(
      "details",
      {},
      made("summary", {}, "What an agent sees"),
      this.agent,
      this.fields,
    );
    /** @type {Made | null} */
    this.made = null;
    this.looked = 0;
    this.isLooking = false;
  }

  /** @param {Made} found */
  show(found) {
    this.made = found;
    const chosen = this.agent.value;
    const names = found.instance.agent_names ?? [];
    const agents = found.groups.flatMap((group) => group.agents).slice(0, MOST_LISTED);
    this.agent.replaceChildren(
      ...agents.map((agent) =>
        made("option", { value: String(agent) }, names[agent] ?? `agent ${agent}`),
      ),
    );
    if (agents.some((agent) => String(agent) === chosen)) this.agent.value = chosen;
    this.fields.replaceChildren();
  }

  /** The world went on. */
  told() {
    if (performance.now() - this.looked > EVERY) this.refresh();
  }

  async refresh() {
    if (!this.element.open || this.made === null || this.isLooking) return;
    this.isLooking = true;
    this.looked = performance.now();
    try {
      const agent = Number(this.agent.value);
      const world = this.stage.made;
      const { row, mask } = await this.stage.session.ask("seen", { agent });
      if (this.stage.made === world) this.#draw(agent, row, mask);
    } catch {
      // The page shows why a call failed where it was made for the picture.
    } finally {
      this.isLooking = false;
    }
  }

  /**
   * @param {number} agent
   * @param {any} row
   * @param {any} mask
   */
  #draw(agent, row, mask) {
    const { groups, names } = /** @type {Made} */ (this.made);
    const group = groups.find((one) => one.agents.includes(agent));
    if (group === undefined) return;
    const rows = [];
    let at = 0;
    for (const field of group.observation) {
      const values = row.subarray(at, at + sizeOf(field));
      at += values.length;
      rows.push(
        made(
          "div",
          { className: "seen-row" },
          made("span", { title: field.doc }, field.name),
          shownOf(field, values),
        ),
      );
    }
    if (mask !== null) {
      const legal = Array.from(mask, (flag, k) => (flag ? (names[k] ?? String(k)) : "")).filter(
        Boolean,
      );
      rows.push(
        made(
          "div",
          { className: "seen-row" },
          made("span", {}, "legal"),
          made("span", { className: "legal" }, legal.join(", ")),
        ),
      );
    }
    this.fields.replaceChildren(...rows);
  }
}

/**
 * @param {Field} field
 * @param {any} values
 */
function shownOf(field, values) {
  if (field.type === "uint8" && field.shape.length === 3) return pictureOf(field.shape, values);
  if (values.length >= MANY) return barsOf(field, values);
  const words = Array.from(values, (value) =>
    Number.isInteger(value) ? String(value) : value.toFixed(3),
  );
  return made("code", {}, words.join("  "));
}

/**
 * Layers of bytes as a picture: three are colours, others are grey side by side.
 * @param {number[]} shape Layers, rows and columns, or layers last.
 * @param {Uint8Array} values
 */
function pictureOf(shape, values) {
  const isLast = shape[2] <= 4;
  const [layers, height, width] = isLast ? [shape[2], shape[0], shape[1]] : shape;
  const canvas = made("canvas", { width, height, className: "seen-picture" });
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = context.createImageData(width, height);
  for (let pixel = 0; pixel < width * height; ++pixel) {
    for (let colour = 0; colour < 3; ++colour) {
      const layer = Math.min(colour, layers - 1);
      const at = isLast ? pixel * layers + layer : layer * width * height + pixel;
      image.data[4 * pixel + colour] = values[at];
    }
    image.data[4 * pixel + 3] = 255;
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/**
 * A bar for each number, from the field's lower to its upper end, or from the least to the greatest.
 * @param {Field} field
 * @param {any} values
 */
function barsOf(field, values) {
  const shown = values.subarray(0, MOST_BARS);
  const low = Math.min(field.low ?? 0, ...shown);
  const high = Math.max(low + 1e-6, field.high ?? 0, ...shown);
  const canvas = made("canvas", {
    width: Math.max(64, 3 * shown.length),
    height: 32,
    className: "bars",
  });
  canvas.setAttribute("role", "img");
  canvas.setAttribute(
    "aria-label",
    `${field.name}: ${shown.length} numbers from ${low.toFixed(2)} to ${high.toFixed(2)}`,
  );
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.fillStyle = "#3b82d6";
  const step = canvas.width / shown.length;
  shown.forEach((/** @type {number} */ value, /** @type {number} */ k) => {
    const tall = ((value - low) / (high - low)) * 30 + 1;
    context.fillRect(k * step, 32 - tall, Math.max(1, step - 1), tall);
  });
  return canvas;
}
