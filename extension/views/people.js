// The people on a page: what is known of each, what they cost, and what can be done with those who are picked.

import { ApiError } from "../client/api.js";
import { listPeople, stateOf } from "../people/listed_people.js";
import { PeopleList } from "../people/people_list.js";
import { lookUpPeople } from "../people/lookups.js";
import { plural, t } from "../texts.js";
import { announce, emptyState, h, iconButton, problemAlert } from "./components.js";
import { peopleActions } from "./people_actions.js";
import { peoplePicking } from "./people_picking.js";
import { personRow } from "./person_row.js";

/** @typedef {import("../types.js").App} App */
/** @typedef {import("../people/listed_people.js").ListedPerson} ListedPerson */

/** Return the view of a list. `below` is shown below the list.
 *  @param {{people: import("../page_people.js").PersonOnPage[], left_out: number}} page
 *  `title` is the heading of a list that is not of a page.
 *  @param {{canReadAgain?: boolean, title?: string, below?: (app: App) => Node|null}} [options]
 *  @returns {import("../types.js").View} */
export function peopleView(page, { canReadAgain, title, below } = {}) {
  const list = new PeopleList(listPeople(page.people)); // kept while another view is shown above this one
  return async (app) => {
    if (list.people.length === 0) return emptyState(t("people_none"), t("people_none_text"), "people");
    await list.restorePicks();
    const rows = list.people.map((listed) => personRow(app, list, listed));
    const failure = h("div", { class: "stack", hidden: true });
    const lookUp = () => lookUpAndShow(app, list, failure);
    updateRows(app, list, rows);
    const picking = peoplePicking(app, list, rows);
    const actions = peopleActions(app, list, lookUp);
    lookUp();
    return h(
      "section",
      { class: "people-on-page" },
      title ? h("h2", {}, title) : heading(list.people.length, canReadAgain && app.restart),
      h(
        "p",
        { class: "hint" },
        [!title && t("people_hint"), page.left_out > 0 && plural("left_out", page.left_out)].filter(Boolean).join(" "),
      ),
      failure,
      picking,
      h("ul", { class: "list" }, ...rows.map(({ element }) => element)),
      actions,
      below?.(app),
    );
  };
}

/** @param {number} count @param {(() => unknown)|false|undefined} readAgain */
function heading(count, readAgain) {
  const title = h("h1", {}, t("people_on_page", plural("people", count)));
  return h("div", { class: "people-heading" }, title, readAgain && iconButton("again", t("read_again"), readAgain));
}

/** Update the rows of the people who change. @param {App} app @param {PeopleList} list @param {import("./person_row.js").PersonRow[]} rows */
function updateRows(app, list, rows) {
  const byPerson = new Map(rows.map((row) => [row.listed, row]));
  list.onChange((people) => people.forEach((listed) => byPerson.get(listed)?.update()), app.signal);
}

/** Look up who has not been looked up; what fails can be tried again. @param {App} app @param {PeopleList} list @param {HTMLElement} failure */
async function lookUpAndShow(app, list, failure) {
  failure.hidden = true;
  list.changed(list.people);
  try {
    await lookUpPeople(app, list.people, (batch) => list.changed(batch));
    list.changed(list.people.filter(({ subject }) => subject === null));
    announce(
      t("people_looked_up", list.people.length, list.people.filter((listed) => stateOf(listed) === "owned").length),
    );
  } catch (error) {
    if (app.signal.aborted) return;
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 401) return app.restart();
    failure.replaceChildren(problemAlert(error.problem, app.session.origin, () => lookUpAndShow(app, list, failure)));
    failure.hidden = false;
  }
}
