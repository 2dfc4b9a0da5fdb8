// The settings that an administrator enforces for managed browsers (chrome.storage.managed, managed_schema.json).

/** `server` is the only server that may be used; `companySignInOnly` hides passwords; `prefixLookupOnly` forbids to send
 *  the hash of every website; `filterKey` is the public key of the company filter.
 *  @typedef {{server: string|null, companySignInOnly: boolean, prefixLookupOnly: boolean, filterKey: string|null}} Policy */

/** Return what is enforced; nothing in a browser that is not managed. @returns {Promise<Policy>} */
export async function loadPolicy() {
  const managed = await chrome.storage.managed.get(null).catch(() => ({})); // it is rejected if there is no policy
  const {
    server,
    company_sign_in_only: company,
    prefix_lookup_only: prefix,
    filter_key: key,
  } = /** @type {any} */ (managed);
  return {
    server: typeof server === "string" && server !== "" ? server.replace(/\/+$/, "") : null,
    companySignInOnly: company === true,
    prefixLookupOnly: prefix === true,
    filterKey: typeof key === "string" && key !== "" ? key : null,
  };
}
