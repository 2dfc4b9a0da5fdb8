// The settings that an administrator enforces for managed browsers (chrome.storage.managed, managed_schema.json).

/** `server` is the only server that may be used; `companySignInOnly` hides passwords; `prefixLookupOnly` forbids to send
 *  the hash of every website; `filterKey` is the public key of the company filter; `pageRulesOff` has the names of rules
 *  and the hosts of which no people are read.
 *  @typedef {{server: string|null, companySignInOnly: boolean, prefixLookupOnly: boolean, filterKey: string|null,
 *    pageRulesOff: string[]}} Policy */

/** Return the base URL of the server; null if it is not a URL that a token may be sent to.
 *  @param {string} input @returns {string|null} */
export function baseUrlOf(input) {
  const text = input.trim();
  const url = /^[a-z]+:\/\//i.test(text) ? text : `https://${text}`;
  if (text === "" || !URL.canParse(url)) return null;
  const { protocol, hostname, origin, pathname } = new URL(url);
  const isLoopback = hostname === "127.0.0.1" || hostname === "localhost";
  if (protocol !== "https:" && !(protocol === "http:" && isLoopback)) return null;
  return origin + pathname.replace(/\/+$/, "");
}

/** Return what is enforced; nothing in a browser that is not managed. @returns {Promise<Policy>} */
export async function loadPolicy() {
  const managed = await chrome.storage.managed.get(null).catch(() => ({})); // it is rejected if there is no policy
  const {
    server,
    company_sign_in_only: company,
    prefix_lookup_only: prefix,
    filter_key: key,
    page_rules_off: off,
  } = /** @type {any} */ (managed);
  return {
    server: typeof server === "string" && server !== "" ? (baseUrlOf(server) ?? server) : null,
    companySignInOnly: company === true,
    prefixLookupOnly: prefix === true,
    filterKey: typeof key === "string" && key !== "" ? key : null,
    pageRulesOff: Array.isArray(off) ? off.filter((text) => typeof text === "string") : [],
  };
}
