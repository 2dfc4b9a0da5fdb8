// The form that pushes the picked people to the workspace's CRM, and what became of them.

import { ApiError } from "../client/api.js";
import { sha256 } from "../client/normal_forms.js";
import { isPushable } from "../people/listed_people.js";
import { lookUpPeople } from "../people/lookups.js";
import { run, startRequest } from "../requests.js";
import { errorMessage, plural, t } from "../texts.js";
import { announce, button, errorAlert, h, problemAlert } from "./components.js";
import { crmName } from "./crm.js";

/** @typedef {import("../types.js").App} App */
/** @typedef {import("../people/people_list.js").PeopleList} PeopleList */
/** @typedef {import("../people/listed_people.js").ListedPerson} ListedPerson */
/** @typedef {import("../client/api.js").CrmConnection} CrmConnection */
/** @typedef {import("../request_store.js").StoredRequest} StoredRequest */

const OUTCOMES = ["created", "updated", "unchanged", "skipped", "failed"];

/** Return the form. @param {App} app @param {PeopleList} list @param {CrmConnection[]} connections at least one
 *  @param {() => void} onStarted called once the push is stored */
export function pushForm(app, list, connections, onStarted) {
  const choice = h(
    "select",
    { id: "people-crm", onchange: update },
    ...connections.map(({ id, vendor }) => h("option", { value: id }, crmName(vendor))),
  );
  const field = h("div", { class: "field", hidden: connections.length < 2 });
  field.append(h("label", { for: "people-crm" }, t("crm_title")), choice);
  const hint = h("p", { class: "hint" });
  const submit = button("", push, { class: "primary" });
  const result = h("div", { class: "stack" });
  const element = h("div", { class: "stack" }, field, hint, result, submit);
  list.onChange(update, app.signal);
  update();
  return { element, update };

  function chosen() {
    return connections.find(({ id }) => id === choice.value) ?? connections[0];
  }

  function update() {
    const able = list.picked.filter(isPushable).length;
    const unable = list.picked.length - able;
    submit.textContent = t("crm_push_people", plural("people", able), crmName(chosen().vendor));
    submit.disabled = able === 0;
    hint.textContent = unable > 0 ? t("cannot_be_pushed", plural("people", unable)) : t("crm_hint");
  }

  async function push() {
    submit.disabled = true;
    result.replaceChildren();
    try {
      await start(chosen(), list.picked.filter(isPushable));
    } catch (error) {
      if (app.signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 401) return app.restart();
      result.replaceChildren(errorAlert(errorMessage(error.problem, app.session.origin)));
    } finally {
      update();
    }
  }

  /** @param {CrmConnection} connection @param {ListedPerson[]} people */
  async function start({ id: connection_id, vendor }, people) {
    const known = await contactsOf(app, list, people);
    if (known.size === 0) return;
    const body = { connection_id, contact_ids: [...known.keys()] };
    const name = `crm_push ${await sha256(JSON.stringify([connection_id, [...known.keys()].sort()]))}`;
    const label = t("pushed_to", plural("people", known.size), crmName(vendor));
    const subjects = [...known.values()].map(({ subject }) => subject ?? {});
    const started = await startRequest(name, "pushToCrm", body, { subject: null, label, people: subjects, vendor });
    list.pick([...known.values()], false);
    onStarted();
    run(started);
  }
}

/** Return the people by the ids of their contacts, each contact once. Who was found a moment ago is looked up for the id.
 *  @param {App} app @param {PeopleList} list @param {ListedPerson[]} people @returns {Promise<Map<string, ListedPerson>>} */
async function contactsOf(app, list, people) {
  const unknown = people.filter(({ lookup }) => !lookup?.contact);
  for (const listed of unknown) listed.lookup = null;
  await lookUpPeople(app, unknown, (batch) => list.changed(batch));
  /** @type {Map<string, ListedPerson>} */
  const found = new Map();
  for (const listed of people) {
    const id = listed.lookup?.contact?.id;
    if (id && !found.has(id)) found.set(id, listed);
  }
  return found;
}

/** Return what became of a finished push. @param {App} app @param {StoredRequest} stored @param {() => void} done @returns {Node[]} */
export function pushResult(app, { push, problem, person }, done) {
  const close = button(t("done"), done, { class: "done" });
  if (!push) return [problemAlert(problem ?? { code: "other", status: 0 }, app.session.origin, null), close];
  const name = crmName(person.vendor ?? push.push.vendor);
  const count = (/** @type {string|null} */ wanted) => push.items.filter(({ outcome }) => outcome === wanted).length;
  const counts = OUTCOMES.filter((outcome) => count(outcome) > 0).map((outcome) =>
    t(`pushed_${outcome}`, count(outcome)),
  );
  const waiting = count(null);
  const text = [counts.length > 0 && `${name}: ${counts.join(", ")}.`, waiting > 0 && t("crm_goes_on")];
  const said = text.filter(Boolean).join(" ");
  announce(said);
  const href = `${app.session.origin}/crm/pushes/${encodeURIComponent(push.push.id)}`;
  const receipt = h("a", { href, target: "_blank", rel: "noreferrer" }, t("receipt"));
  const isGood = waiting + count("skipped") + count("failed") === 0;
  return [h("div", { class: "bar" }, h("p", { class: isGood ? "success" : "no-credits" }, said), receipt, close)];
}

/** Show how far a push is; a line that changes is updated in place. @param {StoredRequest} stored @param {HTMLElement} container */
export function showPushProgress({ push, person, problem }, container) {
  if (container.querySelector(".progress") === null) {
    const spinner = h("span", { class: "spinner", "aria-hidden": "true" });
    const line = h("p", { class: "loading", role: "status" }, spinner, h("span"));
    container.replaceChildren(h("div", { class: "progress" }, line, h("p", { class: "hint" }, t("push_continues"))));
  }
  const done = push?.items.filter(({ outcome }) => outcome !== null).length ?? 0;
  const text = t("pushing_progress", crmName(person.vendor ?? ""), done, person.people?.length ?? 0);
  const line = /** @type {HTMLElement} */ (container.querySelector(".loading span:last-child"));
  const said = problem ? `${text} ${t("crm_retrying")}` : text;
  if (line.textContent !== said) line.textContent = said;
}
