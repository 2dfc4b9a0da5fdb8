// The request that finds addresses and numbers of the picked people, at a price that cannot be exceeded.

import { ApiError } from "../client/api.js";
import { sha256 } from "../client/normal_forms.js";
import { skippableSources } from "../people/listed_people.js";
import { may } from "../permissions.js";
import { run, startRequest } from "../requests.js";
import { loadSession, onSessionChange } from "../storage.js";
import { formatCredits, noCredits, plural, t } from "../texts.js";
import { button, h, problemAlert, refused } from "./components.js";
import { purposeChoice } from "./purpose.js";

/** @typedef {import("../types.js").App} App */
/** @typedef {import("../people/people_list.js").PeopleList} PeopleList */
/** @typedef {import("../client/api.js").Estimate} Estimate */

const MAX_ITEMS = 100; // of a request
const PAUSE_MILLISECONDS = 250; // while more people are picked
/** @type {("email"|"phone")[]} */
const FIELDS = ["email", "phone"];
/** @type {import("../people/listed_people.js").Choice["skip"][]} */
const SKIPS = ["in_source", "has_field", "none"];

/** Return the form. @param {App} app @param {PeopleList} list @param {() => void} onStarted called once the request is stored */
export function enrichmentForm(app, list, onStarted) {
  const boxes = FIELDS.map((name) => h("input", { type: "checkbox", value: name, onchange: choose }));
  const skip = h(
    "select",
    { id: "people-skip", onchange: choose },
    ...SKIPS.map((name) => h("option", { value: name }, t(`skip_${name}`))),
  );
  const skipField = h("div", { class: "field" }, h("label", { for: "people-skip" }, t("skip")), skip);
  const cap = h("input", { id: "people-cap", type: "number", min: 0, step: 1, inputmode: "numeric", oninput: onCap });
  const capField = h("div", { class: "field cap" }, h("label", { for: "people-cap" }, t("cap")), cap);
  const submit = button(t("find_people", "…", "…"), request, { class: "primary", disabled: true });
  const hint = h("p", { class: "hint" });
  const fewer = button(t("keep_first", MAX_ITEMS), () => list.pick(list.picked.slice(MAX_ITEMS), false), {
    class: "primary",
  });
  const problem = h("div", { class: "stack" });
  const purpose = purposeChoice(app, "people");
  let latest = {};
  let balance = app.session.credits.balance ?? Infinity; // null for accounts that may not see costs
  let grant = app.session.credits.next_grant;
  let isCapEdited = false;
  /** @type {Estimate|null} */
  let estimate = null;
  const mayReveal = (/** @type {string} */ field) => field !== "phone" || may(app.session, "reveal_phones");
  boxes.forEach((box) => {
    box.checked = list.choice.fields.includes(box.value) && mayReveal(box.value);
    box.disabled = !mayReveal(box.value);
  });
  skip.value = list.choice.skip;
  const fields = h(
    "div",
    { class: "fields", role: "group", "aria-label": t("find_what") },
    ...boxes.map((box) => h("label", { class: "check" }, box, t(`kind_${box.value}`))),
  );
  const element = h(
    "div",
    { class: "stack" },
    fields,
    !mayReveal("phone") && refused("reveal_phones"),
    skipField,
    capField,
    purpose.element,
    hint,
    fewer,
    problem,
    submit,
  );
  list.onChange(update, app.signal);
  loadSession().then((session) => session && showBalance(session)); // it may have changed since the view was opened
  onSessionChange(showBalance, app.signal);
  return { element, update };

  /** @param {import("../storage.js").StoredSession} session */
  function showBalance(session) {
    balance = session.credits.balance ?? Infinity;
    grant = session.credits.next_grant;
    showPrice();
  }

  function choose() {
    list.choose({ fields: FIELDS.filter((_name, index) => boxes[index].checked), skip: skip.value });
  }

  function onCap() {
    isCapEdited = true;
    showPrice();
  }

  /** Ask for the price again, once nobody else is picked for a moment. The form is closed while it is hidden. */
  async function update() {
    const current = (latest = {});
    estimate = null;
    skipField.hidden = skippableSources(list.picked).length === 0;
    showPrice();
    if (!element.isConnected || element.closest("[hidden]") || !isPossible()) return;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MILLISECONDS));
    if (current === latest && !app.signal.aborted) await loadPrice(current);
  }

  function isPossible() {
    return list.picked.length > 0 && list.picked.length <= MAX_ITEMS && list.choice.fields.length > 0;
  }

  /** @param {object} current */
  async function loadPrice(current) {
    try {
      const answer = await app.client.enrichmentRequest({ ...body(), dry_run: true }, { signal: app.signal });
      if (current !== latest) return;
      estimate = answer.estimate;
      problem.replaceChildren();
      if (!isCapEdited) cap.value = String(Math.min(answer.estimate.credits_max, balance));
      showPrice();
    } catch (error) {
      if (app.signal.aborted || current !== latest) return;
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 401) return app.restart();
      problem.replaceChildren(problemAlert(error.problem, app.session.origin, update));
    }
  }

  function body() {
    const { fields, skip: when } = list.choice;
    const sources = when === "none" ? [] : skippableSources(list.picked);
    const rule = sources.length > 0 && when !== "none" ? { skip: sources, skip_when: when } : {};
    const items = list.picked.map(({ subject }) => ({ subject: subject ?? {} }));
    return { entity: /** @type {"person"} */ ("person"), items, fields, ...rule, ...purpose.stated() };
  }

  /** The most that the request may cost: what the user allows, or what everything costs. */
  function most() {
    const max = estimate?.credits_max ?? 0;
    return cap.value === "" ? max : Math.min(max, Math.max(0, Math.floor(Number(cap.value))));
  }

  function showPrice() {
    const count = list.picked.length;
    fewer.hidden = count <= MAX_ITEMS;
    submit.hidden = capField.hidden = count > MAX_ITEMS;
    hint.textContent =
      count > MAX_ITEMS ? t("people_too_many", MAX_ITEMS, count) : estimate ? priceSentence(estimate, balance, grant) : "";
    submit.textContent = estimate
      ? t("find_people", plural("people", estimate.to_buy), formatCredits(most()))
      : t("find_people", plural("people", count), "…");
    submit.disabled = !estimate || estimate.to_buy === 0 || most() === 0;
  }

  async function request() {
    submit.disabled = true;
    const items = list.picked;
    const asked = { ...body(), max_credits: most() };
    const name = `enrichment_request ${await sha256(JSON.stringify(asked))}`;
    const started = await startRequest(name, "enrichmentRequest", asked, {
      subject: null,
      label: plural("people", items.length),
    });
    list.pick(items, false);
    isCapEdited = false;
    onStarted();
    run(started);
  }
}

/** Return who costs nothing and who may cost something, and what is missing for it.
 *  @param {Estimate} estimate @param {number} balance @param {import("../client/api.js").NextGrant|null|undefined} grant */
function priceSentence({ owned, skipped, to_buy: rest, credits_max: max }, balance, grant) {
  const counts = [
    owned > 0 && t("count_owned", owned),
    skipped > 0 && t("count_skipped", skipped),
    t("count_to_buy", rest),
  ];
  const parts = [`${counts.filter(Boolean).join(", ")}.`, rest > 0 ? t("paid_if_found") : t("nothing_to_buy")];
  if (balance === 0 && max > 0) parts.push(noCredits(max, balance, grant));
  else if (max > balance) parts.push(t("people_no_credits", formatCredits(balance)));
  return parts.join(" ");
}
