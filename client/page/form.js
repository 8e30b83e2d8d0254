// Form fields made from what an environment describes: parameters, reset options.

/** @typedef {import("./groups.js").Field} Field */
/** @typedef {import("./link.js").Parameters} Parameters */

/**
 * Make an element.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} [properties]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function made(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "ariaLabel") element.setAttribute("aria-label", value);
    else if (name in element) /** @type {any} */ (element)[name] = value;
    else element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

/**
 * A field's range in words.
 * @param {Field} field
 */
function rangeOf({ low, high, unit }) {
  const range =
    low !== null && high !== null
      ? `${low} to ${high}`
      : low !== null
        ? `at least ${low}`
        : high !== null
          ? `at most ${high}`
          : "";
  return [range, unit].filter((word) => word !== "").join(" ");
}

let numbered = 0;

/** A group of fields that a person fills in. */
export class Form {
  /**
   * @param {Field[]} fields
   * @param {string} title
   */
  constructor(fields, title) {
    this.fields = fields;
    this.element = made("fieldset", { className: "fields" }, made("legend", {}, title));
    /** @type {Map<string, HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>} */
    this.inputs = new Map();
    for (const field of fields) this.element.append(this.#row(field));
  }

  /** @param {Field} field */
  #row(field) {
    const id = `ge-field-${++numbered}`;
    const input = inputOf(field);
    input.id = id;
    this.inputs.set(field.name, input);
    const doc = made(
      "small",
      { id: `${id}-doc` },
      [field.doc, rangeOf(field)].filter(Boolean).join("; "),
    );
    input.setAttribute("aria-describedby", doc.id);
    return made(
      "div",
      { className: "field" },
      made("label", { htmlFor: id }, field.name),
      input,
      doc,
    );
  }

  /**
   * Show values; fields that are not named show their default.
   * @param {Parameters} values
   */
  show(values) {
    for (const field of this.fields) {
      const input = /** @type {HTMLInputElement} */ (this.inputs.get(field.name));
      const value = values[field.name] ?? field.default ?? "";
      if (field.type === "bool") input.checked = value === true || value === "true";
      else input.value = shown(field, value);
    }
  }

  /**
   * The values that differ from their defaults; a number that is not filled in means the default.
   * @returns {Parameters}
   */
  read() {
    /** @type {Parameters} */
    const values = {};
    for (const field of this.fields) {
      const input = /** @type {HTMLInputElement} */ (this.inputs.get(field.name));
      if (field.type === "bool") {
        if (input.checked !== (field.default === true)) values[field.name] = input.checked;
      } else if (input.value !== shown(field, field.default ?? "")) {
        if (field.type === "string") values[field.name] = input.value;
        else if (input.value !== "") values[field.name] = Number(input.value);
      }
    }
    return values;
  }
}

/**
 * A value as a field shows it: a float of 32 bits with as few digits as tell it apart.
 * @param {Field} field
 * @param {string | number | boolean} value
 */
function shown(field, value) {
  if (field.type !== "float32" || typeof value !== "number") return String(value);
  for (let digits = 1; digits < 9; ++digits) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === Math.fround(value)) return String(short);
  }
  return String(value);
}

/** @param {Field} field */
function inputOf(field) {
  if (field.names?.length)
    return made("select", {}, ...field.names.map((name) => made("option", { value: name }, name)));
  if (field.type === "bool") return made("input", { type: "checkbox" });
  if (field.type === "string")
    return made("textarea", { rows: 2, spellcheck: false, maxLength: 4096 });
  const isWhole = field.type !== "float32" && field.type !== "float64";
  const input = made("input", { type: "number", step: isWhole ? "1" : "any" });
  if (field.low !== null) input.min = String(field.low);
  if (field.high !== null) input.max = String(field.high);
  return input;
}
