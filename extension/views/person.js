// One person: who it is, what can be revealed, what was saved; and what to do where nobody is known.

import { readProfile } from "../tab.js";
import { find, forget, isOver, namesOf } from "../questions.js";
import { counted, slugOf, t } from "../texts.js";
import { enrichment } from "./enrichment.js";
import { announce, h, head, icon, marksOf, row, suppressed } from "./parts.js";
import { saveForm } from "./save.js";
import { values } from "./values.js";

/** @typedef {import("../panel.js").App} App */
/** @typedef {import("../client/api.js").Subject} Subject */
/** @typedef {import("../client/api.js").Card} Card */
/** @typedef {import("../client/api.js").Contact} Contact */
/** @typedef {import("../client/api.js").Company} Company */
/**
 * A person as this view knows them: `asked` is what the view was opened with, `subject` the best there is to name
 * them to the service, `label` what to call them. Called are `found` once something of them is, `opens` to show the
 * contact they turned out to be, and `suppressed` if they turn out to be on the list of those left alone.
 * @typedef {{asked: Subject, subject: Subject, label: string, found: () => void, opens: (contactId: string) => void,
 *   suppressed: () => void}} Who
 */

/** @param {Subject} subject @returns {import("../panel.js").View} */
export function personView(subject) {
  return async (app) => {
    const card = await app.client.lookup({ subject }, { signal: app.signal });
    const { contact, company } = card;
    const url = contact?.linkedin_url ?? subject.linkedin_url;
    const read = url ? await readProfile(app.page, url) : {};
    if (card.suppressed) return suppressed();
    if (card.outcome === "ambiguous") return candidates(app, card);
    app.company = company ?? (subject.company_domain ? { name: null, domain: subject.company_domain } : app.company);
    const label = contact?.full_name ?? read.full_name ?? subject.full_name ?? subject.email ?? slugOf(url);
    const top = contact ? known(label ?? t("unnamed"), contact, company) : unknown(label, read);
    const place = h("div", { class: "person" });
    const who = {
      asked: subject,
      subject: subjectOf(subject, contact, read),
      label: label ?? t("somebody"),
      found: () => top.querySelectorAll(".not-known").forEach((/** @type {Element} */ one) => one.remove()),
      opens: (/** @type {string} */ contactId) => app.open(personView({ contact_id: contactId })),
      suppressed: () => {
        announce(t("suppressed_title"));
        place.replaceChildren(suppressed());
      },
    };
    if (contact) await settle(namesOf("enrichment_request", subject, contact));
    const save = url ? await saveForm(app, url, card, read, who.suppressed) : null;
    const parts = [top, values(app, "email", who, card), values(app, "phone", who, card)];
    place.append(...parts, ...(contact ? [] : [await enrichment(app, who)]), ...(save ? [save] : []));
    return place;
  };
}

/** Name the person to the service: by id if it has one, with the name on the page if it has none of its own.
 *  @param {Subject} asked @param {Contact|null} contact @param {import("../tab.js").Profile} read @returns {Subject} */
function subjectOf(asked, contact, read) {
  const name = contact?.full_name ? {} : read.full_name && { full_name: read.full_name };
  return { ...(contact ? { contact_id: contact.id } : asked), ...name };
}

/** Forget an enrichment that is over: what it brought is on the card. @param {string[]} names */
async function settle(names) {
  const question = await find(names);
  if (question && isOver(question)) await forget(question);
}

/** @param {string} name @param {Contact} contact @param {Company|null} company */
function known(name, contact, company) {
  const place = [contact.location?.city, contact.location?.country].filter(Boolean).join(", ");
  const work = [contact.title, company?.name].filter(Boolean).join(" · ");
  return h(
    "section",
    { class: "card" },
    head(name, false, work && h("p", {}, work), place && h("p", { class: "hint fact" }, icon("place"), place)),
  );
}

/** @param {string|undefined} name @param {import("../tab.js").Profile} read */
function unknown(name, read) {
  return h(
    "section",
    { class: "card" },
    head(
      name ?? t("person_unknown_title"),
      false,
      read.headline && h("p", {}, read.headline),
      name && h("p", { class: "not-known" }, h("span", { class: "badge" }, t("person_unknown_title"))),
    ),
    h("p", { class: "hint not-known" }, t("person_unknown_text")),
  );
}

/** @param {App} app @param {Card} card */
async function candidates(app, card) {
  const people = card.candidates.map(({ contact, company }) => ({
    id: contact.id,
    name: contact.full_name ?? slugOf(contact.linkedin_url) ?? t("unnamed"),
    second: [contact.title, company?.name].filter(Boolean).join(" · "),
  }));
  const subjects = people.map(({ id }) => ({ contact_id: id }));
  const { results } = await app.client.lookupMany({ subjects }, { signal: app.signal });
  return choice(
    app,
    people.map((one, at) => ({ ...one, marks: marksOf(results[at].available, Boolean(results[at].saved)) })),
  );
}

/** Ask which of several people is meant.
 *  @param {App} app @param {{id: string, name: string, second: string, marks: any[]}[]} people */
export function choice(app, people) {
  const rows = people.map(({ id, ...one }) => row({ ...one, open: () => app.open(personView({ contact_id: id })) }));
  return h(
    "section",
    {},
    h("h1", {}, t("candidates_title")),
    h("p", { class: "hint" }, counted("people", rows.length)),
    h("ul", { class: "list" }, ...rows),
  );
}
