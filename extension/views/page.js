// The page that the icon was clicked on: its people, its person, or its company.

import { normalizeEmail } from "../client/normal_forms.js";
import { subjectOf } from "../people/identifiers.js";
import { readPeople } from "../page_people.js";
import { plural, t } from "../texts.js";
import { button, h } from "./components.js";
import { icon } from "./icons.js";
import { peopleView } from "./people.js";
import { personView } from "./person.js";
import { siteView } from "./site.js";

/** @typedef {import("../types.js").App} App */
/** @typedef {import("../types.js").View} View */
/** @typedef {import("../storage.js").Page} Page */
/** @typedef {import("../page_people.js").PeopleOnPage} PeopleOnPage */

/** Return the view of a page with a web address; `nothing` is shown of an application's page without people.
 *  @param {Page} page @param {View} nothing @returns {View} */
export function pageView(page, nothing) {
  /** @type {View|null} */
  let view = null; // the page is read once: going back to its view keeps who is picked
  return async (app) => {
    view ??= viewOf(page, await readPeople(page), nothing);
    return view(app);
  };
}

/** @param {Page} page @param {PeopleOnPage} found @param {View} nothing @returns {View} */
function viewOf(page, found, nothing) {
  if (page.kind === "profile") return withOffer(personView({ linkedin_url: page.url }), found, "list");
  // Nothing is sent about a website before the user asks, and the names of its people tell which one it is.
  if (page.kind === "site" && found.kind === "list") return withOffer(siteView(page), found, "list");
  if (found.kind === "list") return listView(page, found);
  const subject = found.kind === "person" ? subjectOfOne(found.people[0]) : null;
  if (subject) return withOffer(personView(subject), found, "person");
  return page.kind === "nothing" ? nothing : siteView(page);
}

/** Return the subject of the one person of a page: an address says more than a name. @param {import("../page_people.js").PersonOnPage} person */
function subjectOfOne(person) {
  const email = normalizeEmail(person?.email ?? "");
  const subject = person ? subjectOf(person) : null;
  return subject && { ...subject, ...(email && { email }) };
}

/** @param {Page} page @param {PeopleOnPage} found @returns {View} */
function listView(page, found) {
  const company = (/** @type {App} */ app) =>
    button(t("show_site"), () => app.open(siteView(page)), { class: "secondary" });
  return peopleView(found, { canReadAgain: true, below: page.kind === "company" ? company : undefined });
}

/** Return the view below an offer to list the people of the page, if there are several.
 *  @param {View} view @param {PeopleOnPage} found @param {PeopleOnPage["kind"]} kind of the page that has others @returns {View} */
function withOffer(view, found, kind) {
  if (found.kind !== kind || found.people.length < 2) return view;
  const list = peopleView(found);
  return async (app) => {
    const text = t("people_on_page", plural("people", found.people.length));
    const offer = h("button", { type: "button", onclick: () => app.open(list) }, icon("people"), text);
    return h("div", { class: "stack" }, offer, await view(app));
  };
}
