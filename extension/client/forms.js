// Normal forms and hashes, as the service's README publishes them, with nothing but the browser's URL parser
// and SHA-256. app/domain/data/vectors.json has the test vectors. Made to be copied by other clients.

const MOST_CANDIDATES = 8;
const NOWHERE = ["localhost", "local", "internal", "onion", "invalid", "arpa"];
const LINKEDIN = /^(?:(?:www|m|mobile|touch|[a-z]{2})\.)*linkedin\.com$/;
const WRAPPERS = ["comm", "mwlite", "public-profile"];
const COMPANIES = ["company", "company-beta", "school", "showcase"];
const NOBODY = ["me", "unavailable"];
const JOINERS = ["\u200c", "\u200d"];

/** Give the lower-case hex SHA-256 of a text in UTF-8. @param {string} text @returns {Promise<string>} 64 digits */
export async function sha256(text) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Give the host of an http(s) URL or of what somebody typed, as a browser would open it; null if none.
 *  @param {string} text @returns {string|null} */
export function publicHost(text) {
  const typed = text.trim();
  if (!/^https?:/i.test(typed) && /^[a-z][a-z0-9+.-]*:[/\\]{2}|^[a-z][a-z0-9+-]*:(?![0-9])/i.test(typed)) {
    return null; // another scheme
  }
  const url = /^https?:/i.test(typed) ? typed : "https://" + typed.replace(/^[/\\]{2,}/, "");
  if (/^[/\\]/.test(typed) && !/^[/\\]{2}/.test(typed)) return null; // a path
  const host = URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, "") : "";
  const labels = host.split(".");
  const last = labels[labels.length - 1];
  const isName = labels.length > 1 && labels.every((label) => /^[a-z0-9_-]{1,63}$/.test(label));
  const isPublic = /^(?:[a-z]{2,}|xn--[a-z0-9-]+)$/.test(last) && !NOWHERE.includes(last);
  return isName && isPublic ? host : null;
}

/** Give the domains that a website may go by, most specific first: shop.acme.co.uk, acme.co.uk, co.uk.
 *  Which of them is the registrable one the service knows, by the Public Suffix List.
 *  @param {string} text @returns {string[]} at most 8 */
export function websiteCandidates(text) {
  const host = publicHost(text);
  if (host === null) return [];
  const labels = host.split(".");
  const all = labels.slice(0, -1).map((_, from) => labels.slice(from).join("."));
  return all.slice(-MOST_CANDIDATES);
}

/** Give `https://www.linkedin.com/in/<slug>`, or null if it is no profile's address. @param {string} text @returns {string|null} */
export function profileUrl(text) {
  return linkedinUrl(text, ["in", "pub"], "in");
}

/** Give `https://www.linkedin.com/company/<slug>`, or null. @param {string} text @returns {string|null} */
export function companyUrl(text) {
  return linkedinUrl(text, COMPANIES, "company");
}

/** Give an address trimmed and lower-case, its domain in A-labels, or null. @param {string} text @returns {string|null} */
export function emailAddress(text) {
  const parts = text.trim().toLowerCase().split("@");
  if (parts.length !== 2) return null;
  const [local, domain] = parts;
  const host = publicHost("https://" + domain);
  const plain = /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u.test(local);
  const named = host !== null && host.split(".").every((label) => !/^-|-$|_/.test(label));
  return plain && named ? `${local.normalize("NFC")}@${host}` : null;
}

/** @param {string} text @param {string[]} kinds @param {string} folder */
function linkedinUrl(text, kinds, folder) {
  const path = linkedinPath(text);
  const parts = (path ?? "").split("/").filter((part) => part !== "");
  if (WRAPPERS.includes(parts[0]?.toLowerCase())) parts.shift();
  const kind = parts.shift()?.toLowerCase() ?? "";
  if (parts.length === 0 || !kinds.includes(kind)) return null;
  const name = kind === "pub" ? modernSlug(parts) : slug(parts[0]);
  return name === null || (folder === "in" && NOBODY.includes(name))
    ? null
    : `https://www.linkedin.com/${folder}/${name}`;
}

/** Give the path of an address of the network, as written; null if it leads anywhere else. @param {string} text */
function linkedinPath(text) {
  const path = text.trim().split(/[?#]/)[0];
  if (/[\\@]/.test(path)) return null;
  if (/^\/?(?:in|pub|company|school|showcase)\//i.test(path)) return path;
  const host = publicHost(path);
  return host !== null && LINKEDIN.test(host) ? path.replace(/^(?:https?:)?[/]*[^/]*/i, "") : null;
}

/** Decode one path segment, twice if it was encoded twice; null if it holds what no profile's name has. @param {string} raw */
function slug(raw) {
  let text = raw.toLowerCase();
  for (let time = 0; time < 2; time += 1) {
    if (!/%[0-9a-f]{2}/i.test(text)) continue;
    try {
      text = decodeURIComponent(text);
    } catch {
      return null;
    }
  }
  text = text.normalize("NFC").toLowerCase().normalize("NFC");
  const bad = [...text].some((one) => /[/\\?#%<>"{}|^`[\]@:,;]|[\p{C}\p{Z}]/u.test(one) && !JOINERS.includes(one));
  return text === "" || bad ? null : text;
}

/** Turn /pub/ada-lovelace/1/2/3 into the slug that it redirects to. @param {string[]} parts */
function modernSlug([name, ...rest]) {
  const groups = rest.slice(0, 3).map((part) => part.toLowerCase());
  if (groups.length < 3 || !groups.every((part) => /^[0-9a-f]{1,3}$/.test(part))) return null;
  const [high, middle, low] = groups;
  return `${slug(name)}-${low.padStart(3, "0")}${middle.padStart(3, "0")}${high}`;
}
