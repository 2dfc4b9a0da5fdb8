// The people of a list on a page: what is known of each, and what it would cost.

import { keyOf, subjectOf } from "./identifiers.js";

/** @typedef {import("../client/api.js").Subject} Subject */
/** @typedef {import("../client/api.js").LookupResult} LookupResult */
/** @typedef {import("../client/api.js").EnrichedItem} EnrichedItem */
/** @typedef {import("../page_people.js").PersonOnPage} PersonOnPage */
/** @typedef {"email"|"phone"} Field */
/**
 * A person of the list. `subject` is null if not enough is known; `lookup` is null until the person is looked up; `item`
 * is the result of a request, and `isRequested` whether one is in progress. `push` is what became of a push to a CRM.
 * @typedef {{key: string, person: PersonOnPage, subject: Subject|null, lookup: LookupResult|null,
 *   item: EnrichedItem|null, isRequested: boolean, isPicked: boolean, push: Push|null}} ListedPerson */
/** `outcome` is null while the CRM has not answered, `error` says why it did not take the person.
 *  @typedef {{vendor: string, outcome: string|null, error: string|null}} Push */
/** What a request buys: `skip` says who is left out because the workspace has the person itself.
 *  @typedef {{fields: Field[], skip: "in_source"|"has_field"|"none"}} Choice */
/** @typedef {"unidentified"|"waiting"|"suppressed"|"excluded"|"requested"|"owned"|"own_record"|"known"|"unknown"} State */

/** Return the people, each once, in the order of the page. @param {PersonOnPage[]} people @returns {ListedPerson[]} */
export function listPeople(people) {
  /** @type {Map<string, ListedPerson>} */
  const listed = new Map();
  people.forEach((person, index) => {
    const subject = subjectOf(person);
    const key = subject ? keyOf(subject) : `${index}`;
    const plain = { lookup: null, item: null, isRequested: false, isPicked: false, push: null };
    if (!listed.has(key)) listed.set(key, { key, person, subject, ...plain });
  });
  return [...listed.values()];
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
export const isPickable = (listed) =>
  !["unidentified", "requested", "suppressed", "excluded"].includes(stateOf(listed));

/** Return whether the person can be pushed to a CRM: the workspace owns a value, or has saved the person. @param {ListedPerson} listed */
export function isPushable(listed) {
  const isSaved = Boolean(listed.lookup?.saved && listed.lookup.contact);
  return listed.subject !== null && isPickable(listed) && (stateOf(listed) === "owned" || isSaved);
}

/** Return the requested fields that may cost something. @param {ListedPerson} listed @param {Choice} choice @returns {Field[]} */
export function fieldsToBuy(listed, { fields, skip }) {
  const { lookup } = listed;
  if (lookup === null) return fields;
  const records = skip === "none" ? [] : ownRecordsOf(lookup);
  if (skip === "in_source" && records.length > 0) return [];
  return fields.filter(
    (field) => valuesOf(listed, field).length === 0 && !records.some((record) => record[`${field}s`].length > 0),
  );
}

/** Return the price of a person in credits. @param {ListedPerson} listed @param {Choice} choice @param {Record<string, number>} prices */
export function priceOf(listed, choice, prices) {
  const price = (/** @type {Field} */ field) =>
    listed.lookup?.available.find((value) => value.field === field)?.credits ?? prices[`reveal.${field}`] ?? 1;
  return fieldsToBuy(listed, choice).reduce((sum, field) => sum + price(field), 0);
}

/** Return the sources that a request can skip. @param {ListedPerson[]} people @returns {string[]} */
export function skippableSources(people) {
  const has = (/** @type {"crm"|"address_books"} */ name) =>
    people.some(({ lookup }) => (lookup?.[name] ?? []).length > 0);
  return [...(has("crm") ? ["crm"] : []), ...(has("address_books") ? ["address_book"] : [])];
}

/** @param {LookupResult} lookup @returns {(import("../client/api.js").CrmRecord|import("../client/api.js").BookEntry)[]} */
const ownRecordsOf = ({ crm = [], address_books: books = [] }) => [...crm, ...books];
