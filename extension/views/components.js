// Components that the views share. No code of the extension creates HTML from text.

import { dialUrl } from "../dialing.js";
import { loadSession, onSessionChange } from "../storage.js";
import { errorMessage, noCredits, t } from "../texts.js";
import { icon } from "./icons.js";

/** @typedef {string|number|Node|null|undefined|false} Child */

const AVATAR_COLORS = 6;
const COUNT = /^\d[\d.,\s]*\s\p{L}/u; // of people: "24 people"
const TEMPORARY = ["not_this_service", "job_not_found"]; // a captive portal ends; a lost job can be requested again
const COPIED_MILLISECONDS = 2000;

/**
 * Create an element. A property that begins with `on` is an event listener.
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

/** Return initials on a colour derived from the name. Screen readers skip it: the name is next to it.
 *  @param {string} name @param {boolean} [isSquare] for a company @returns {HTMLElement} */
export function avatar(name, isSquare = false) {
  const words = name.split(/[\s/@._-]+/).filter((word) => /^\p{L}|^\p{N}/u.test(word));
  const chosen = words.length > 1 ? [words[0], words[words.length - 1]] : words;
  const letters = chosen.map((word) => [...word][0].toUpperCase());
  const initials = letters.join(/[\u0600-\u08ff]/.test(letters.join("")) ? "\u200c" : ""); // else Arabic letters join
  const hash = [...name].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 9973, 7);
  const classes = `avatar color-${hash % AVATAR_COLORS}${isSquare ? " square" : ""}`;
  if (COUNT.test(name) && !isSquare) return h("span", { class: classes, "aria-hidden": "true" }, icon("people"));
  return h("span", { class: classes, "data-initials": initials || "?", "aria-hidden": "true" });
}

/** Return the header of a card: an avatar, the name and further lines.
 *  @param {string} name @param {boolean} isSquare @param {...Child} lines */
export function cardHeader(name, isSquare, ...lines) {
  return h(
    "div",
    { class: "card-header" },
    avatar(name, isSquare),
    h("div", { class: "lines" }, h("h1", {}, name), ...lines),
  );
}

/** Return a list item with two lines that opens a view.
 *  @param {{name: string, details: Child|Child[], open: () => unknown, time?: string, icons?: Child[], action?: Child}} item */
export function listRow({ name, details, open, time, icons = [], action }) {
  const title = h("span", { class: "title" }, h("strong", {}, name), time && h("span", { class: "hint" }, time));
  const lines = h("span", { class: "lines" }, title, h("span", { class: "hint details" }, details));
  const right = h("span", { class: "status-icons" }, ...icons);
  return h("li", {}, h("button", { type: "button", class: "row", onclick: open }, avatar(name), lines, right), action);
}

/** Return an icon for the state of a field; it is green if the workspace owns the value.
 *  @param {string} name @param {string} text @param {boolean} isOwned */
export function statusIcon(name, text, isOwned) {
  const icons = isOwned ? [icon(name), icon("check")] : [icon(name)];
  return h(
    "span",
    { class: isOwned ? "status-icon owned" : "status-icon", title: text },
    ...icons,
    h("span", { class: "visually-hidden" }, text),
  );
}

/** @param {string} text @param {() => unknown} onClick @param {Record<string, any>} [properties] */
export function button(text, onClick, properties = {}) {
  return h("button", { type: "button", onclick: onClick, ...properties }, text);
}

/** Return a button that shows an icon and has a name. @param {string} name @param {string} text @param {() => unknown} onClick */
export function iconButton(name, text, onClick) {
  return h(
    "button",
    { type: "button", class: "icon-button", title: text, "aria-label": text, onclick: onClick },
    icon(name),
  );
}

/** Return a button that copies the value and confirms it for two seconds. @param {string} value */
export function copyButton(value) {
  const copy = iconButton("copy", t("copy_value", value), onClick);
  async function onClick() {
    await navigator.clipboard.writeText(value);
    show("check", t("copied"));
    announce(t("copied"));
    setTimeout(() => show("copy", t("copy_value", value)), COPIED_MILLISECONDS);
  }
  /** @param {string} name @param {string} text */
  function show(name, text) {
    copy.replaceChildren(icon(name));
    copy.setAttribute("aria-label", text);
    copy.title = text;
  }
  return copy;
}

