// The parts that views are made of. Nothing here, or anywhere, writes HTML from a text.

import { t } from "../texts.js";

/** @typedef {string|number|Node|null|undefined|false} Child */

/**
 * Make an element; a property that begins with `on` is a listener.
 * @param {string} tag @param {Record<string, any>} [properties] @param {...(Child|Child[])} children
 * @returns {any}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false)
      element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/** @param {string} name @returns {SVGElement} a picture without meaning of its own */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("aria-hidden", "true");
  svg.classList.add("icon");
  const path = document.createElementNS(svg.namespaceURI, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return /** @type {any} */ (svg);
}

/** @type {Record<string, string>} */
const ICONS = {
  email: "M2.5 5h15v10h-15zM2.5 5.5l7.5 6 7.5-6",
  phone: "M6 2.5 8.5 7 6.8 8.8a12 12 0 0 0 4.4 4.4L13 11.5l4.5 2.5-1 3.5C9 17.500 2.500 11 2.500 3.500z",
  back: "M12 4l-6 6 6 6",
  history: "M10 3.500a6.500 6.500 0 1 1-6.100 4.200M3.500 3.500v4.500h4.500M10 6.500V10l2.500 2",
  settings: "M3 6h8M15 6h2M3 14h2M9 14h8M13 4v4M7 12v4",
  panel: "M3 4h14v12H3zM12.500 4v12",
  check: "M4 10.500l4 4 8-9",
  search: "M9 3.500a5.500 5.500 0 1 1 0 11 5.500 5.500 0 0 1 0-11M13 13l4 4",
  enrichment: "M10 3v14M3 10h14",
};

/** @param {string} text @param {() => unknown} act @param {Record<string, any>} [properties] */
export function button(text, act, properties = {}) {
  return h("button", { type: "button", onclick: act, ...properties }, text);
}

/** A button that shows a picture and says its name. @param {string} name @param {string} text @param {() => unknown} act */
export function iconButton(name, text, act) {
  return h(
    "button",
    { type: "button", class: "icon-button", title: text, "aria-label": text, onclick: act },
    icon(name),
  );
}

/** A button that copies; it says so for two seconds. @param {string} value */
export function copyButton(value) {
  const copy = button(t("copy"), act, { class: "quiet", "aria-label": t("copy_what", value) });
  async function act() {
    await navigator.clipboard.writeText(value);
    copy.textContent = t("copied");
    copy.setAttribute("aria-label", t("copied"));
    announce(t("copied"));
    setTimeout(() => {
      copy.textContent = t("copy");
      copy.setAttribute("aria-label", t("copy_what", value));
    }, 2000);
  }
  return copy;
}

/** Something went wrong, or there is nothing: what, why, what to do. @param {string} title @param {string} [text] @param {...Child} more */
export function empty(title, text, ...more) {
  return h("section", { class: "empty" }, h("h1", {}, title), text && h("p", {}, text), ...more);
}

/** @param {string} text @param {...Child} more a failure, read out at once */
export function failure(text, ...more) {
  return h("div", { class: "failure", role: "alert" }, h("p", {}, text), ...more);
}

/** @param {string} [text] */
export function busy(text = t("loading")) {
  return h("p", { class: "busy", role: "status" }, h("span", { class: "spinner", "aria-hidden": "true" }), `${text}…`);
}

/** Let a screen reader say it. @param {string} text */
export function announce(text) {
  const region = /** @type {HTMLElement} */ (document.getElementById("announcements"));
  region.textContent = text;
}

/** A button that is ready after so many seconds. @param {number} wait @param {() => unknown} act */
export function retryButton(wait, act) {
  const again = button(t("try_again"), act);
  const ready = Date.now() + wait * 1000;
  const tick = () => {
    const left = Math.ceil((ready - Date.now()) / 1000);
    again.disabled = left > 0;
    again.textContent = left > 0 ? t("try_again_in", left) : t("try_again");
    if (left > 0) setTimeout(tick, 1000);
  };
  tick();
  return again;
}
