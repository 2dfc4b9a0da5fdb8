// A row of a list of people: who it is, what is known, what it costs, and the values that are owned.

import { isPickable, priceOf, stateOf, valuesOf } from "../people/listed_people.js";
import { capitalize, errorMessage, formatCredits, slugOf, t, valueText } from "../texts.js";
import { h, iconButton, shownValue, statusIcon } from "./components.js";
import { crmName } from "./crm.js";
import { icon } from "./icons.js";
import { systemsOf } from "./own_records.js";
import { personView } from "./person.js";
import { callBadge } from "./results.js";

/** @typedef {import("../types.js").App} App */
/** @typedef {import("../people/listed_people.js").ListedPerson} ListedPerson */
/** @typedef {import("../people/people_list.js").PeopleList} PeopleList */
/** A row; `update` shows what has changed of the person.
 *  @typedef {{listed: ListedPerson, element: HTMLElement, checkbox: HTMLInputElement, update: () => void}} PersonRow */

/** @param {App} app @param {PeopleList} list @param {ListedPerson} listed @returns {PersonRow} */
export function personRow(app, list, listed) {
  const checkbox = h("input", { type: "checkbox" });
  const badges = h("span", { class: "facts" });
  const price = h("span", { class: "price" });
  const values = h("div", { class: "values" });
  const position = h("span", { class: "hint position" });
  const name = nameOf(listed);
  const title = h("span", { class: "title" }, h("strong", {}, name), price);
  const lines = h("span", { class: "lines" }, title, position, badges);
  const open = iconButton("chevron", t("open_person", name), () => openPerson(app, listed));
  const row = h("div", { class: "pickable" }, h("label", {}, checkbox, lines), listed.subject && open);
  const element = h("li", {}, row, values);
  update();
  return { listed, element, checkbox, update };

  function update() {
    checkbox.checked = listed.isPicked && isPickable(listed);
    checkbox.disabled = !isPickable(listed);
    position.textContent = positionOf(listed);
    badges.replaceChildren(...badgesOf(app, listed).filter(Boolean));
    price.textContent = priceText(app, list, listed);
    values.replaceChildren(...valuesOf(listed, "email").map(linkOf), ...valuesOf(listed, "phone").map(linkOf));
  }
}

/** Open the person; what is done there may change what is known. @param {App} app @param {ListedPerson} listed */
function openPerson(app, listed) {
  const id = listed.lookup?.contact?.id;
  const subject = id ? { contact_id: id } : (listed.subject ?? {});
  listed.lookup = null;
  app.open(personView(subject));
}

/** @param {ListedPerson} listed */
export function nameOf({ person, subject, lookup }) {
  const known = person.full_name || lookup?.contact?.full_name || slugOf(subject?.linkedin_url);
  return known || person.email || person.phone || t("unnamed");
}

/** @param {ListedPerson} listed */
function positionOf({ person, lookup }) {
  const title = person.title || lookup?.contact?.title;
  return [title, person.company_name || lookup?.company?.name].filter(Boolean).join(" · ");
}

/** @param {any} value */
function linkOf(value) {
  return h("div", { class: "value" }, shownValue(value));
}

/** Return the price, or what a finished request has charged. @param {App} app @param {PeopleList} list @param {ListedPerson} listed */
function priceText(app, list, listed) {
  const { item, lookup } = listed;
  if (item?.credits_charged === null) return "";
  if (item) return item.credits_charged > 0 ? t("charged", formatCredits(item.credits_charged)) : t("free");
  if (lookup === null || !isPickable(listed)) return "";
  const credits = priceOf(listed, list.choice, app.session.prices);
  return credits > 0 ? formatCredits(credits) : t("free");
}

/** @param {App} app @param {ListedPerson} listed @returns {(Node|false|null|undefined)[]} */
function badgesOf(app, listed) {
  const { lookup, item } = listed;
  const state = stateOf(listed);
  const said = item && resultText(app, item);
  const systems = lookup && !lookup.suppressed && !lookup.excluded ? systemsOf(lookup) : [];
  return [
    said && h("span", { class: item.error ? "error" : "" }, said),
    stateBadge(listed, state),
    listed.push && pushBadge(listed.push),
    ...systems.map((name) => h("span", { class: "badge" }, icon("known"), t("known_in", name))),
    lookup?.saved && statusIcon("saved", t("saved"), false),
    ...(lookup && state !== "owned" && !said ? maskedValues(lookup) : []),
  ];
}

/** @param {ListedPerson} listed @param {import("../people/listed_people.js").State} state */
function stateBadge({ lookup, item }, state) {
  if (state === "unidentified") return h("span", { class: "badge fair" }, t("not_enough_known"));
  if (state === "requested") return h("span", { class: "badge fair" }, capitalize(t("state_open")));
  if (state === "suppressed") return h("span", { class: "badge fair" }, capitalize(t("state_suppressed")));
  if (state === "excluded")
    return h(
      "span",
      { class: "badge fair" },
      t("excluded", valueText("exclusion", lookup?.excluded?.reason ?? "other")),
    );
  if (state === "owned") return h("span", { class: "badge good" }, icon("check"), t("owned"));
  return state === "unknown" && !item && h("span", { class: "badge" }, t("person_unknown_title"));
}

/** Return what became of the push of the person, or why the CRM did not take them. @param {import("../people/listed_people.js").Push} push */
function pushBadge({ vendor, outcome, error }) {
  const name = crmName(vendor);
  if (outcome === null) return h("span", { class: "badge" }, t("crm_waiting", name));
  if (["created", "updated", "unchanged"].includes(outcome))
    return h("span", { class: "badge good" }, icon("push"), t(`crm_${outcome}`, name));
  return h("span", { class: outcome === "failed" ? "error" : "" }, error || t(`crm_${outcome}`, name));
}

/** @param {import("../client/api.js").LookupResult} lookup */
function maskedValues({ available }) {
  const email = available.find((value) => value.field === "email");
  const phones = available.filter((value) => value.field === "phone");
  const [phone] = phones;
  return [
    email && h("span", { class: "masked" }, email.masked),
    phone && statusIcon("phone", t("known_phone"), false),
    phone && phones.every((value) => value.do_not_call) && callBadge(phone),
  ];
}

/** Return why a finished request has no value of the person, in words; "" if it has one.
 *  @param {App} app @param {import("../client/api.js").EnrichedItem} item */
function resultText(app, item) {
  if (item.error?.code === "insufficient_credits") return t("cap_used_up");
  if (item.error) return errorMessage(item.error, app.session.origin);
  if (item.emails.length + item.phones.length > 0) return "";
  return capitalize(valueText("state", item.outcome ?? "failed"));
}
