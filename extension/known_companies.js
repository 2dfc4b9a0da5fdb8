// The file of known websites and company pages: downloaded, verified and stored, so that nothing is sent about others.

import { ApiError } from "./client/api.js";
import { InvalidProof, blind } from "./client/blinding.js";
import { InvalidFilter, readCompanyFilter } from "./client/company_filter.js";
import { loadPolicy } from "./policy.js";
import { FILTER_CACHE, disk, memory } from "./storage.js";

/** @typedef {import("./types.js").App} App */
/** @typedef {import("./client/company_filter.js").CompanyFilter} CompanyFilter */
/** `hashes` are those that may be known, or null without a file that could be used; `state` says how they were looked up:
 *  without a request, with a blinded one, or else why not. `outputs` has the key of a keyed file and the outputs of these
 *  hashes.
 *  @typedef {{state: "local"|"blinded"|"missing"|"refused"|"unproven", hashes: string[]|null,
 *    outputs?: {key: string, known: string[]}}} Known */
/** `checkedAt` is when the stored file was last compared with the server's, in milliseconds since 1970.
 *  @typedef {{etag: string, checkedAt: number}} FileState */

const STATE = "company_filter";
const MAX_AGE = 3600_000;
const OUTPUTS = "filter_outputs";
const MAX_OUTPUTS = 2_000;
/** The status of a response from a server that has another key than the file. */
export const KEY_CHANGED = 409;
const TOO_MANY = 429;

/** Return what the file says about hashes.
 *  @param {App} app @param {string[]} hashes @param {boolean} [isFresh] compare the file with the server's first
 *  @returns {Promise<Known>} */
export async function knownHashes(app, hashes, isFresh = false) {
  const filter = await loadFilter(app, isFresh);
  if (!filter) return { state: filter === null ? "missing" : "refused", hashes: null };
  if (filter.oprfKey === null) return { state: "local", hashes: hashes.filter((hash) => filter.has(hash)) };
  try {
    const outputs = await outputsOf(app, filter.oprfKey, hashes);
    const known = outputs.filter((output) => filter.has(output));
    const knownOnes = hashes.filter((_hash, index) => filter.has(outputs[index]));
    return { state: "blinded", hashes: knownOnes, outputs: { key: filter.oprfKey, known } };
  } catch (error) {
    if (error instanceof InvalidProof) return { state: "unproven", hashes: null };
    if (error instanceof ApiError && error.status === TOO_MANY) return { state: "missing", hashes: null };
    if (!(error instanceof ApiError) || error.status !== KEY_CHANGED) throw error;
    return isFresh ? { state: "missing", hashes: null } : knownHashes(app, hashes, true);
  }
}

/** Return the outputs for the hashes, from the memory of this browser session or from the server, to which they are sent
 *  blinded. @param {App} app @param {string} key @param {string[]} hashes @returns {Promise<string[]>} */
async function outputsOf({ client, signal }, key, hashes) {
  const stored = (await memory.get(OUTPUTS))[OUTPUTS];
  /** @type {Record<string, string>} */
  const outputs = stored?.key === key ? stored.outputs : {};
  const missing = hashes.filter((hash) => !(hash in outputs));
  if (missing.length > 0) {
    const { blinded, finalize } = blind(missing, key);
    const received = finalize(await client.evaluateBlinded({ key, blinded }, { signal }));
    missing.forEach((hash, index) => (outputs[hash] = received[index]));
    const kept = Object.fromEntries(Object.entries(outputs).slice(-MAX_OUTPUTS));
    await memory.set({ [OUTPUTS]: { key, outputs: kept } });
  }
  return hashes.map((hash) => outputs[hash]);
}

/** Return the stored filter, or the server's if an hour has passed and it is newer; `false` if that one is refused.
 *  @param {App} app @param {boolean} isFresh @returns {Promise<CompanyFilter|null|false>} */
async function loadFilter({ session, client, signal }, isFresh) {
  const key = (await loadPolicy()).filterKey ?? session.filterKey ?? session.hash_lookup.filter_key;
  if (!key) return null;
  return navigator.locks.request(FILTER_CACHE, async () => {
    const cache = await caches.open(FILTER_CACHE);
    const url = `${session.origin}/company-filter`;
    const stored = await verified(await (await cache.match(url))?.arrayBuffer(), key);
    /** @type {FileState|undefined} */
    const state = stored ? (await disk.get(STATE))[STATE] : undefined;
    if (stored && state && !isFresh && Date.now() - state.checkedAt < MAX_AGE) return stored;
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
