// The file of known websites and company pages: downloaded, verified and stored, so that nothing is sent about others.

import { ApiError } from "./client/api.js";
import { InvalidFilter, readCompanyFilter } from "./client/company_filter.js";
import { loadPolicy } from "./policy.js";
import { FILTER_CACHE, disk } from "./storage.js";

/** @typedef {import("./types.js").App} App */
/** @typedef {import("./client/company_filter.js").CompanyFilter} CompanyFilter */
/** `checkedAt` is when the stored file was last compared with the server's, in milliseconds since 1970.
 *  @typedef {{etag: string, checkedAt: number}} FileState */

const STATE = "company_filter";
const MAX_AGE = 3600_000;

/** Return the hashes that may be known; null without a file, `false` if the file is not signed with the pinned key.
 *  @param {App} app @param {string[]} hashes @returns {Promise<string[]|null|false>} */
export async function knownHashes(app, hashes) {
  const filter = await loadFilter(app);
  return filter && hashes.filter((hash) => filter.has(hash));
}

/** Return the stored filter, or the server's if an hour has passed and it is newer; `false` if that one is refused.
 *  @param {App} app @returns {Promise<CompanyFilter|null|false>} */
async function loadFilter({ session, client, signal }) {
  const key = (await loadPolicy()).filterKey ?? session.filterKey ?? session.hash_lookup.filter_key;
  if (!key) return null;
  return navigator.locks.request(FILTER_CACHE, async () => {
    const cache = await caches.open(FILTER_CACHE);
    const url = `${session.origin}/company-filter`;
    const stored = await verified(await (await cache.match(url))?.arrayBuffer(), key);
    /** @type {FileState|undefined} */
    const state = stored ? (await disk.get(STATE))[STATE] : undefined;
    if (stored && state && Date.now() - state.checkedAt < MAX_AGE) return stored;
    const file = await download(client, state?.etag ?? null, signal);
    if (file === undefined) return stored;
    const received = file && (await verified(file.bytes, key));
    const isNewer = received && received.version >= (stored?.version ?? 0); // an older one would hide new companies
    if (isNewer) await cache.put(url, new Response(file.bytes));
    const current = isNewer ? received : stored;
    if (current) await disk.set({ [STATE]: { etag: isNewer ? file.etag : state?.etag, checkedAt: Date.now() } });
    return current ?? (file ? false : null);
  });
}

/** Return the filter of the file; null if there is none, or it is not signed with the key.
 *  @param {ArrayBuffer|undefined} file @param {string} key */
async function verified(file, key) {
  if (file === undefined) return null;
  try {
    return await readCompanyFilter(file, key);
  } catch (error) {
    if (error instanceof InvalidFilter) return null;
    throw error;
  }
}

/** Return the server's file; null if it is the one with this ETag, undefined if there is none or no connection.
 *  @param {App["client"]} client @param {string|null} etag @param {AbortSignal} signal */
async function download(client, etag, signal) {
  try {
    return await client.companyFilter({ etag, signal });
  } catch (error) {
    if (error instanceof ApiError && error.status !== 401) return undefined;
    throw error;
  }
}
