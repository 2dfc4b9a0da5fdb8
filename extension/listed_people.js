// The people of a list on a page: by what each is looked up, what is known of each, and what it would cost.

import { normalizeEmail, normalizeProfileUrl } from "./client/normal_forms.js";

/** @typedef {import("./client/api.js").Subject} Subject */
/** @typedef {import("./client/api.js").LookupResult} LookupResult */
/** @typedef {import("./client/api.js").EnrichedItem} EnrichedItem */
/** @typedef {import("./page_people.js").PersonOnPage} PersonOnPage */
/** @typedef {"email"|"phone"} Field */
/**
 * A person of the list. `subject` is null if not enough is known; `lookup` is null until the person is looked up; `item`
 * is the result of a request, and `isRequested` whether one is in progress.
 * @typedef {{key: string, person: PersonOnPage, subject: Subject|null, lookup: LookupResult|null,
 *   item: EnrichedItem|null, isRequested: boolean, isPicked: boolean}} ListedPerson */
/** What a request buys: `skip` says who is left out because the workspace has the person itself.
 *  @typedef {{fields: Field[], skip: "in_source"|"has_field"|"none"}} Choice */
/** @typedef {"unidentified"|"waiting"|"suppressed"|"excluded"|"requested"|"owned"|"own_record"|"known"|"unknown"} State */

const MAX_TEXT = 200; // characters of a name; a longer text is none
const CUT = /[,(|/\u2013\u2014]| - /; // begins what follows a name: credentials, pronouns, a headline
const HIDDEN = /^(?:[\p{Lu}\p{Ll}]\p{M}*|\p{L}\p{M}*[.\u2026])?[.\u2026*\u2022_]*$/u; // of a surname: a cased letter, or one with a dot
const CASED = /[\p{Lu}\p{Ll}]/u;
const CREDENTIAL = /^(?:\p{Lu}[\p{Lu}.&-]{1,5}|Ph\.?D\.?|[MB]Sc)$/u;

/** Return the people, each once, in the order of the page. @param {PersonOnPage[]} people @returns {ListedPerson[]} */
export function listPeople(people) {
  /** @type {Map<string, ListedPerson>} */
  const listed = new Map();
  people.forEach((person, index) => {
    const subject = subjectOf(person);
    const key = subject ? keyOf(subject) : `${index}`;
    const plain = { lookup: null, item: null, isRequested: false, isPicked: false };
    if (!listed.has(key)) listed.set(key, { key, person, subject, ...plain });
  });
  return [...listed.values()];
}

/** Return the identifiers of a person, or null if they are not enough. Titles and places are never among them.
 *  @param {PersonOnPage} person @returns {Subject|null} */
export function subjectOf({ full_name = "", company_name = "", ...person }) {
  const name = isWholeName(full_name) && full_name;
  const profile = profileOf(person.linkedin_url) ?? profileOf(person.member_url);
  const atCompany = name && company_name.length <= MAX_TEXT && company_name;
  const exact = profile
    ? { linkedin_url: profile }
    : (!atCompany && (of("email", normalizeEmail(person.email ?? "")) ?? of("phone", phoneOf(person.phone)))) || {};
  const subject = { ...exact, ...of("full_name", name), ...of("company_name", atCompany) };
  return profile || atCompany || Object.keys(exact).length > 0 ? subject : null;
}

/** Return what tells the person from others in the list. @param {Subject} subject */
export function keyOf({ linkedin_url: url, email, phone, full_name: name = "", company_name: company = "" }) {
  return url ?? email ?? phone ?? `${name}\n${company}`.toLowerCase();
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

/** @param {ListedPerson} listed @returns {State} */
export function stateOf(listed) {
  const { subject, lookup, isRequested } = listed;
  if (subject === null) return "unidentified";
  if (isRequested) return "requested";
  if (valuesOf(listed, "email").length + valuesOf(listed, "phone").length > 0) return "owned";
  if (lookup === null) return "waiting";
  if (lookup.suppressed) return "suppressed";
  if (lookup.excluded) return "excluded";
  if (ownRecordsOf(lookup).length > 0) return "own_record";
  return lookup.available.length > 0 ? "known" : "unknown";
}

/** Return the values that the workspace owns: those of a request just finished, or of the lookup.
 *  @param {ListedPerson} listed @param {Field} field @returns {any[]} */
export function valuesOf({ lookup, item }, field) {
  const found = item?.[`${field}s`] ?? [];
  return found.length > 0 ? found : (lookup?.revealed[`${field}s`] ?? []);
}

/** @param {ListedPerson} listed */
export const isPickable = (listed) => !["unidentified", "requested", "suppressed", "excluded"].includes(stateOf(listed));

/** Return the requested fields that may cost something. @param {ListedPerson} listed @param {Choice} choice @returns {Field[]} */
export function fieldsToBuy(listed, { fields, skip }) {
  const { lookup } = listed;
  if (lookup === null) return fields;
  const records = skip === "none" ? [] : ownRecordsOf(lookup);
  if (skip === "in_source" && records.length > 0) return [];
  return fields.filter((field) => valuesOf(listed, field).length === 0 && !records.some((record) => record[`${field}s`].length > 0));
}

/** Return the price of a person in credits. @param {ListedPerson} listed @param {Choice} choice @param {Record<string, number>} prices */
export function priceOf(listed, choice, prices) {
  const price = (/** @type {Field} */ field) =>
    listed.lookup?.available.find((value) => value.field === field)?.credits ?? prices[`reveal.${field}`] ?? 1;
  return fieldsToBuy(listed, choice).reduce((sum, field) => sum + price(field), 0);
}

/** Return the sources that a request can skip. @param {ListedPerson[]} people */
export function skippableSources(people) {
  const has = (/** @type {"crm"|"address_books"} */ name) => people.some(({ lookup }) => (lookup?.[name] ?? []).length > 0);
  return [has("crm") && "crm", has("address_books") && "address_book"].filter(Boolean);
}

/** @param {LookupResult} lookup @returns {(import("./client/api.js").CrmRecord|import("./client/api.js").BookEntry)[]} */
const ownRecordsOf = ({ crm = [], address_books: books = [] }) => [...crm, ...books];

/** Return the normal form of a profile's URL, or of a lead's in Sales Navigator. @param {string|undefined} url */
const profileOf = (url) => (url ? normalizeProfileUrl(url) : null);

/** Return a number with its country code; without one the number is nobody's. @param {string|undefined} phone */
const phoneOf = (phone = "") => (/^\+[\d\s().-]{7,25}$/.test(phone.trim()) ? phone.trim() : null);

/** @param {string} name @param {string|null|false} value @returns {Record<string, string>|undefined} */
const of = (name, value) => (value ? { [name]: value } : undefined);
