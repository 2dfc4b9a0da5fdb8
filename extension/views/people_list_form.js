// The form that puts the picked people on a list of the workspace.

import { ApiError } from "../client/api.js";
import { addRecentList, loadSettings } from "../storage.js";
import { errorMessage, plural, t } from "../texts.js";
import { announce, errorAlert, h } from "./components.js";

/** @typedef {import("../types.js").App} App */
/** @typedef {import("../people/people_list.js").PeopleList} PeopleList */
/** @typedef {import("../people/listed_people.js").ListedPerson} ListedPerson */

const BATCH_SIZE = 100;

/** @param {App} app @param {PeopleList} list */
export function listForm(app, list) {
  const names = h("datalist", { id: "people-lists" });
  const name = h("input", {
    id: "people-list",
    list: "people-lists",
    autocomplete: "off",
    maxlength: 200,
    required: true,
  });
  const submit = h("button", { type: "submit", class: "primary" });
  const result = h("div", { class: "stack" });
  const hint = h("p", { class: "hint" });
  let key = crypto.randomUUID(); // a retry of a click whose response was lost is the same change
  const element = h(
    "form",
    { onsubmit: put },
    h("div", { class: "field" }, h("label", { for: "people-list" }, t("list")), name),
    names,
    hint,
    submit,
    result,
  );
  list.onChange(update, app.signal);
  suggestLists(app, names);
  update();
  return { element, update };

  function update() {
    const able = list.picked.filter(canBeListed).length;
    const unable = list.picked.length - able;
    submit.textContent = t("add_to_list", plural("people", able));
    submit.disabled = able === 0;
    hint.textContent = unable > 0 ? t("cannot_be_listed", plural("people", unable)) : t("list_is_free");
  }

  /** @param {Event} event */
  async function put(event) {
    event.preventDefault();
    submit.disabled = true;
    const people = list.picked.filter(canBeListed);
    try {
      const added = await addToList(app, name.value.trim(), people, key);
      key = crypto.randomUUID();
      show(name.value.trim(), people, added);
    } catch (error) {
      if (app.signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 401) return app.restart();
      result.replaceChildren(errorAlert(errorMessage(error.problem, app.session.origin)));
    } finally {
      update();
    }
  }

  /** @param {string} listName @param {ListedPerson[]} people @param {number} added */
  function show(listName, people, added) {
    for (const { lookup } of people)
      if (lookup) lookup.saved ??= { id: "", list: listName, tags: [], note: null, updated_at: "" };
    list.changed(people);
    const text = t("added_to_list", plural("people", added), listName);
    result.replaceChildren(h("p", { class: "success" }, text));
    announce(text);
  }
}

/** Return whether the person is stored or has a profile, so that there is something to save. @param {ListedPerson} listed */
const canBeListed = ({ subject, lookup }) => Boolean(lookup?.contact?.id || subject?.linkedin_url);

/** Add the people to the list of that name, which is created if there is none; return how many were not on it.
 *  @param {App} app @param {string} name @param {ListedPerson[]} people @param {string} key */
async function addToList(app, name, people, key) {
  const { id } = await app.client.createList({ name }, { signal: app.signal });
  let added = 0;
  for (let start = 0; start < people.length; start += BATCH_SIZE) {
    const batch = people.slice(start, start + BATCH_SIZE);
    const body = {
      add: batch.flatMap(({ lookup }) => lookup?.contact?.id ?? []),
      profiles: batch.filter(({ lookup }) => !lookup?.contact).map(profileOf),
    };
    added += (await app.client.changeList(id, body, { key: `${key}-${start}`, signal: app.signal })).added;
  }
  await addRecentList(name);
  return added;
}

/** @param {ListedPerson} listed */
function profileOf({ subject }) {
  const { linkedin_url, full_name, company_name } = subject ?? {};
  return { linkedin_url, ...(full_name && { full_name }), ...(company_name && { company: { name: company_name } }) };
}

/** Suggest the workspace's lists, the latest used first. @param {App} app @param {HTMLElement} names */
async function suggestLists(app, names) {
  const { lists: recent } = await loadSettings();
  const stored = await app.client.lists({ signal: app.signal }).catch(() => ({ lists: [] })); // suggestions only
  const all = new Set([...recent, ...stored.lists.map((one) => one.name)]);
  names.replaceChildren(...[...all].map((value) => h("option", { value })));
}
