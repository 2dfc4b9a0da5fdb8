// The published normal forms and hashes, with no dependency but the browser's URL parser and SHA-256.
// app/domain/data/vectors.json has the test vectors. Other clients can copy this file.

const MAX_CANDIDATES = 8;
const NON_PUBLIC_SUFFIXES = ["localhost", "local", "internal", "onion", "invalid", "arpa"];
const LINKEDIN = /^(?:(?:www|m|mobile|touch|[a-z]{2})\.)*linkedin\.com$/;
const PATH_PREFIXES = ["comm", "mwlite", "public-profile"];
const COMPANY_PATHS = ["company", "company-beta", "school", "showcase"];
const PERSON_PATHS = ["in", "pub"];
const RESERVED_SLUGS = ["me", "unavailable", ...PERSON_PATHS];
const JOINERS = ["\u200c", "\u200d"];
const STRAY_JOINERS = /(?<![^\0-\x7f])[\u200c\u200d]+|[\u200c\u200d]+(?![^\0-\x7f])/g;
const INVISIBLE = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\ufeff]/g;
const QUOTES = "\\s<>\"'`*|,;\u2018-\u201f\u00ab\u00bb\u2039\u203a";
const ESCAPES = "%(?:20|22|27|2c|3c|3e|09|0a|0d|c2%a0|e2%80%8b|ef%bb%bf)";
const BEFORE = [
  new RegExp(`^(?:[${QUOTES}[({]|${ESCAPES})+`, "i"),
  /^(?:mailto|url|linkedin|profile)\s*:\s*(?=https?:|www\.|linkedin\.com\/)/i,
  /^(?:https?:\/{0,2})+(?=https?:\/)/i,
];
const AFTER = new RegExp(`(?:[${QUOTES}\\]}:!.\u2026]|${ESCAPES})+$`, "i");
const AFTER_CLOSED = new RegExp(`(?:[${QUOTES}\\]}):!.\u2026]|${ESCAPES})+$`, "i");
const AFTER_PATH = /[?#]|(?:&(?:amp;)?|;|%3b|%3f|%26)[a-z]\w*(?:=|%3d)|;jsessionid|%23/i;
const MAX_AFTER = 100;
const EMPTY_SLUGS = ["null", "undefined", "none", "nan", "unknown"]; // written before an empty value
const TOOLS = ["sales", "talent", "recruiter"]; // with pages of their own for people and companies
const MEMBER_ID = /^(?:ACo|ACw|AEM)AA[A-Za-z0-9_-]{3,95}$/; // keeps its capitals
const MAX_DEPTH = 3; // of redirecting URLs within each other
const URL_PARTS = /^(?:https?:)?\/{0,2}([a-z0-9._-]{1,253})(?::\d{1,5})?(\/[^?#]*)(?:\?([^#]*))?(?:#.*)?$/is;
const SIGN_IN = "authwall|login|signup|uas|checkpoint|cold-join|start|reg|redir|redirect|safety|m";
/** Hosts with the start of the path, and the parameters that contain the URL. @type {[RegExp, string[]][]} */
const REDIRECTORS = [
  [new RegExp(`^(?:[a-z]{1,8}\\.)?linkedin\\.com/(?:comm/)?(?:${SIGN_IN})\\b`), ["session_redirect", "sessionredirect", "url"]],
  [/^(?:www\.)?google\.[a-z.]{2,6}\/url\b/, ["q", "url"]],
  [/^translate\.google\.[a-z.]{2,6}\/translate\b/, ["u"]],
  [/^[a-z0-9-]+\.safelinks\.protection\.(?:outlook\.com|office365\.us)\//, ["url"]],
  [/^urldefense(?:\.proofpoint)?\.com\/v1\/url\b/, ["u"]],
  [/^lm?\.(?:facebook|instagram)\.com\//, ["u"]],
  [/^(?:www\.)?youtube\.com\/redirect\b/, ["q"]],
  [/^duckduckgo\.com\/l\//, ["uddg"]],
  [/^slack-redir\.net\/link\b/, ["url"]],
];
const MEMBER_PAGE = /^(?:[a-z]{1,8}\.)?linkedin\.com\/(?:comm\/)?profile\/view\b/;
const PROOFPOINT = /^urldefense(?:\.proofpoint)?\.com\/v2\/url\b/;
const PROOFPOINT_3 = /^(?:https?:)?\/{0,2}urldefense\.(?:proofpoint\.)?com\/v3\/__/i;
const ARCHIVED = /^\/web\/\d{4,14}\*?(?:[a-z]{2}_)?\/(?=https?:|www\.|[a-z.]{0,9}linkedin\.com\/)/i;
const TRANSLATED = ".translate.goog";
const APP =
  /^(?:android-app:\/\/com\.linkedin\.android\/(?:https?\/)?|intent:\/\/|linkedin:\/\/(?=in\/|www\.)|(linkedin:\/\/profile\/)(?!\d+(?:[/?#]|$)))/i;

/** Return the lower-case hex SHA-256 of a text in UTF-8. @param {string} text @returns {Promise<string>} 64 digits */
export async function sha256(text) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Return the public host of an http(s) URL or of typed text, parsed as a browser does; null if there is none.
 *  @param {string} text @returns {string|null} */
export function parseHost(text) {
  const typed = text.trim();
  if (!/^https?:/i.test(typed) && /^[a-z][a-z0-9+.-]*:[/\\]{2}|^[a-z][a-z0-9+-]*:(?![0-9])/i.test(typed)) {
    return null; // another scheme
  }
  const url = /^https?:/i.test(typed) ? typed : "https://" + typed.replace(/^[/\\]{2,}/, "");
  if (/^[/\\]/.test(typed) && !/^[/\\]{2}/.test(typed)) return null; // a path without a host
  const host = URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, "") : "";
  const labels = host.split(".");
  const last = labels[labels.length - 1];
  const isName = labels.length > 1 && labels.every((label) => /^[a-z0-9_-]{1,63}$/.test(label));
  const isPublic = /^(?:[a-z]{2,}|xn--[a-z0-9-]+)$/.test(last) && !NON_PUBLIC_SUFFIXES.includes(last);
  return isName && isPublic ? host : null;
}

/** Return a URL without quotes, brackets, punctuation and invisible characters around it; null if its end is cut off.
 *  @param {string} text @returns {string|null} */
function undecorated(text) {
  const url = BEFORE.reduce((rest, pattern) => rest.replace(pattern, ""), text.replace(INVISIBLE, ""));
  const start = Math.max(0, url.length - MAX_AFTER);
  const end = url.slice(start).match(url.includes("(") ? AFTER : AFTER_CLOSED);
  if (end === null) return url;
  return /\.\.|\u2026/.test(end[0]) ? null : url.slice(0, start + (end.index ?? 0));
}

/** Return the candidate domains of a website, most specific first: shop.acme.co.uk, acme.co.uk, co.uk.
 *  Only the service has the Public Suffix List, so only it can tell which of them is the registrable domain.
 *  @param {string} text @returns {string[]} at most 8 */
export function websiteCandidates(text) {
  const url = undecorated(text);
  const host = url === null ? null : parseHost(url);
  if (host === null) return [];
  const labels = host.split(".");
  const candidates = labels.slice(0, -1).map((_, start) => labels.slice(start).join("."));
  return candidates.slice(-MAX_CANDIDATES);
}

/** Return `https://www.linkedin.com/in/<slug>`, or null if the text is not a profile URL. @param {string} text @returns {string|null} */
export function normalizeProfileUrl(text) {
  return linkedinUrl(text, PERSON_PATHS, "in");
}

/** Return `https://www.linkedin.com/company/<slug>`, or null if the text is not a company URL. @param {string} text @returns {string|null} */
export function normalizeCompanyUrl(text) {
  return linkedinUrl(text, COMPANY_PATHS, "company");
}

/** Return the e-mail address trimmed and in lower case with its domain in A-labels, or null if it is invalid. @param {string} text @returns {string|null} */
export function normalizeEmail(text) {
  const parts = text.trim().toLowerCase().split("@");
  if (parts.length !== 2) return null;
  const [local, domain] = parts;
  const host = parseHost("https://" + domain);
  const isLocalPart = /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u.test(local);
  const isDomain = host !== null && host.split(".").every((label) => !/^-|-$|_/.test(label));
  return isLocalPart && isDomain ? `${local.normalize("NFC")}@${host}` : null;
}

/** @param {string} text @param {string[]} kinds @param {string} folder */
function linkedinUrl(text, kinds, folder) {
  const path = linkedinPath(text);
  const segments = (path ?? "").split("/").filter((part) => part !== "");
  if (PATH_PREFIXES.includes(segments[0]?.toLowerCase())) segments.shift();
  const parts = publicPath(segments);
  const kind = parts.shift()?.toLowerCase() ?? "";
  if (parts.length === 0 || !kinds.includes(kind)) return null;
  if (parts.slice(1).some((part) => [...PERSON_PATHS, ...COMPANY_PATHS].includes(part.toLowerCase()))) return null;
  const isMember = kind === "in" && MEMBER_ID.test(parts[0]);
  const name = kind === "pub" ? slugOfPubPath(parts) : isMember ? parts[0] : decodeSlug(parts[0]);
  return name === null || (folder === "in" && ([...RESERVED_SLUGS, ...EMPTY_SLUGS].includes(name) || /[&=]/.test(name)))
    ? null
    : `https://www.linkedin.com/${folder}/${name}`;
}

/** Return the path of the public page for one in Sales Navigator or Recruiter, if it can be told. @param {string[]} segments */
function publicPath(segments) {
  if (!TOOLS.includes(segments[0]?.toLowerCase())) return [...segments];
  if (segments[1]?.toLowerCase() === "company" && segments.length > 2) return segments.slice(1);
  const id = segments.slice(1).map((part) => decoded(part).split(",")[0]).find((part) => MEMBER_ID.test(part));
  return id === undefined ? [...segments] : ["in", id];
}

/** Return the URL that a redirecting URL leads to, if it says so itself; any other text as it is. @param {string} url */
function unwrapped(url) {
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const inner = urlInApp(url) || urlInUrl(url);
    if (!inner) break;
    url = inner;
  }
  return url;
}

/** Return the URL or the path that a link to an app, or one of Proofpoint's third version, contains. @param {string} url */
function urlInApp(url) {
  const app = url.match(APP);
  if (app !== null) return (app[1] ? "in/" : "") + url.slice(app[0].length);
  const proofpoint = url.match(PROOFPOINT_3);
  return proofpoint === null ? null : url.slice(proofpoint[0].length).split("__;")[0];
}

/** @param {string} url @returns {string|null} */
function urlInUrl(url) {
  const parts = url.match(URL_PARTS);
  if (parts === null) return null;
  const [host, path, query] = [parts[1].toLowerCase(), parts[2], parts[3] ?? ""];
  if (host.endsWith(TRANSLATED)) {
    const labels = host.slice(0, -TRANSLATED.length).replaceAll("--", "\0");
    return labels.replaceAll("-", ".").replaceAll("\0", "-") + path;
  }
  const archived = host === "web.archive.org" ? path.match(ARCHIVED) : null;
  if (archived !== null) return path.slice(archived[0].length);
  const place = host + path.toLowerCase();
  if (MEMBER_PAGE.test(place)) {
    const id = parameter(query, ["id"]) ?? "";
    return MEMBER_ID.test(id) ? "in/" + id : null;
  }
  if (PROOFPOINT.test(place)) return decoded((parameter(query, ["u"]) ?? "").replaceAll("-", "%").replaceAll("_", "/"));
  const names = REDIRECTORS.find(([pattern]) => pattern.test(place))?.[1];
  return names === undefined ? null : parameter(query, names);
}

/** Return the decoded value of the first of these parameters that is not empty. @param {string} query @param {string[]} names */
function parameter(query, names) {
  for (const pair of query.replaceAll("&amp;", "&").split("&")) {
    const [name, ...value] = pair.split("=");
    if (value.join("=") !== "" && names.includes(name.toLowerCase())) return decoded(value.join("=").replaceAll("+", " "));
  }
  return null;
}

/** Return the text percent-decoded, or as it is if it cannot be. @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Return the path of a LinkedIn URL, not decoded; null for any other host. @param {string} text */
function linkedinPath(text) {
  const url = undecorated(text) ?? "";
  const inner = unwrapped(url);
  const path = (inner === url ? url : (undecorated(inner) ?? "")).split(AFTER_PATH)[0];
  if (/[\\@\t\n\r]/.test(path)) return null;
  if (/^\/?(?:in|pub|company|school|showcase)\//i.test(path)) return path;
  const host = parseHost(path);
  return host !== null && LINKEDIN.test(host) ? path.replace(/^(?:https?:)?[/]*[^/]*/i, "") : null;
}

/** Decode a path segment, twice if it was encoded twice; null if it has characters that no slug has. @param {string} raw */
function decodeSlug(raw) {
  let text = raw.toLowerCase();
  for (let pass = 0; pass < 2; pass += 1) {
    if (!/%[0-9a-f]{2}/i.test(text)) continue;
    try {
      text = decodeURIComponent(text);
    } catch {
      return null;
    }
  }
  text = (undecorated(text.replace(STRAY_JOINERS, "")) ?? "").replace(STRAY_JOINERS, "");
  text = text.normalize("NFC").toLowerCase().normalize("NFC");
  const isInvalid = [...text].some(
    (character) => /[/\\?#%<>"{}|^`[\]@:,;]|[\p{C}\p{Z}]/u.test(character) && !JOINERS.includes(character),
  );
  return text === "" || isInvalid ? null : text;
}

/** Return the slug that /pub/ada-lovelace/1/2/3 redirects to, or null if the path is incomplete. @param {string[]} parts */
function slugOfPubPath([name, ...rest]) {
  const groups = rest.slice(0, 3).map((part) => part.toLowerCase());
  if (groups.length < 3 || !groups.every((part) => /^[0-9a-f]{1,3}$/.test(part))) return null;
  const [high, middle, low] = groups;
  return `${decodeSlug(name)}-${low.padStart(3, "0")}${middle.padStart(3, "0")}${high}`;
}
