// What is kept, and where. Nothing of it can be read by a web page.
//
// memory (chrome.storage.session): the token, answers, which page was asked about. Gone with the browser.
// disk (chrome.storage.local): settings, questions that are not answered yet, and the token if the person
// chose to stay signed in.

/** @typedef {import("./client/api.js").Session} Session */
/** @typedef {Session & {origin: string, token: string}} Kept */
/** @typedef {{server: string, email: string, stay: boolean, ask: "hash"|"prefix", lists: string[]}} Settings */
/** @typedef {{kind: "profile"|"company"|"site"|"nothing", url: string, host: string, tabId: number, windowId: number}} Page */

/** @typedef {Omit<chrome.storage.StorageArea, "get"> & {get(key: string|null): Promise<Record<string, any>>}} Area */

/** @type {Area} */
const disk = chrome.storage.local;
/** @type {Area} */
const memory = chrome.storage.session;
const SIGNED_IN = "session";
const SIGNED_OUT = "signed_out";
const MOST_LISTS = 20;

/** @type {Settings} */
const USUAL = { server: "", email: "", stay: false, ask: "hash", lists: [] };

/** @returns {Promise<Settings>} */
export async function settings() {
  const { settings: chosen } = await disk.get("settings");
  return { ...USUAL, ...chosen };
}

/** @param {Partial<Settings>} change */
export async function changeSettings(change) {
  await disk.set({ settings: { ...(await settings()), ...change } });
}

/** Remember the name of a list, to suggest it next time. @param {string|null} list */
export async function rememberList(list) {
  const { lists } = await settings();
  if (list) await changeSettings({ lists: [list, ...lists.filter((one) => one !== list)].slice(0, MOST_LISTS) });
}

/** Give who is signed in, or null. @returns {Promise<Kept|null>} */
export async function signedIn() {
  const here = await memory.get(SIGNED_IN);
  return here[SIGNED_IN] ?? (await disk.get(SIGNED_IN))[SIGNED_IN] ?? null;
}

/** @param {Kept} session */
export async function keepSignedIn(session) {
  await memory.set({ [SIGNED_IN]: session });
  if ((await settings()).stay) await disk.set({ [SIGNED_IN]: session });
  else await disk.remove(SIGNED_IN);
}

/** Bring what the session says up to date, unless somebody signed out or in meanwhile. @param {Kept} whose @param {Partial<Kept>} change */
export async function updateSignedIn(whose, change) {
  const now = await signedIn();
  if (now?.token === whose.token) await keepSignedIn({ ...now, ...change });
}

/** Tell what the session says whenever that changes, until the signal.
 *  @param {(session: Kept) => void} told @param {AbortSignal} signal */
export function onSession(told, signal) {
  /** @param {Record<string, chrome.storage.StorageChange>} changes */
  const hear = async (changes) => {
    const session = SIGNED_IN in changes && (await signedIn());
    if (session && !signal.aborted) told(session);
  };
  chrome.storage.onChanged.addListener(hear);
  signal.addEventListener("abort", () => chrome.storage.onChanged.removeListener(hear));
}

/** Forget a token that was refused, unless somebody signed out or in meanwhile.
 *  @param {Kept} whose @param {string} why the code of the sentence that the sign-in form shows */
export async function forgetSignedIn(whose, why) {
  if ((await signedIn())?.token !== whose.token) return;
  await memory.set({ [SIGNED_OUT]: why });
  await memory.remove(SIGNED_IN);
  await disk.remove(SIGNED_IN);
}

/** Give why nobody is signed in any more. @returns {Promise<string|null>} */
export async function whySignedOut() {
  return (await memory.get(SIGNED_OUT))[SIGNED_OUT] ?? null;
}

/** Forget everything of the person who signed out. */
export async function forgetPerson() {
  const { server, email, ask } = await settings();
  await memory.clear();
  await disk.clear();
  await changeSettings({ server, email, ask });
}

/** Give the page that was asked about last in a window. @param {number} windowId @returns {Promise<Page|null>} */
export async function page(windowId) {
  const key = `page:${windowId}`;
  return (await memory.get(key))[key] ?? null;
}

/** @param {Page} page */
export async function keepPage(page) {
  await memory.set({ [`page:${page.windowId}`]: page });
}

/** Give what was typed and not yet saved. @param {string} about @returns {Promise<any>} */
export async function draft(about) {
  const key = `draft:${about}`;
  return (await memory.get(key))[key] ?? null;
}

/** @param {string} about @param {any} text null to forget it */
export async function keepDraft(about, text) {
  const key = `draft:${about}`;
  await (text === null ? memory.remove(key) : memory.set({ [key]: text }));
}