/** Return the link to an address or a number, and a button that copies it. @param {string} value @param {...Child} text */
export function valueLink(value, ...text) {
  const href = value.includes("@") ? mailto(value) : dialUrl(value);
  const target = href.startsWith("https:") && "_blank";
  return [
    h("a", { href, target, rel: "noopener noreferrer", class: "value-link" }, ...(text.length > 0 ? text : [value])),
    copyButton(value),
  ];
}

/** Return a value of the API as a link, and a button that copies it; a number that must not be called has no link.
 *  @param {any} value */
export function shownValue({ email, e164, national, extension, do_not_call: mustNotBeCalled }) {
  const text = [email ?? national, extension && ` x${extension}`];
  if (!mustNotBeCalled) return valueLink(email ?? e164, ...text);
  return [h("span", { class: "value-link" }, ...text), copyButton(e164)];
}

/** Return the link to an address, whose local part may contain what separates the fields of a link (RFC 6068). @param {string} email */
const mailto = (email) => `mailto:${encodeURI(email).replace(/[?#&]/g, encodeURIComponent)}`;

/** Return a message for a view without content. @param {string} title @param {string} text @param {string} [iconName] */
export function emptyState(title, text, iconName = "search") {
  return h("section", { class: "empty" }, icon(iconName), h("h1", {}, title), h("p", { class: "hint" }, text));
}

/** Return the message for a suppressed person. */
export function suppressedState() {
  return emptyState(t("suppressed_title"), t("suppressed_text"), "blocked");
}

/** Return an error that screen readers announce. @param {string} text @param {...Child} children */
export function errorAlert(text, ...children) {
  return h("div", { class: "failure", role: "alert" }, h("p", {}, text), ...children);
}

/** Return an error with a retry button, if a retry can help.
 *  @param {import("../client/api.js").Problem} problem @param {string} server @param {(() => unknown)|null} retry */
export function problemAlert(problem, server, retry) {
  const canRetry = retry !== null && (problem.retryable || TEMPORARY.includes(problem.code));
  return errorAlert(errorMessage(problem, server), canRetry && retryButton(problem.retry_after ?? 0, retry));
}

export function loading() {
  const spinner = h("span", { class: "spinner", "aria-hidden": "true" });
  return h("p", { class: "loading", role: "status" }, spinner, `${t("loading")}…`);
}

/** Return why an action is not offered. @param {import("../permissions.js").Permission} permission */
export const refused = (permission) => h("p", { class: "hint refused" }, t(`refused_${permission}`));

/** Announce a text to screen readers. @param {string} text */
export function announce(text) {
  const region = /** @type {HTMLElement} */ (document.getElementById("announcements"));
  region.textContent = text;
}

/** Return a button that spends credits and the text that replaces it while the balance is too low.
 *  @param {import("../types.js").App} app @param {HTMLElement} spend @param {number} price @returns {Node[]} */
export function spendButton(app, spend, price) {
  const notice = h("p", { class: "no-credits" });
  const update = (/** @type {import("../storage.js").StoredSession|null} */ session) => {
    if (session === null) return;
    const { balance } = session.credits;
    spend.hidden = balance !== null && balance < price;
    notice.hidden = !spend.hidden;
    if (balance !== null) notice.textContent = noCredits(price, balance, session.credits.next_grant);
  };
  update(app.session);
  loadSession().then(update); // the balance may have changed since the view was opened
  onSessionChange(update, app.signal);
  return [spend, notice];
}

/** Return a retry button that is enabled after a countdown. @param {number} seconds @param {() => unknown} retry */
export function retryButton(seconds, retry) {
  const element = button(t("try_again"), retry, { class: "retry" });
  const enabledAt = Date.now() + seconds * 1000;
  const tick = () => {
    const remaining = Math.ceil((enabledAt - Date.now()) / 1000);
    element.disabled = remaining > 0;
    element.textContent = remaining > 0 ? t("try_again_in", remaining) : t("try_again");
    if (remaining > 0) setTimeout(tick, 1000);
  };
  tick();
  return element;
}
