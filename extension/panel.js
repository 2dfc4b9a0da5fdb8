// The popup and the side panel: the header, the open view and the way back.

import { readActivePage } from "./active_page.js";
import { ApiError, Client } from "./client/api.js";
import { setDialLink } from "./dialing.js";
import { listRequests, updateBadge } from "./request_store.js";
import { run } from "./requests.js";
import {
  endSession,
  handOver,
  loadPage,
  loadSession,
  loadSignOutCode,
  savePage,
  takeSubject,
  updateSession,
} from "./storage.js";
import { LANGUAGE, formatCredits, hostOf, t } from "./texts.js";
import { emptyState, h, iconButton, loading, problemAlert } from "./views/components.js";
import { historyView } from "./views/history.js";
import { otherRequests } from "./views/other_requests.js";
import { pageView } from "./views/page.js";
import { personView } from "./views/person.js";
import { searchForm } from "./views/search.js";
import { settingsView } from "./views/settings.js";
import { signInView } from "./views/sign_in.js";

/** @typedef {import("./storage.js").StoredSession} StoredSession */
/** @typedef {import("./storage.js").Page} Page */
/** @typedef {import("./types.js").App} App */
/** @typedef {import("./types.js").View} View */

const ROUNDING = 8; // pixels that the content of a popup may exceed its height without a scroll bar
const isSidePanel = location.search === "?side";
const header = /** @type {HTMLElement} */ (document.getElementById("header"));
const main = /** @type {HTMLElement} */ (document.getElementById("view"));
const backButton = iconButton("back", t("back"), () => (viewStack.pop(), navigate()));
const logo = h("img", { src: "icons/48.png", alt: "" });
const workspaceName = h("strong", { class: "workspace" });
const balance = h("span", { class: "credits", id: "credits" });

/** @type {View[]} */
let viewStack = [];
let viewController = new AbortController();
/** @type {string|null} */
let shownToken = null;

document.title = t("name");
document.documentElement.lang = LANGUAGE;
document.documentElement.classList.toggle("side", isSidePanel);
chrome.storage.onChanged.addListener(onStorageChange);
if (!isSidePanel) keepWidth();
await start();

/** Keep the content of the popup equally wide with and without a scroll bar: Chrome adds the bar to the popup's width. */
function keepWidth() {
  const root = document.documentElement;
  const probe = h("div", { class: "scroll-bar-probe" });
  document.body.append(probe);
  root.style.setProperty("--scroll-bar", `${probe.offsetWidth - probe.clientWidth}px`);
  probe.remove();
  const onResize = () => root.classList.toggle("scrolls", root.scrollHeight - root.clientHeight > ROUNDING);
  new ResizeObserver(onResize).observe(document.body);
}

/** Show the sign-in form, or the view for the page. */
async function start() {
  const session = await loadSession();
  shownToken = session?.token ?? null;
  updateBadge(); // it counts the requests of the signed-in account
  if (session === null) {
    viewStack = [];
    header.replaceChildren();
    viewController.abort();
    main.replaceChildren(await signInView(await loadSignOutCode()));
    return;
  }
  if (main.childElementCount === 0) main.replaceChildren(loading());
  if (!isSidePanel) await savePage(await readActivePage());
  const page = await loadPageOfWindow();
  refresh(session);
  for (const request of await listRequests()) run(request);
  const subject = isSidePanel && (await takeSubject(await windowId()));
  viewStack = [viewFor(page), ...(subject ? [personView(subject)] : [])];
  await render();
}

async function loadPageOfWindow() {
  return loadPage(await windowId());
}

async function windowId() {
  const { id } = await chrome.windows.getCurrent();
  return id ?? chrome.windows.WINDOW_ID_CURRENT;
}

/** @param {Page|null} page @returns {View} */
function viewFor(page) {
  const nothing = () => emptyState(t("nothing_title"), isSidePanel ? t("panel_empty") : t("nothing_text"));
  return page && (page.kind !== "nothing" || page.host) ? pageView(page, nothing) : nothing;
}

/** Show the top view and focus its heading, which scrolls the window to the top. */
async function navigate() {
  main.focus();
  await render();
  const heading = main.querySelector("h1, .view-content h2");
  if (document.activeElement !== main || !(heading instanceof HTMLElement)) return;
  heading.tabIndex = -1;
  heading.focus();
}

