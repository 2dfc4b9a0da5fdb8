// The parts that views are made of. Nothing here, or anywhere, writes HTML from a text.

import { onSession, signedIn } from "../store.js";
import { credits, sentence, t } from "../texts.js";

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

/** @type {Record<string, string>} what each draws on 20 by 20 */
const ICONS = {
  email: "M2.5 5h15v10h-15zM2.5 5.5l7.5 6 7.5-6",
  phone: "M6 2.5 8.5 7 6.8 8.8a12 12 0 0 0 4.4 4.4L13 11.5l4.5 2.5-1 3.5C9 17.500 2.500 11 2.500 3.500z",
  back: "M12 4l-6 6 6 6",
  history: "M10 3.500a6.500 6.500 0 1 1-6.100 4.200M3.500 3.500v4.500h4.500M10 6.500V10l2.500 2",
  settings: "M3 6h8M15 6h2M3 14h2M9 14h8M13 4v4M7 12v4",
  panel: "M3 4h14v12H3zM12.500 4v12",
  check: "M4 10.500l4 4 8-9",
  search: "M9 3.500a5.500 5.500 0 1 1 0 11 5.500 5.500 0 0 1 0-11M13 13l4 4",
  enrichment: "M10 2.500l1.900 5.600 5.600 1.900-5.600 1.900L10 17.500l-1.900-5.600L2.500 10l5.600-1.900z",
  copy: "M7 7h9.500v9.500H7zM13 7V3.500H3.500V13H7",
  saved: "M5.500 3h9v14L10 13.500 5.500 17z",
  chevron: "M8 5l5 5-5 5",
  place:
    "M10 17.500c-3.500-4-5-6.500-5-9a5 5 0 0 1 10 0c0 2.500-1.500 5-5 9zM10 10.200a1.700 1.700 0 1 0 0-3.400 1.700 1.700 0 0 0 0 3.400",
  shield: "M10 2.500l6 2.500v4.500c0 4-2.500 6.500-6 8-3.500-1.500-6-4-6-8V5z",
  blocked: "M10 3a7 7 0 1 1 0 14 7 7 0 0 1 0-14M5 5l10 10",
};
const TONES = 6;
const PASSING = ["not_this_service", "job_not_found"]; // a captive portal ends; a lost question can be asked anew

/** @param {string} name of a person or a company @param {boolean} [square] as companies have it
 *  @returns {HTMLElement} the initials on a colour that the name always has; the name stands beside it */
export function avatar(name, square = false) {
  const words = name.split(/[\s/@._-]+/).filter((word) => /^\p{L}|^\p{N}/u.test(word));
  const chosen = words.length > 1 ? [words[0], words[words.length - 1]] : words;
  const initials = chosen.map((word) => [...word][0].toUpperCase()).join("");
  const tone = [...name].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 9973, 7) % TONES;
  const look = `avatar tone-${tone}${square ? " square" : ""}`;
  return h("span", { class: look, "data-initials": initials || "?", "aria-hidden": "true" });
}

/** What a card begins with: an avatar beside the name and what there is to say of it.
 *  @param {string} name @param {boolean} square @param {...Child} lines */
export function head(name, square, ...lines) {
  return h("div", { class: "head" }, avatar(name, square), h("div", { class: "lines" }, h("h1", {}, name), ...lines));
}

/** A row of a list, in two lines.
 *  @param {{name: string, second: Child|Child[], open: () => unknown, when?: string, marks?: Child[], aside?: Child}} what */
export function row({ name, second, open, when, marks = [], aside }) {
  const first = h("span", { class: "first" }, h("strong", {}, name), when && h("span", { class: "hint" }, when));
  const lines = h("span", { class: "lines" }, first, h("span", { class: "hint second" }, second));
  const right = h("span", { class: "marks" }, ...marks);
  return h("li", {}, h("button", { type: "button", class: "row", onclick: open }, avatar(name), lines, right), aside);
}

/** A small picture in a row: what is known of somebody, and green once it is the workspace's own.
 *  @param {string} name @param {string} text @param {boolean} owned */
export function mark(name, text, owned) {
  const picture = owned ? [icon(name), icon("check")] : [icon(name)];
  return h(
    "span",
    { class: owned ? "mark owned" : "mark", title: text },
    ...picture,
    h("span", { class: "unseen" }, text),
  );
}

/** Which of somebody's fields are known, and which are owned.
 *  @param {import("../client/api.js").Available[]} available @param {boolean} saved */
export function marksOf(available, saved) {
  const ofField = (/** @type {"email"|"phone"} */ field) => {
    const one = available.find((entry) => entry.field === field);
    return one && mark(field, one.owned ? t(`owned_${field}`) : t(`has_${field}`), one.owned);
  };
  return [ofField("email"), ofField("phone"), saved && mark("saved", t("saved"), false)];
}

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
  const copy = iconButton("copy", t("copy_what", value), act);
  async function act() {
    await navigator.clipboard.writeText(value);
    say("check", t("copied"));
    announce(t("copied"));
    setTimeout(() => say("copy", t("copy_what", value)), 2000);
  }
  /** @param {string} name @param {string} text */
  function say(name, text) {
    copy.replaceChildren(icon(name));
    copy.setAttribute("aria-label", text);
    copy.title = text;
  }
  return copy;
}

/** Say that there is nothing to show, why, and what to do. @param {string} title @param {string} text @param {string} [picture] */
export function empty(title, text, picture = "search") {
  return h("section", { class: "empty" }, icon(picture), h("h1", {}, title), h("p", { class: "hint" }, text));
}

/** Say that a person is on the list of those who are left alone. */
export function suppressed() {
  return empty(t("suppressed_title"), t("suppressed_text"), "blocked");
}

/** @param {string} text @param {...Child} more a failure, read out at once */
export function failure(text, ...more) {
  return h("div", { class: "failure", role: "alert" }, h("p", {}, text), ...more);
}

/** Say what is in the way, with a button to try again only where that can help.
 *  @param {import("../client/api.js").Problem} problem @param {string} server @param {(() => unknown)|null} again */
export function stopped(problem, server, again) {
  const canHelp = again !== null && (problem.retryable || PASSING.includes(problem.code));
  return failure(sentence(problem, server), canHelp && retryButton(problem.retry_after ?? 0, again));
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

/** A button that costs; while the workspace cannot pay, what to do instead.
 *  @param {import("../panel.js").App} app @param {HTMLElement} act @param {number} price @returns {Node[]} */
export function priced(app, act, price) {
  const poor = h("p", { class: "poor" });
  const show = (/** @type {number} */ balance) => {
    act.hidden = balance < price;
    poor.hidden = !act.hidden;
    poor.textContent = t("no_credits", credits(price), credits(balance));
  };
  const follow = (/** @type {import("../store.js").Kept|null} */ session) => session && show(session.credits.balance);
  follow(app.session);
  signedIn().then(follow); // what the view began with may be old by now
  onSession(follow, app.signal);
  return [act, poor];
}

/** A button that is ready after so many seconds. @param {number} wait @param {() => unknown} act */
export function retryButton(wait, act) {
  const again = button(t("try_again"), act, { class: "retry" });
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
