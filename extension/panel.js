// The popup, and the side panel: what is shown, and the way back.

import { ApiError, Client } from "./client/api.js";
import { all, drive, showBadge } from "./questions.js";
import { forgetSignedIn, keepPage, page, signedIn, updateSignedIn, whySignedOut } from "./store.js";
import { activePage } from "./tab.js";
import { credits, hostOf, t } from "./texts.js";
import { historyView } from "./views/history.js";
import { busy, empty, h, iconButton, stopped } from "./views/parts.js";
import { personView } from "./views/person.js";
import { searchForm } from "./views/search.js";
import { settingsView } from "./views/settings.js";
import { signInView } from "./views/sign_in.js";
import { siteView } from "./views/site.js";
import { waiting } from "./views/waiting.js";

/** @typedef {import("./store.js").Kept} Kept */
/** @typedef {import("./store.js").Page} Page */
/** @typedef {(app: App) => Node|Promise<Node>} View */
/** The company that is shown, for a search by name alone. @typedef {{name: string|null, domain: string|null}} Employer */
/**
 * What a view works with. `signal` ends with the view; `shows` are the names of the questions it shows itself.
 * @typedef {{session: Kept, client: Client, signal: AbortSignal, page: Page|null, company: Employer|null,
 *   shows: Set<string>, open: (view: View) => Promise<void>, restart: () => Promise<void>}} App
 */

const ROUNDING = 8; // pixels by which a popup may be smaller than what it holds without a scroll bar
const isSidePanel = location.search === "?side";
const bar = /** @type {HTMLElement} */ (document.getElementById("bar"));
const main = /** @type {HTMLElement} */ (document.getElementById("view"));
const back = iconButton("back", t("back"), () => (way.pop(), go()));
const logo = h("img", { src: "icons/48.png", alt: "" });
const workspace = h("strong", { class: "who" });
const balance = h("span", { class: "credits", id: "credits" });

/** @type {View[]} */
let way = [];
let shown = new AbortController();
/** @type {string|null} */
let tokenShown = null;

document.title = t("name");
document.documentElement.lang = chrome.i18n.getUILanguage();
document.documentElement.classList.toggle("side", isSidePanel);
chrome.storage.onChanged.addListener(follow);
if (!isSidePanel) keepWidth();
await start();

/** Keep the popup as wide with a scroll bar as without: Chrome makes it wider by the bar. */
function keepWidth() {
  const root = document.documentElement;
  const probe = h("div", { class: "probe" });
  document.body.append(probe);
  root.style.setProperty("--scroll-bar", `${probe.offsetWidth - probe.clientWidth}px`);
  probe.remove();
  const follow = () => root.classList.toggle("scrolls", root.scrollHeight - root.clientHeight > ROUNDING);
  new ResizeObserver(follow).observe(document.body);
}

/** Show what there is to show from the beginning. */
async function start() {
  const session = await signedIn();
  tokenShown = session?.token ?? null;
  showBadge(); // of whoever is signed in now
  if (session === null) {
    way = [];
    bar.replaceChildren();
    shown.abort();
    main.replaceChildren(await signInView(await whySignedOut()));
    return;
  }
  const where = await chrome.windows.getCurrent();
  if (!isSidePanel) await keepPage(await activePage());
  const about = await page(where.id ?? chrome.windows.WINDOW_ID_CURRENT);
  refresh(session);
  for (const question of await all()) drive(question);
  way = [home(about)];
  await render();
}

/** @param {Page|null} about @returns {View} */
function home(about) {
  if (about?.kind === "profile") return personView({ linkedin_url: about.url });
  if (about?.kind === "company" || about?.kind === "site") return siteView(about);
  return () =>
    isSidePanel ? empty(t("nothing_title"), t("panel_empty")) : empty(t("nothing_title"), t("nothing_text"));
}

/** Show the last view of the way, with the focus, and so the top of the window, on what it is about. */
async function go() {
  main.focus();
  await render();
  const heading = main.querySelector("h1, .place h2");
  if (document.activeElement !== main || !(heading instanceof HTMLElement)) return;
  heading.tabIndex = -1;
  heading.focus();
}

/** Show the last view of the way. */
async function render() {
  shown.abort();
  shown = new AbortController();
  const { signal } = shown;
  const session = await signedIn();
  const where = await chrome.windows.getCurrent();
  const about = await page(where.id ?? chrome.windows.WINDOW_ID_CURRENT);
  if (signal.aborted) return; // somebody went elsewhere meanwhile
  if (session === null) return start();
  showBar(session);
  back.hidden = way.length === 1;
  logo.hidden = !back.hidden;
  /** @type {App} */
  const app = {
    session,
    client: new Client(session.origin, session.token),
    signal,
    page: about,
    company: about?.kind === "site" ? { name: null, domain: about.host } : null, // until more is known
    shows: new Set(),
    open: (view) => (way.push(view), go()),
    restart: start,
  };
  const top = [
    ...(way.length > 1 ? [] : [searchForm(app)]),
    ...(isSidePanel && way.length === 1 ? [h("p", { class: "hint" }, t("panel_hint"))] : []),
  ];
  const place = h("div", { class: "place" }, busy());
  main.replaceChildren(...top, place);
  try {
    const node = await way[way.length - 1](app);
    if (!signal.aborted) place.replaceChildren(node, ...(way.length === 1 ? [waiting(app)] : []));
  } catch (error) {
    if (!signal.aborted) place.replaceChildren(await stumble(error, session));
  }
}

/** Say what went wrong with a view. @param {unknown} error @param {Kept} session */
async function stumble(error, session) {
  if (!(error instanceof ApiError)) throw error;
  if (error.status === 401) {
    await forgetSignedIn(session, error.code);
    return busy();
  }
  return h("div", {}, h("h1", { class: "unseen" }, t("name")), stopped(error.problem, session.origin, go));
}

/** Bring credits, prices and settings of the server up to date. @param {Kept} session */
async function refresh(session) {
  try {
    await updateSignedIn(session, await new Client(session.origin, session.token).session());
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 401) await forgetSignedIn(session, error.code);
  }
}

/** Follow what happens in other windows and in the background. @param {Record<string, chrome.storage.StorageChange>} changes */
async function follow(changes) {
  if ("session" in changes) {
    const session = await signedIn();
    if ((session?.token ?? null) !== tokenShown) await start();
    else if (session && bar.hasChildNodes()) showBar(session);
  }
  const where = await chrome.windows.getCurrent();
  if (isSidePanel && tokenShown !== null && `page:${where.id}` in changes) await start();
}

/** Show who is signed in. Only words change: a button that is replaced while it is pressed hears no click.
 *  @param {Kept} session */
function showBar(session) {
  workspace.textContent = session.workspace.name;
  workspace.title = `${session.workspace.name} · ${hostOf(session.origin)}`;
  balance.textContent = credits(session.credits.balance);
  if (bar.hasChildNodes()) return;
  const atHistory = () => ((way = [way[0], historyView]), go());
  const atSettings = () => ((way = [way[0], settingsView]), go());
  bar.append(
    back,
    logo,
    workspace,
    balance,
    iconButton("history", t("history"), atHistory),
    iconButton("settings", t("settings"), atSettings),
    ...(isSidePanel ? [] : [iconButton("panel", t("side_panel"), openSidePanel)]),
  );
}

async function openSidePanel() {
  const where = await chrome.windows.getCurrent();
  await chrome.sidePanel.open({ windowId: /** @type {number} */ (where.id) });
  window.close();
}
