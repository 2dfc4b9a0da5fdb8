// A person: who it is, what can be revealed, and what is saved.

import { readProfile } from "../active_page.js";
import { deleteRequest, findRequest, isFinished, requestNames } from "../request_store.js";
import { placeText, plural, slugOf, t } from "../texts.js";
import { announce, cardHeader, h, listRow, suppressedState } from "./components.js";
import { crmPlace, showCrmCard } from "./crm.js";
import { enrichmentCard } from "./enrichment.js";
import { fieldCard } from "./field_card.js";
import { icon } from "./icons.js";
import { contactIcons, ownRecords } from "./own_records.js";
import { saveForm } from "./save.js";
import { addVcard } from "./vcard.js";

/** @typedef {import("../active_page.js").ProfileOnPage} ProfileOnPage */
/** @typedef {import("../client/api.js").Contact} Contact */
/** @typedef {import("../client/api.js").Company} Company */
/** @typedef {import("../client/api.js").Lead} Lead */
/** @typedef {import("../client/api.js").LookupResult} LookupResult */
/** @typedef {import("../client/api.js").Subject} Subject */
/** @typedef {import("../types.js").App} App */

/** @param {Subject} subject @returns {import("../types.js").View} */
export function personView(subject) {
  /** @type {import("../types.js").View} */
  const view = async (app) => {
    const lookup = await app.client.lookup({ subject }, { signal: app.signal });
    const { contact, company } = lookup;
    const url = contact?.linkedin_url ?? subject.linkedin_url;
    const profile = url ? await readProfile(app.page, url) : {};
    if (lookup.suppressed) return suppressedState();
    if (lookup.outcome === "ambiguous") return candidateList(app, lookup);
    app.company = company ?? (subject.company_domain ? { name: null, domain: subject.company_domain } : app.company);
    const name = contact?.full_name ?? profile.full_name ?? subject.full_name ?? subject.email ?? slugOf(url);
    const top = contact ? contactCard(name ?? t("unnamed"), contact, company) : unknownPersonCard(name, profile);
    const container = h("div", { class: "person" });
    const own = ownRecords(lookup);
    const removeUnknown = () =>
      top.querySelectorAll(".not-known").forEach((/** @type {Element} */ one) => one.remove());
    if (own.length > 0) removeUnknown();
    const crm = crmPlace();
    const person = {
      requested: subject,
      subject: preciseSubject(subject, contact, profile),
      label: name ?? t("unknown_person"),
      onFound: () => {
        removeUnknown();
        if (contact) showCrmCard(app, crm, contact.id);
        if (contact) addVcard(app, top, contact);
      },
      openContact: (/** @type {string} */ contactId) => app.open(personView({ contact_id: contactId })),
      onSuppressed: () => {
        announce(t("suppressed_title"));
        container.replaceChildren(suppressedState());
      },
    };
    if (contact) await deleteFinished(requestNames("enrichment_request", subject, contact));
    const save = url ? await saveForm(app, url, lookup, profile, person.onSuppressed) : null;
    container.append(
      top,
      ...own,
      fieldCard(app, "email", person, lookup),
      fieldCard(app, "phone", person, lookup),
      ...(contact || lookup.excluded ? [] : [await enrichmentCard(app, person)]),
      ...(save ? [save] : []),
      crm, // it comes later than the rest, which must not move away from the pointer
    );
    if (contact && lookup.revealed.emails.length > 0) app.loads.push(showCrmCard(app, crm, contact.id));
    if (contact && (lookup.revealed.emails.length > 0 || lookup.revealed.phones.length > 0)) addVcard(app, top, contact);
    return container;
  };
  view.subject = subject;
  return view;
}

/** Return the contact id if there is one, with the name on the page if the contact has none.
 *  @param {Subject} requested @param {Contact|null} contact @param {ProfileOnPage} profile @returns {Subject} */
function preciseSubject(requested, contact, profile) {
  const name = contact?.full_name ? {} : profile.full_name && { full_name: profile.full_name };
  return { ...(contact ? { contact_id: contact.id } : requested), ...name };
}

/** Delete a finished enrichment: its result is part of the lookup. @param {string[]} names */
async function deleteFinished(names) {
  const request = await findRequest(names);
  if (request && isFinished(request)) await deleteRequest(request);
}

/** @param {string} name @param {Contact} contact @param {Company|null} company */
function contactCard(name, contact, company) {
  const location = placeText(contact.location);
  const position = [contact.title, company?.name].filter(Boolean).join(" · ");
  return h(
    "section",
    { class: "card" },
    cardHeader(
      name,
      false,
      position && h("p", {}, position),
      location && h("p", { class: "hint location" }, icon("location"), location),
    ),
  );
}

/** @param {string|undefined} name @param {ProfileOnPage} profile */
function unknownPersonCard(name, profile) {
  return h(
    "section",
    { class: "card" },
    cardHeader(
      name ?? t("person_unknown_title"),
      false,
      profile.headline && h("p", {}, profile.headline),
      name && h("p", { class: "not-known" }, h("span", { class: "badge" }, t("person_unknown_title"))),
    ),
    h("p", { class: "hint not-known" }, t("person_unknown_text")),
  );
}

/** @param {App} app @param {LookupResult} lookup */
async function candidateList(app, { candidates }) {
  const subjects = candidates.map(({ contact }) => ({ contact_id: contact.id }));
  const { results } = await app.client.lookupMany({ subjects }, { signal: app.signal });
  const people = candidates.map(({ contact, company }, index) => {
    const title = [contact.title, company?.name].filter(Boolean).join(" · ");
    return { ...results[index], ...contact, contact_id: contact.id, title };
  });
  return personChoice(app, people);
}

/** Return a list of people to choose from. @param {App} app @param {Lead[]} people */
export function personChoice(app, people) {
  const rows = people.map((lead) => leadRow(app, lead));
  return h(
    "section",
    {},
    h("h1", {}, t("candidates_title")),
    h("p", { class: "hint" }, plural("people", rows.length)),
    h("ul", { class: "list" }, ...rows),
  );
}

/** @param {App} app @param {Lead} lead */
export function leadRow(app, lead) {
  return listRow({
    name: lead.full_name ?? slugOf(lead.linkedin_url) ?? t("unnamed"),
    details: lead.title ?? "",
    open: () => app.open(personView({ contact_id: lead.contact_id })),
    icons: contactIcons(lead),
  });
}
