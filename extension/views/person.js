// One person: who it is, what can be revealed, what was saved; and what to do where nobody is known.

import { readProfile } from "../tab.js";
import { find, forget, isOver, namesOf } from "../questions.js";
import { counted, t } from "../texts.js";
import { enrichment } from "./enrichment.js";
import { empty, h } from "./parts.js";
import { saveForm } from "./save.js";
import { values } from "./values.js";

/** @typedef {import("../panel.js").App} App */
/** @typedef {import("../client/api.js").Subject} Subject */
/** @typedef {import("../client/api.js").Card} Card */
/**
 * A person as this view knows them: `asked` is what the view was opened with, `subject` the best there is to name
 * them to the service, `label` what to call them; `found` is called once something of them is.
 * @typedef {{asked: Subject, subject: Subject, label: string, found: () => void}} Who
 */

/** @param {Subject} subject @returns {import("../panel.js").View} */
export function personView(subject) {
  return async (app) => {
    const card = await app.client.lookup({ subject }, { signal: app.signal });
    const url = card.contact?.linkedin_url ?? subject.linkedin_url;
    const read = url ? await readProfile(app.page, url) : {};
    if (card.suppressed) return empty(t("suppressed_title"), t("suppressed_text"));
    if (card.outcome === "ambiguous") return candidates(app, card);
    const named = { ...subject, ...(read.full_name && { full_name: read.full_name }) };
    const label = card.contact?.full_name ?? named.full_name ?? subject.email ?? t("somebody");
    const head = card.contact ? heading(card.contact, card.company) : unknown(read);
    const found = () => head.querySelectorAll(".not-known").forEach((/** @type {Element} */ one) => one.remove());
    const who = { asked: subject, subject: card.contact ? { contact_id: card.contact.id } : named, label, found };
    if (card.contact) await settle(namesOf("enrichment_request", subject, card.contact));
    const shown = h(
      "div",
      {},
      head,
      values(app, "email", who, card),
      values(app, "phone", who, card),
      card.contact ? null : await enrichment(app, who),
      url ? await saveForm(app, url, card, read) : null,
    );
    return shown;
  };
}

/** Forget an enrichment that is over: what it brought is on the card. @param {string[]} names */
async function settle(names) {
  const question = await find(names);
  if (question && isOver(question)) await forget(question);
}

/** @param {import("../client/api.js").Contact} contact @param {import("../client/api.js").Company|null} company */
function heading(contact, company) {
  const place = [contact.location?.city, contact.location?.country].filter(Boolean).join(", ");
  const work = [contact.title, company?.name].filter(Boolean).join(" · ");
  return h(
    "section",
    { class: "card" },
    h("h1", {}, contact.full_name ?? t("unnamed")),
    work && h("p", {}, work),
    place && h("p", { class: "hint" }, place),
  );
}

/** @param {import("../tab.js").Profile} read */
function unknown(read) {
  return h(
    "section",
    { class: "card" },
    h("h1", {}, read.full_name ?? t("person_unknown_title")),
    read.headline && h("p", {}, read.headline),
    read.full_name && h("p", { class: "not-known" }, h("strong", {}, t("person_unknown_title"))),
    h("p", { class: "hint not-known" }, t("person_unknown_text")),
  );
}

/** @param {App} app @param {Card} card */
function candidates(app, card) {
  const rows = card.candidates.map(({ contact, company }) =>
    h(
      "li",
      {},
      h(
        "button",
        { type: "button", class: "lead", onclick: () => app.open(personView({ contact_id: contact.id })) },
        h("strong", {}, contact.full_name ?? t("unnamed")),
        h("span", {}, [contact.title, company?.name].filter(Boolean).join(" · ")),
      ),
    ),
  );
  return h(
    "section",
    {},
    h("h1", {}, t("candidates_title")),
    h("p", { class: "hint" }, counted("people", rows.length)),
    h("ul", { class: "leads" }, ...rows),
  );
}
