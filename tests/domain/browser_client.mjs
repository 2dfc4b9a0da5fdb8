// What a browser extension computes by itself, with nothing but the browser's URL parser and SHA-256.
//
//   node browser_client.mjs vectors.json
//
// prints, for every published vector of a section, the normal forms that a client arrives at and their hashes:
// one for a profile or an e-mail, none where there is none, and for a website its candidates, most specific
// first: a client without a Public Suffix List cannot tell which of them is the registrable domain.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const MOST_CANDIDATES = 8;
const NOWHERE = ["localhost", "local", "internal", "onion", "invalid", "arpa"];
const LINKEDIN = /^(?:(?:www|m|mobile|touch|[a-z]{2})\.)*linkedin\.com$/;
const WRAPPERS = ["comm", "mwlite", "public-profile"];
const COMPANIES = ["company", "company-beta", "school", "showcase"];
const NOBODY = ["me", "unavailable"];
const JOINERS = ["\u200c", "\u200d"];

/** Give the host of an http(s) URL or of what somebody typed, as a browser would open it; null if none. */
function publicHost(text) {
  const typed = text.trim();
  if (!/^https?:/i.test(typed) && /^[a-z][a-z0-9+.-]*:[/\\]{2}|^[a-z][a-z0-9+-]*:(?![0-9])/i.test(typed)) {
    return null; // another scheme
  }
  const url = /^https?:/i.test(typed) ? typed : "https://" + typed.replace(/^[/\\]{2,}/, "");
  if (/^[/\\]/.test(typed) && !/^[/\\]{2}/.test(typed)) return null; // a path
  const host = URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, "") : "";
  const labels = host.split(".");
  const last = labels.at(-1);
  const isName = labels.length > 1 && labels.every((label) => /^[a-z0-9_-]{1,63}$/.test(label));
  const isPublic = /^(?:[a-z]{2,}|xn--[a-z0-9-]+)$/.test(last) && !NOWHERE.includes(last);
  return isName && isPublic ? host : null;
}

/** Give the domains that a website may go by: shop.acme.co.uk, acme.co.uk, co.uk. */
function websiteCandidates(text) {
  const host = publicHost(text);
  if (host === null) return [];
  const labels = host.split(".");
  const all = labels.slice(0, -1).map((_, from) => labels.slice(from).join("."));
  return all.slice(-MOST_CANDIDATES);
}

/** Give the path of an address of the network, as written; null if it leads anywhere else. */
function linkedinPath(text) {
  const path = text.trim().split(/[?#]/)[0];
  if (/[\\@]/.test(path)) return null;
  if (/^\/?(?:in|pub|company|school|showcase)\//i.test(path)) return path;
  const host = publicHost(path);
  return host !== null && LINKEDIN.test(host) ? path.replace(/^(?:https?:)?[/]*[^/]*/i, "") : null;
}

/** Decode one path segment, twice if it was encoded twice; null if it holds what no profile's name has. */
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

/** Turn /pub/ada-lovelace/1/2/3 into the slug that it redirects to. */
function modernSlug([name, ...rest]) {
  const groups = rest.slice(0, 3).map((part) => part.toLowerCase());
  if (groups.length < 3 || !groups.every((part) => /^[0-9a-f]{1,3}$/.test(part))) return null;
  const [high, middle, low] = groups;
  return `${slug(name)}-${low.padStart(3, "0")}${middle.padStart(3, "0")}${high}`;
}

function linkedinUrl(text, kinds, folder) {
  const path = linkedinPath(text);
  const parts = (path ?? "").split("/").filter((part) => part !== "");
  if (WRAPPERS.includes(parts[0]?.toLowerCase())) parts.shift();
  const kind = parts.shift()?.toLowerCase();
  if (parts.length === 0 || !kinds.includes(kind)) return [];
  const name = kind === "pub" ? modernSlug(parts) : slug(parts[0]);
  return name === null || (folder === "in" && NOBODY.includes(name)) ? [] : [`https://www.linkedin.com/${folder}/${name}`];
}

/** Give a plain address trimmed and lower-case, its domain in A-labels. */
function email(text) {
  const parts = text.trim().toLowerCase().split("@");
  if (parts.length !== 2) return [];
  const [local, domain] = parts;
  const host = publicHost("https://" + domain);
  const plain = /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u.test(local);
  const named = host !== null && host.split(".").every((label) => !/^-|-$|_/.test(label));
  return plain && named ? [`${local.normalize("NFC")}@${host}`] : [];
}

const NORMAL = {
  website: websiteCandidates,
  profile_url: (text) => linkedinUrl(text, ["in", "pub"], "in"),
  company_url: (text) => linkedinUrl(text, COMPANIES, "company"),
  email,
};

const vectors = JSON.parse(readFileSync(process.argv[2], "utf8"));
const answers = Object.entries(NORMAL).map(([section, normal]) => [
  section,
  vectors[section].map(({ input }) =>
    normal(input).map((form) => ({ form, sha256: createHash("sha256").update(form).digest("hex") })),
  ),
]);
console.log(JSON.stringify(Object.fromEntries(answers)));
