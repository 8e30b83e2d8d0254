// Live curves: numbers over the steps of an episode, drawn as SVG.

const SVG = "http://www.w3.org/2000/svg";
const WIDE = 320;
const TALL = 96;
const MOST = 600; // points of a curve; then every second one is dropped

/** @param {number} value */
function short(value) {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2);
}

/** Some curves in one frame, named in a legend. */
export class Curves {
  /**
   * @param {string} title
   * @param {string[]} names
   */
  constructor(title, names) {
    this.names = names;
    this.title = title;
    /** @type {{step: number, values: number[]}[]} */
    this.points = [];
    this.element = document.createElement("figure");
    this.element.className = "curves";
    this.svg = document.createElementNS(SVG, "svg");
    this.svg.setAttribute("viewBox", `0 0 ${WIDE} ${TALL}`);
    this.svg.setAttribute("preserveAspectRatio", "none");
    this.svg.setAttribute("role", "img");
    this.legend = document.createElement("figcaption");
    this.element.append(this.svg, this.legend);
    this.lines = names.map((_, k) => {
      const line = document.createElementNS(SVG, "polyline");
      line.setAttribute("class", `curve curve-${k % 8}`);
      this.svg.append(line);
      return line;
    });
    this.clear();
  }

  clear() {
    this.points = [];
    this.draw();
  }

  /**
   * Add what is so at a step; later ones are forgotten.
   * @param {number} step
   * @param {number[]} values
   */
  add(step, values) {
    this.points = this.points.filter((point) => point.step <= step);
    const last = this.points.at(-1);
    if (last !== undefined && step === last.step) last.values = values;
    else this.points.push({ step, values });
    if (this.points.length > MOST) this.points = this.points.filter((_, k) => k % 2 === 0);
  }

  draw() {
    const last = this.points.at(-1);
    let [low, high] = [0, 0];
    for (const { values } of this.points)
      for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
    high = Math.max(high, low + 1e-6);
    const end = Math.max(1, last?.step ?? 1);
    this.lines.forEach((line, k) => {
      const places = this.points.map(({ step, values }) => {
        const y = TALL - 4 - ((values[k] - low) / (high - low)) * (TALL - 8);
        return `${((step / end) * WIDE).toFixed(1)},${y.toFixed(1)}`;
      });
      line.setAttribute("points", places.join(" "));
    });
    const told = this.names.map((name, k) => `${name} ${short(last?.values[k] ?? 0)}`);
    this.svg.setAttribute("aria-label", `${this.title}: ${told.join(", ")}`);
    this.legend.replaceChildren(
      ...told.map((text, k) => {
        const entry = document.createElement("span");
        entry.className = `entry entry-${k % 8}`;
        entry.textContent = text;
        return entry;
      }),
    );
  }
}
