// Stored data of the extension. No web page and no content script can read it.
//
// chrome.storage.session is in memory and ends with the browser: the token, responses, the page last clicked on,
// unsaved form input. chrome.storage.local is on disk: settings, requests without a response, and the session if
// the user chose to stay signed in.

import { loadPolicy } from "./policy.js";

/** @typedef {import("./client/api.js").Session} Session */
/** `filterKey` and `pageRulesKey` are the public keys of the company filter and the page rules as they were at sign-in.
 *  @typedef {Session & {origin: string, token: string, filterKey?: string|null, pageRulesKey?: string|null}} StoredSession */
/** `lookupBy` is what is sent about a website whose company may be known: nothing until the user asks, a prefix of its
 *  hash, or its hash; in the last case about every website.
 *  `purpose` is the last one that was chosen.
 *  @typedef {{server: string, email: string, staySignedIn: boolean, lookupBy: "filter"|"prefix"|"hash", lists: string[], purpose: string}} Settings */
/** `clickedAt` makes each click a change, which the side panel shows. In milliseconds since 1970.
 *  @typedef {{kind: "profile"|"company"|"site"|"nothing", url: string, host: string, tabId: number, windowId: number, clickedAt: number}} Page */

/** @typedef {Omit<chrome.storage.StorageArea, "get"> & {get(key: string|null): Promise<Record<string, any>>}} StorageArea */

/** @type {StorageArea} */
export const disk = chrome.storage.local;
/** @type {StorageArea} */
export const memory = chrome.storage.session;
/** The form whose draft a finished sign-in deletes. */
export const SIGN_IN_FORM = "sign_in";
/** The cache of the file of known companies. */
export const FILTER_CACHE = "company_filter";
const SESSION = "session";
const SIGN_OUT_CODE = "sign_out_code";
const MAX_LISTS = 20;

/** @type {Settings} */
const DEFAULTS = { server: "", email: "", staySignedIn: false, lookupBy: "filter", lists: [], purpose: "" };

/** Return the settings of the user, or of the administrator's policy. @returns {Promise<Settings>} */
export async function loadSettings() {
  const [settings, policy] = await Promise.all([loadOwnSettings(), loadPolicy()]);
  if (policy.server !== null) settings.server = policy.server;
  if (policy.prefixLookupOnly && settings.lookupBy === "hash") settings.lookupBy = "prefix";
  return settings;
}

/** @returns {Promise<Settings>} */
async function loadOwnSettings() {
  const { settings } = await disk.get("settings");
  return { ...DEFAULTS, ...settings };
}

/** @param {Partial<Settings>} change */
export async function updateSettings(change) {
  await disk.set({ settings: { ...(await loadOwnSettings()), ...change } });
}

/** Put the name of a list first among the suggestions. @param {string|null} list */
export async function addRecentList(list) {
  const { lists } = await loadSettings();
  if (list) await updateSettings({ lists: [list, ...lists.filter((name) => name !== list)].slice(0, MAX_LISTS) });
}

/** Return the session, or null if no one is signed in at the server of the policy. @returns {Promise<StoredSession|null>} */
export async function loadSession() {
  /** @type {StoredSession|null} */
  const session = (await memory.get(SESSION))[SESSION] ?? (await disk.get(SESSION))[SESSION] ?? null;
  const { server } = await loadPolicy();
  return server === null || session?.origin === server ? session : null;
}

/** Store the session of a sign-in, and pin the public keys of what the server signs.
 *  @param {Session} session @param {string} origin @param {string} token */
export async function startSession(session, origin, token) {
  const keys = { filterKey: session.hash_lookup.filter_key ?? null, pageRulesKey: session.page_rules_key ?? null };
  await saveSession({ ...session, origin, token, ...keys });
}

/** @param {StoredSession} session */
export async function saveSession(session) {
  await memory.set({ [SESSION]: session });
  if ((await loadSettings()).staySignedIn) await disk.set({ [SESSION]: session });
  else await disk.remove(SESSION);
}

/** Update the session, unless it has ended or been replaced. @param {StoredSession} session @param {Partial<StoredSession>} change */
export async function updateSession(session, change) {
  const current = await loadSession();
  if (current?.token === session.token) await saveSession({ ...current, ...change });
}

/** Delete a session whose token was rejected, unless it has been replaced.
 *  @param {StoredSession} session @param {string} code the error code that the sign-in form explains */
export async function endSession(session, code) {
  if ((await loadSession())?.token !== session.token) return;
  await saveSignOutCode(code);
  await memory.remove(SESSION);
  await disk.remove(SESSION);
}

/** Call back with the session whenever it changes, until the signal is aborted.
 *  @param {(session: StoredSession) => void} callback @param {AbortSignal} signal */
export function onSessionChange(callback, signal) {
  /** @param {Record<string, chrome.storage.StorageChange>} changes */
  const onChanged = async (changes) => {
    const session = SESSION in changes && (await loadSession());
    if (session && !signal.aborted) callback(session);
  };
  chrome.storage.onChanged.addListener(onChanged);
  signal.addEventListener("abort", () => chrome.storage.onChanged.removeListener(onChanged));
}

/** @param {string} code the error code that the sign-in form explains */
export async function saveSignOutCode(code) {
  await memory.set({ [SIGN_OUT_CODE]: code });
}

/** Return the error code that ended the last session or sign-in. @returns {Promise<string|null>} */
export async function loadSignOutCode() {
  return (await memory.get(SIGN_OUT_CODE))[SIGN_OUT_CODE] ?? null;
}

/** Delete everything but the server, the e-mail address and how websites are looked up. */
export async function clearUserData() {
  const { server, email, lookupBy } = await loadOwnSettings();
  await disk.set({ settings: { ...DEFAULTS, server, email, lookupBy } }); // first: the sign-in form shows them
  await disk.remove(Object.keys(await disk.get(null)).filter((key) => key !== "settings"));
  await memory.clear();
  await caches.delete(FILTER_CACHE);
}

/** Return the page that the icon was last clicked on in a window. @param {number} windowId @returns {Promise<Page|null>} */
export async function loadPage(windowId) {
  const key = `page:${windowId}`;
  return (await memory.get(key))[key] ?? null;
}

/** @param {Page} page */
export async function savePage(page) {
  await memory.set({ [`page:${page.windowId}`]: page });
}

/** Take whom the popup of a window showed when it opened the side panel. @param {number} windowId @returns {Promise<any>} */
export async function takeSubject(windowId) {
  const key = `subject:${windowId}`;
  const subject = (await memory.get(key))[key] ?? null;
  if (subject) await memory.remove(key);
  return subject;
}

/** @param {number} windowId @param {import("./client/api.js").Subject} subject */
export async function handOver(windowId, subject) {
  await memory.set({ [`subject:${windowId}`]: subject });
}

/** Return the unsaved input of a form. @param {string} form @returns {Promise<any>} */
export async function loadDraft(form) {
  const key = `draft:${form}`;
  return (await memory.get(key))[key] ?? null;
}

/** @param {string} form @param {any} input null to delete the draft */
export async function saveDraft(form, input) {
  const key = `draft:${form}`;
  await (input === null ? memory.remove(key) : memory.set({ [key]: input }));
}
