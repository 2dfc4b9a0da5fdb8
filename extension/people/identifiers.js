// By what a person on a page is looked up: the best identifiers that the page shows, and nothing else of the person.

import { normalizeEmail, normalizeProfileUrl } from "../client/normal_forms.js";

/** @typedef {import("../client/api.js").Subject} Subject */
/** @typedef {import("../page_people.js").PersonOnPage} PersonOnPage */

const MAX_TEXT = 200; // characters of a name; a longer text is none
const CUT = /[,(|/\u2013\u2014]| - /; // begins what follows a name: credentials, pronouns, a headline
const HIDDEN = /^(?:[\p{Lu}\p{Ll}]\p{M}*|\p{L}\p{M}*[.\u2026])?[.\u2026*\u2022_]*$/u; // of a surname: a cased letter, or one with a dot
const CASED = /[\p{Lu}\p{Ll}]/u;
const CREDENTIAL = /^(?:\p{Lu}[\p{Lu}.&-]{1,5}|Ph\.?D\.?|[MB]Sc)$/u;

/** Return the identifiers of a person, or null if they are not enough. Titles and places are never among them.
 *  @param {PersonOnPage} person @returns {Subject|null} */
export function subjectOf({ full_name = "", company_name = "", ...person }) {
  if (person.contact_id) return { contact_id: person.contact_id };
  const name = isWholeName(full_name) && full_name;
  const [chosen, member] = [profileOf(person.linkedin_url), profileOf(person.member_url)];
  const profile = chosen ?? member;
  const further = chosen !== null && member !== null && member !== chosen && { member_url: member };
  const atCompany = name && company_name.length <= MAX_TEXT && company_name;
  const exact = profile
    ? { linkedin_url: profile, ...further }
    : (!atCompany && (of("email", normalizeEmail(person.email ?? "")) ?? of("phone", phoneOf(person.phone)))) || {};
  const subject = { ...exact, ...of("full_name", name), ...of("company_name", atCompany) };
  return profile || atCompany || Object.keys(exact).length > 0 ? subject : null;
}

/** Return what tells the person from others in the list. @param {Subject} subject */
export function keyOf({
  contact_id: id,
  linkedin_url: url,
  email,
  phone,
  full_name: name = "",
  company_name: company = "",
}) {
  return id ?? url ?? email ?? phone ?? `${name}\n${company}`.toLowerCase();
}

/** Return whether a name has a surname that is not hidden, as that of `Ada L.` is: it is never guessed. @param {string} text */
export function isWholeName(text) {
  const words = withoutCredentials(text.split(CUT)[0].trim().split(/\s+/));
  const isComplete = words.length > 1 || !CASED.test(words[0]); // Chinese and Japanese names need no space
  return text.length <= MAX_TEXT && /\p{L}/u.test(text) && isComplete && !HIDDEN.test(words[words.length - 1]);
}

/** @param {string[]} words of a name; in one that is all in capitals a surname cannot be told from a credential */
function withoutCredentials(words) {
  const isInCapitals = words[0] === words[0].toUpperCase() && words[0].length > 2;
  const isCredential = (/** @type {string} */ word) => CREDENTIAL.test(word) && !HIDDEN.test(word) && !isInCapitals;
  const end = words.findIndex((word, index) => index > 1 && words.slice(index).every(isCredential) && word !== "");
  return end === -1 ? words : words.slice(0, end);
}

/** Return the normal form of a profile's URL, or of a lead's in Sales Navigator. @param {string|undefined} url */
const profileOf = (url) => (url ? normalizeProfileUrl(url) : null);

/** Return a number with its country code; without one the number is nobody's. @param {string|undefined} phone */
const phoneOf = (phone = "") => (/^\+[\d\s().-]{7,25}$/.test(phone.trim()) ? phone.trim() : null);

/** @param {string} name @param {string|null|false} value @returns {Record<string, string>|undefined} */
const of = (name, value) => (value ? { [name]: value } : undefined);