/** Show the top view of the stack. */
async function render() {
  viewController.abort();
  viewController = new AbortController();
  const { signal } = viewController;
  const session = await loadSession();
  const page = await loadPageOfWindow();
  if (signal.aborted) return; // another view has been opened
  if (session === null) return start();
  showHeader(session);
  const isHome = viewStack.length === 1;
  backButton.hidden = isHome;
  logo.hidden = !isHome;
  const app = createApp(session, page, signal);
  const hint = isSidePanel && h("p", { class: "hint" }, t("panel_hint"));
  const content = h("div", { class: "stack view-content" }, loading());
  main.replaceChildren(...(isHome ? [searchForm(app), hint].filter(Boolean) : []), content);
  try {
    const node = await viewStack[viewStack.length - 1](app);
    if (signal.aborted) return;
    content.replaceChildren(node);
    if (isHome) showOtherRequests(app, content);
  } catch (error) {
    if (!signal.aborted) content.replaceChildren(await errorView(error, session));
  }
}

/** Show the other requests once what is above them is there: they would move away from the pointer.
 *  @param {App} app @param {HTMLElement} content */
async function showOtherRequests(app, content) {
  await Promise.allSettled(app.loads);
  if (!app.signal.aborted) content.append(otherRequests(app));
}

/** @param {StoredSession} session @param {Page|null} page @param {AbortSignal} signal @returns {App} */
function createApp(session, page, signal) {
  return {
    session,
    client: new Client(session.origin, session.token),
    signal,
    page,
    company: page?.kind === "site" ? { name: null, domain: page.host } : null, // until the view knows more
    shownRequests: new Set(),
    loads: [],
    open: (view) => (viewStack.push(view), navigate()),
    restart: start,
  };
}

/** Return what to show if a view fails; a rejected token ends the session. @param {unknown} error @param {StoredSession} session */
async function errorView(error, session) {
  if (!(error instanceof ApiError)) throw error;
  if (error.status === 401) {
    await endSession(session, error.code);
    return loading();
  }
  const alert = problemAlert(error.problem, session.origin, navigate);
  return h("div", {}, h("h1", { class: "visually-hidden" }, t("name")), alert);
}

/** Load credits, prices and settings from the server. @param {StoredSession} session */
async function refresh(session) {
  try {
    await updateSession(session, await new Client(session.origin, session.token).session());
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 401) await endSession(session, error.code);
  }
}

/** Show what other windows and the service worker changed. @param {Record<string, chrome.storage.StorageChange>} changes */
async function onStorageChange(changes) {
  if ("session" in changes) {
    const session = await loadSession();
    if ((session?.token ?? null) !== shownToken) await start();
    else if (session && header.hasChildNodes()) showHeader(session);
  }
  const id = await windowId();
  const isOpened = `page:${id}` in changes || changes[`subject:${id}`]?.newValue;
  if (isSidePanel && shownToken !== null && isOpened) await start();
}

/** Show the workspace and its balance. Buttons are not replaced: one that is replaced while it is pressed gets no click.
 *  @param {StoredSession} session */
function showHeader(session) {
  workspaceName.textContent = session.workspace.name;
  setDialLink(session.workspace.dial_link);
  workspaceName.title = `${session.workspace.name} · ${hostOf(session.origin)}`;
  balance.textContent = session.credits.balance === null ? "" : formatCredits(session.credits.balance);
  if (header.hasChildNodes()) return;
  const openHistory = () => ((viewStack = [viewStack[0], historyView]), navigate());
  const openSettings = () => ((viewStack = [viewStack[0], settingsView]), navigate());
  header.append(
    backButton,
    logo,
    workspaceName,
    balance,
    iconButton("history", t("history"), openHistory),
    iconButton("settings", t("settings"), openSettings),
    ...(isSidePanel ? [] : [iconButton("panel", t("side_panel"), openSidePanel)]),
  );
}

async function openSidePanel() {
  const id = await windowId();
  const subject = viewStack.at(-1)?.subject;
  if (subject) await handOver(id, subject);
  await chrome.sidePanel.open({ windowId: id });
  window.close();
}
