// What the workspace has of a person itself, in its CRMs and address books: free, and shown before the price.

import { t } from "../texts.js";
import { h, shownValue, statusIcon, valueLink } from "./components.js";
import { icon } from "./icons.js";
import { callBadge } from "./results.js";

/** @typedef {import("../client/api.js").OwnRecords} OwnRecords */

/** Return the records, each with the place where it is. @param {OwnRecords} result @returns {any[]} */
const placed = ({ crm = [], address_books: books = [] }) => [
  ...crm.map((record) => ({ ...record, place: t("known_in", crmName(record)) })),
  ...books.map((entry) => ({ ...entry, kind: "entry", place: t("known_in_book", entry.book) })),
];

/** Return the names of the CRMs and address books that have the person, each once. @param {OwnRecords} result @returns {string[]} */
export const systemsOf = ({ crm = [], address_books: books = [] }) => [
  ...new Set([...crm.map(crmName), ...books.map(({ book }) => book)]),
];

/** Return icons for a contact's known and owned fields, and for where else the workspace has the person.
 *  @param {OwnRecords & {available: import("../client/api.js").MaskedValue[], saved: object|null}} result */
export function contactIcons(result) {
  const fieldIcon = (/** @type {"email"|"phone"} */ field) => {
    const value = result.available.find((masked) => masked.field === field);
    return value && statusIcon(field, value.owned ? t(`owned_${field}`) : t(`known_${field}`), value.owned);
  };
  const [own] = placed(result);
  const isKnown = own && statusIcon("known", own.place, false);
  return [fieldIcon("email"), fieldIcon("phone"), result.saved && statusIcon("saved", t("saved"), false), isKnown];
}

/** Return a section for each place that has the person. @param {OwnRecords} result @returns {HTMLElement[]} */
export const ownRecords = (result) => [...Map.groupBy(placed(result), ({ place }) => place).values()].map(section);

/** @param {any[]} records of one place @returns {HTMLElement} */
function section(records) {
  const { place } = records[0];
  const isOne = records.length === 1;
  const items = records.map((record) => {
    const values = [...record.emails.map((/** @type {string} */ email) => valueLink(email)), ...record.phones.map(ownPhone(record))];
    const shown = values.map((/** @type {any} */ value) => h("div", { class: "value" }, ...value));
    return h(isOne ? "div" : "li", {}, h("p", {}, facts(record, isOne)), shown);
  });
  const several = [h("p", {}, h("strong", {}, t("known_several", place, records.length))), h("ul", {}, ...items)];
  const lines = h("div", {}, ...(isOne ? items : several));
  return h("section", { class: "own-records", "aria-label": place }, icon("known"), lines);
}

/** Return how numbers are shown: without a link if a do-not-call register has them. @param {any} record */
const ownPhone = ({ do_not_call_phones: notToCall = [] }) => (/** @type {string} */ number) => {
  const value = { e164: number, national: number, do_not_call: notToCall.includes(number) };
  return [...shownValue(value), callBadge(value)];
};

/** Return what is said of a record, and the link to it. @param {any} record @param {boolean} isOne */
function facts(record, isOne) {
  const { is_outdated: isOutdated, kind, owner, url } = record;
  const label = t("crm_open_in", crmName(record));
  const said = [
    isOutdated && h("span", { class: "badge fair" }, t("crm_outdated", crmName(record))),
    !isOutdated && isOne && h("strong", {}, record.place),
    (!isOne || kind === "lead") && t(`record_${kind}`),
    owner && t("crm_owner", owner),
    url?.startsWith("https://") &&
      h("a", { href: url, target: "_blank", rel: "noreferrer", "aria-label": label }, t("crm_open")),
  ].filter(Boolean);
  return said.flatMap((part, index) => (index === 0 ? [part] : [" · ", part]));
}

/** Return the name of the CRM; a newer server may have another. @param {{vendor: string, vendor_title: string}} record */
const crmName = ({ vendor, vendor_title: title }) => t(`crm_${vendor}`) || title;
