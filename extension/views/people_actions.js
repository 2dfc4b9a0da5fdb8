// What can be done with the people of a list: the bar at the bottom, its forms, and the request in progress above it.

import { csvOf } from "../people/csv.js";
import { keyOf } from "../people/identifiers.js";
import { isPushable, priceOf, valuesOf } from "../people/listed_people.js";
import { applyRequest, followRequests, forgetRequest, peopleOf } from "../people/requests.js";
import { may } from "../permissions.js";
import { deleteRequest, isFinished, markSeen } from "../request_store.js";
import { run } from "../requests.js";
import { formatCredits, plural, t } from "../texts.js";
import { announce, button, h, iconButton, problemAlert, refused } from "./components.js";
import { usableConnections } from "./crm.js";
import { enrichmentForm } from "./people_enrichment.js";
import { listForm } from "./people_list_form.js";
import { pushForm, pushResult, showPushProgress } from "./people_push.js";
import { showProgress } from "./progress.js";

/** @typedef {import("../types.js").App} App */
/** @typedef {import("../people/people_list.js").PeopleList} PeopleList */
/** @typedef {import("../people/listed_people.js").ListedPerson} ListedPerson */
/** @typedef {import("../request_store.js").StoredRequest} StoredRequest */

/** @param {App} app @param {PeopleList} list @param {() => void} lookUp called when people are to be looked up again */
export function peopleActions(app, list, lookUp) {
  const summary = h("p", { class: "summary", id: "people-summary" });
  const request = h("div", { class: "stack", hidden: true });
  const pushed = h("div", { class: "stack pushed", hidden: true });
  const enrichment = disclosure("find_contacts", "people-enrichment", enrichmentForm(app, list, onStarted));
  const listing = disclosure("put_on_list", "people-listing", listForm(app, list));
  const exports = h(
    "span",
    { class: "exports" },
    iconButton("copy", t("copy_emails"), copyEmails),
    may(app.session, "export") && iconButton("download", t("download_csv"), download),
  );
  const parts = [enrichment, listing];
  /** The key of the request whose result is shown in a place. @type {Map<HTMLElement, string>} */
  const results = new Map();
  /** @type {ReturnType<typeof disclosure>|null} */
  let pushing = null; // until a CRM is known to which the account may push
  const bar = h("div", { class: "bar" }, enrichment.toggle, listing.toggle);
  list.onChange(update, app.signal);
  followRequests(list, show, app.signal);
  update();
  const panels = h("div", { class: "panels" }, ...parts.map(({ panel }) => panel));
  offerPush();
  return h(
    "section",
    { class: "people-actions", "aria-label": t("people_actions") },
    request,
    pushed,
    panels,
    h("div", { class: "summary-line" }, summary, exports),
    !may(app.session, "export") && refused("export"),
    bar,
  );

  async function offerPush() {
    const connections = await usableConnections(app);
    if (connections.length === 0 || app.signal.aborted) return;
    if (!may(app.session, "push")) {
      panels.append(refused("push"));
      return;
    }
    pushing = disclosure("crm_push_picked", "people-pushing", pushForm(app, list, connections, onStarted));
    parts.push(pushing);
    panels.append(pushing.panel);
    bar.append(pushing.toggle);
    request.querySelectorAll(".push-found").forEach((/** @type {HTMLElement} */ one) => (one.hidden = false));
    update();
  }

  /** Pick who was found, and open the form that pushes them. @param {StoredRequest} stored */
  function pushFound(stored) {
    const people = foundIn(list, stored);
    list.pick(list.picked, false);
    list.pick(people, true);
    if (pushing) open(pushing.panel);
  }

  /** @param {string} name @param {string} id @param {{element: HTMLElement, update: () => unknown}} form */
  function disclosure(name, id, form) {
    const panel = h("div", { id, class: "panel", hidden: true }, form.element);
    const toggle = button(t(name), () => open(panel.hidden ? panel : null), {
      "aria-expanded": "false",
      "aria-controls": id,
    });
    return { panel, toggle, form };
  }

  /** Open one form, or none. @param {HTMLElement|null} opened */
  function open(opened) {
    for (const { panel, toggle, form } of parts) {
      panel.hidden = panel !== opened;
      toggle.setAttribute("aria-expanded", String(!panel.hidden));
      if (panel.hidden) continue;
      form.update();
      const controls = [...panel.querySelectorAll("input, select, button")];
      controls.find((one) => one.checkVisibility() && !one.disabled)?.focus(); // the form is before its button
    }
  }

  function onStarted() {
    open(null);
    focusOn(summary); // the pressed button is gone
  }

  function update() {
    const { picked } = list;
    const price = picked.reduce((sum, listed) => sum + priceOf(listed, list.choice, app.session.prices), 0);
    const text =
      picked.length > 0 ? t("picked_price", plural("people", picked.length), formatCredits(price)) : t("nobody_picked");
    summary.textContent = text;
    for (const { toggle, panel } of parts) toggle.disabled = picked.length === 0 && panel.hidden;
    exports.hidden = withValues().length === 0;
  }

  /** Return the picked people with values, or all of them if nobody is picked. */
  function withValues() {
    const chosen = list.picked.length > 0 ? list.picked : list.people;
    return chosen.filter((listed) => valuesOf(listed, "email").length + valuesOf(listed, "phone").length > 0);
  }

  async function copyEmails() {
    const emails = withValues().flatMap((listed) =>
      valuesOf(listed, "email")
        .slice(0, 1)
        .map(({ email }) => email),
    );
    await navigator.clipboard.writeText(emails.join("\n"));
    const text = plural("emails_copied", emails.length);
    summary.textContent = text;
    announce(text);
  }

  function download() {
    const url = URL.createObjectURL(new Blob(["\ufeff", csvOf(withValues())], { type: "text/csv" }));
    h("a", { href: url, download: `${t("name")}.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000); // the download has begun by then
  }

  /** @param {StoredRequest} stored */
  function show(stored) {
    app.shownRequests.add(stored.name);
    applyRequest(list, stored);
    const isPush = stored.method === "pushToCrm";
    const place = isPush ? pushed : request;
    place.hidden = false;
    if (!isFinished(stored)) {
      results.delete(place);
      if (isPush) showPushProgress(stored, place);
      else showProgress(app, stored, place);
      run(stored);
      return;
    }
    if (results.get(place) === stored.key) return; // a button that is replaced while it is pressed gets no click
    results.set(place, stored.key);
    markSeen(stored);
    place.replaceChildren(...(isPush ? pushResult(app, stored, done) : resultOf(app, stored, done, pushOffer())));

    function pushOffer() {
      const offer = button(t("crm_push_found"), () => pushFound(stored), { class: "push-found primary" });
      offer.hidden = pushing === null;
      return foundIn(list, stored).length > 0 && offer;
    }

    async function done() {
      await deleteRequest(stored);
      forgetRequest(list, stored);
      place.hidden = true;
      focusOn(summary);
      lookUp();
    }
  }
}

/** @param {HTMLElement} element that takes no focus by itself */
function focusOn(element) {
  element.tabIndex = -1;
  element.focus();
}

/** Return the people of a request who can be pushed now. @param {PeopleList} list @param {StoredRequest} stored @returns {ListedPerson[]} */
function foundIn(list, stored) {
  return peopleOf(stored)
    .flatMap((subject) => list.byKey.get(keyOf(/** @type {any} */ (subject))) ?? [])
    .filter(isPushable);
}

/** @param {App} app @param {StoredRequest} stored @param {() => void} done @param {HTMLElement|false} push @returns {Node[]} */
function resultOf(app, { response, problem }, done, push) {
  const close = button(t("done"), done, { class: "done" });
  if (!response)
    return [problemAlert(problem ?? { code: "provider_failed", status: 0 }, app.session.origin, null), close];
  const { items = [] } = response.result ?? {};
  const found = items.filter((/** @type {any} */ { emails, phones }) => emails.length + phones.length > 0).length;
  const { charged } = response.credits;
  const text =
    charged === null
      ? t("people_found_of", found, items.length)
      : t("people_found", found, items.length, formatCredits(charged));
  announce(text);
  const href = `${app.session.origin}/history/${encodeURIComponent(response.job.id)}`;
  const receipt = h("a", { href, target: "_blank", rel: "noreferrer" }, t("receipt"));
  return [
    h("p", { class: found > 0 ? "success" : "no-credits" }, text),
    h("div", { class: "bar" }, receipt, close, push),
  ];
}
