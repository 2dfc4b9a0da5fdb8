// The rules that say which elements of a page are people: downloaded, verified and stored, or those of the package.

import { ApiError, Client } from "./client/api.js";
import { verifySignature } from "./client/signatures.js";
import { GENERIC_RULES } from "./generic_rules.js";
import { loadPolicy } from "./policy.js";
import { disk, loadSession } from "./storage.js";

/** @typedef {import("./reader/types.js").PageRules} PageRules */
/** @typedef {import("./reader/types.js").SiteRule} SiteRule */
/** The signed file of a server, and when it was last compared with the server's, in milliseconds since 1970.
 *  @typedef {{origin: string, rules: string, signature: string, etag: string, checkedAt: number}} StoredRules */

const STORED = "page_rules";
const MAX_AGE = 3600_000;
const FIRST_WAIT = 3_000; // milliseconds that a click waits for the first file
const LOCK = "page_rules";

/** Return the rules to read a page by: the last good file of the server, or else those of the package; in both, what the
 *  administrator's policy turns off is off.
 *  @returns {Promise<PageRules>} */
export async function loadPageRules() {
  const [rules, policy] = await Promise.all([rulesOfServer(), loadPolicy()]);
  const read = rules ?? GENERIC_RULES;
  return { ...read, off: [...read.off, ...policy.pageRulesOff] };
}

/** Return the rules of the stored file. The first one is waited for, a newer one is there with the next click.
 *  @returns {Promise<PageRules|null>} null without a session or a file */
async function rulesOfServer() {
  const session = await loadSession();
  const key = session?.pageRulesKey ?? session?.page_rules_key;
  if (!session || !key) return null;
  const stored = await storedRules(session.origin, key);
  if (stored && isFresh(stored)) return stored.rules;
  const client = new Client(session.origin, session.token);
  const update = navigator.locks.request(LOCK, () => updateFile(client, session.origin, key));
  if (stored) return stored.rules;
  await Promise.race([update, new Promise((resolve) => setTimeout(resolve, FIRST_WAIT))]);
  return (await storedRules(session.origin, key))?.rules ?? null;
}

/** Return the stored file of a server with its rules; null if there is none that is signed with the key.
 *  @param {string} origin @param {string} key @returns {Promise<{file: StoredRules, rules: PageRules}|null>} */
async function storedRules(origin, key) {
  /** @type {StoredRules|undefined} */
  const file = (await disk.get(STORED))[STORED];
  const rules = file?.origin === origin ? await verified(file, key) : null;
  return file && rules ? { file, rules } : null;
}

/** @param {{file: StoredRules}|null} stored */
function isFresh(stored) {
  return stored !== null && Date.now() - stored.file.checkedAt < MAX_AGE;
}

/** Store the server's file, unless it is not signed with the key, or older than the stored one.
 *  @param {Client} client @param {string} origin @param {string} key */
async function updateFile(client, origin, key) {
  const stored = await storedRules(origin, key);
  if (isFresh(stored)) return; // another view has just compared it
  const file = await download(client, stored?.file.etag ?? null);
  if (file === undefined) return;
  const rules = file && (await verified(file, key));
  const isNewer = rules && rules.version >= (stored?.rules.version ?? 0);
  const current = isNewer ? { ...file, origin } : stored?.file;
  if (current) await disk.set({ [STORED]: { ...current, checkedAt: Date.now() } });
}

/** Return the server's file; null if it is the one with this ETag, undefined if there is none or no connection.
 *  @param {Client} client @param {string|null} etag */
async function download(client, etag) {
  try {
    return await client.pageRules({ etag });
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** Return the rules of a file; null if they are malformed, or not signed with the key.
 *  @param {{rules: string, signature: string}} file @param {string} key @returns {Promise<PageRules|null>} */
async function verified({ rules, signature }, key) {
  if (!(await verifySignature(new TextEncoder().encode(rules), signature, key))) return null;
  try {
    return JSON.parse(rules);
  } catch {
    return null;
  }
}

/** Return whether a URL is a page of an application, such as a mailbox or a CRM: its host is not a company's website.
 *  @param {PageRules} rules @param {string} url */
export function isApp(rules, url) {
  const { hostname } = new URL(url);
  const isHost = rules.apps.some((pattern) => matches(pattern, hostname));
  return isHost || siteRules(rules, url).some(({ kind }) => kind === "person");
}

/** Return the rules that read a page: those of the site, or the generic ones if it is not an application's; none if it is
 *  off. @param {PageRules} rules @param {string} url */
export function rulesFor(rules, url) {
  const { hostname } = new URL(url);
  if (rules.off.some((pattern) => matches(pattern, hostname))) return [];
  const sites = siteRules(rules, url);
  const generic = sites.length > 0 || isApp(rules, url) ? [] : rules.generic;
  return [...sites, ...generic].filter(({ name }) => !rules.off.includes(name));
}

/** Return the rules for a page. If patterns for its host differ in length, only the longest counts: `mail.google.com` is
 *  not read as `mail.*`. @param {PageRules} rules @param {string} url */
function siteRules({ sites }, url) {
  const { hostname, pathname } = new URL(url);
  const lengthOf = (/** @type {SiteRule} */ { hosts }) =>
    Math.max(0, ...hosts.filter((pattern) => matches(pattern, hostname)).map((pattern) => pattern.length));
  const longest = Math.max(1, ...sites.map(lengthOf));
  const isPage = (/** @type {SiteRule} */ { paths }) => !paths || paths.some((pattern) => matches(pattern, pathname));
  return sites.filter((rule) => lengthOf(rule) === longest && isPage(rule));
}

/** Return whether the text is the pattern, in which `*` stands for any text and a leading `*.` for any subdomain or none.
 *  @param {string} pattern @param {string} text */
function matches(pattern, text) {
  const escaped = pattern.replace(/^\*\./, "\0").replace(/[.+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${escaped.replace("\0", "(?:.*\\.)?").replaceAll("*", ".*")}$`, "i").test(text);
}
