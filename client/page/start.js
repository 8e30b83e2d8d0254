// Begins what a page has: the gallery, or one environment. The page names them in its elements.

import { EnvironmentPage } from "./environment.js";
import { Gallery } from "./gallery.js";

/** Addresses in the manifest are relative to it. */
const HOME = new URL("../../", import.meta.url);

/** @returns {Promise<any[]>} */
async function environments() {
  const response = await fetch(new URL("environments.json", HOME));
  if (!response.ok)
    throw new Error(`The list of environments could not be loaded (${response.status}).`);
  const all = await response.json();
  const at = (/** @type {any} */ file) => ({ ...file, url: new URL(file.url, HOME).href });
  return all.map((/** @type {any} */ one) => ({
    ...one,
    module: at(one.module),
    data: one.data.map(at),
    policies: one.policies.map((/** @type {any} */ policy) => ({
      ...policy,
      file: at(policy.file),
    })),
    page: new URL(one.page, HOME).href,
    poster: new URL(one.poster, HOME).href,
  }));
}

/** Wait for the parts of the page that are filled. */
async function parsed() {
  const part = document.querySelector("[data-gallery], [data-environment]");
  if (document.readyState !== "loading" || part?.nextElementSibling) return;
  await new Promise((resolve) => {
    document.addEventListener("DOMContentLoaded", resolve);
  });
}

try {
  const [all] = await Promise.all([environments(), parsed()]);
  for (const element of document.querySelectorAll("[data-gallery]"))
    new Gallery(/** @type {HTMLElement} */ (element), all).start();
  for (const element of document.querySelectorAll("[data-environment]")) {
    const own = /** @type {HTMLElement} */ (element);
    const found = all.find((one) => one.id === own.dataset.environment);
    if (found !== undefined) {
      const page = new EnvironmentPage(own, found);
      own.replaceChildren();
      await page.start();
    }
  }
} catch (problem) {
  for (const element of document.querySelectorAll("[data-gallery], [data-environment]")) {
    const text = document.createElement("p");
    text.className = "problem";
    text.setAttribute("role", "alert");
    text.textContent = /** @type {Error} */ (problem).message;
    element.prepend(text);
  }
}
