// The ways to look up the company of a website or company page: by its hash, by a prefix of the hash, or with a keyed file
// by a prefix of its output.

import { ApiError } from "./client/api.js";
import { openCard } from "./client/company_cards.js";
import { KEY_CHANGED, knownHashes } from "./known_companies.js";

/** @typedef {import("./types.js").App} App */
/** @typedef {import("./storage.js").Page} Page */
/** @typedef {import("./client/api.js").Company} Company */
/** `find` returns null if no company is known, or undefined if this way cannot be used now; then there is `otherwise`.
 *  `sendsHash` is whether the server gets the hash.
 *  @typedef {{find: (app: App) => Promise<Company|null|undefined>, sendsHash: boolean, otherwise?: Lookup}} Lookup */

const MAX_PREFIXES = 3;

/** @param {Page} page @param {string[]} hashes @returns {Lookup} */
export function byHash(page, hashes) {
  /** @param {App} app @returns {Promise<Company|null>} */
  async function find(app) {
    const result = await companyByHash(app, { kind: kindOf(page), hashes });
    return result?.company ?? null;
  }
  return { find, sendsHash: true };
}

/** Look up each hash of a website in turn by a prefix, which many websites share. @param {string[]} hashes @returns {Lookup} */
export function byPrefix(hashes) {
  /** @param {App} app @returns {Promise<Company|null>} */
  async function find(app) {
    const length = app.session.hash_lookup.prefix_length;
    for (const hash of hashes.slice(-MAX_PREFIXES)) {
      const result = await companyByHash(app, { prefix: hash.slice(0, length) });
      /** @type {{suffix: string, company: Company|null}[]} */
      const matches = result?.matches ?? [];
      const match = matches.find(({ suffix, company }) => suffix === hash.slice(length) && company);
      if (match) return match.company;
    }
    return null;
  }
  return { find, sendsHash: false };
}

/** Look up the known hashes in turn by a prefix of their outputs, and open the company with the output.
 *  @param {Page} page @param {string[]} hashes @returns {Lookup} */
export function byOutput(page, hashes) {
  /** @param {App} app @param {boolean} [isFresh] @returns {Promise<Company|null|undefined>} */
  async function find(app, isFresh = false) {
    const { outputs } = await knownHashes(app, hashes, isFresh);
    if (!outputs) return undefined;
    const length = app.session.hash_lookup.prefix_length;
    try {
      for (const output of outputs.known.slice(-MAX_PREFIXES)) {
        const request = { kind: kindOf(page), prefix: output.slice(0, length), key: outputs.key };
        const company = await openCard(output, outputs.key, await companyByHash(app, request));
        if (company) return company;
      }
      return null;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== KEY_CHANGED) throw error;
      return isFresh ? undefined : find(app, true);
    }
  }
  return { find, sendsHash: false, otherwise: byHash(page, hashes) };
}

/** @param {Page} page @returns {"linkedin"|"website"} */
const kindOf = (page) => (page.kind === "company" ? "linkedin" : "website");

/** @param {App} app @param {Parameters<App["client"]["companyByHash"]>[0]} body */
async function companyByHash(app, body) {
  return resultOf(app, await app.client.companyByHash(body, { wait: 10, signal: app.signal }));
}

/** Return the people of a page of the list. @param {App} app @param {Parameters<App["client"]["leadsByWebsiteHash"]>[0]} body */
export async function leadsByHash(app, body) {
  return resultOf(app, await app.client.leadsByWebsiteHash(body, { wait: 10, signal: app.signal }));
}

/** Return the result of the job once it has finished. @param {App} app @param {import("./client/api.js").JobResponse} accepted
 *  @throws {ApiError} also that of a failed job */
async function resultOf({ client, signal }, accepted) {
  const { job, result } = await client.waitForJob(accepted, signal);
  if (job.error) throw new ApiError(job.error);
  return result;
}
