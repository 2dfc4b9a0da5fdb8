// A person's e-mail addresses or phone numbers: masked with their price, being revealed, or revealed with a receipt.

import { findRequest, deleteRequest, isFinished, onRequestChange, requestNames } from "../request_store.js";
import { may } from "../permissions.js";
import { run, startRequest } from "../requests.js";
import { errorMessage, formatCredits, t } from "../texts.js";
import { announce, button, h, problemAlert, refused, spendButton } from "./components.js";
import { icon } from "./icons.js";
import { showProgress } from "./progress.js";
import { purposeChoice } from "./purpose.js";
import { reportableValue } from "./report.js";
import {
  callBadge,
  excludedNotice,
  noResult,
  receipt,
  reportedBadge,
  statusBadge,
  valueType,
} from "./results.js";

/** @typedef {import("../client/api.js").MaskedValue} MaskedValue */
/** @typedef {import("../request_store.js").StoredRequest} StoredRequest */
/** @typedef {"email"|"phone"} Field */

/** @type {Record<Field, import("../request_store.js").Method>} */
const METHODS = { email: "revealEmail", phone: "revealPhone" };
const WORST_FIRST = ["unknown", "invalid", "risky", "accept_all", "valid"];

/** @param {import("../types.js").App} app @param {Field} field @param {import("../types.js").Person} person
 *  @param {import("../client/api.js").LookupResult} lookup @returns {HTMLElement} */
export function fieldCard(app, field, person, lookup) {
  const names = requestNames(`reveal.${field}`, person.requested, lookup.contact);
  const owned = field === "email" ? lookup.revealed.emails : lookup.revealed.phones;
  const masked = lookup.available.filter((value) => value.field === field && !value.owned);
  const price = masked[0]?.credits ?? app.session.prices[`reveal.${field}`] ?? 1;
  const content = h("div", { class: "stack" });
  const purpose = purposeChoice(app, field);
  onRequestChange(names, show, app.signal);
  names.forEach((name) => app.shownRequests.add(name));
  start();
  return h(
    "section",
    { class: `card ${field}`, "aria-label": t(`kind_${field}`) },
    h("h2", {}, icon(field), t(`kind_${field}`)),
    content,
  );

  async function start() {
    const request = await findRequest(names);
    if (request) show(request);
    else content.replaceChildren(...(owned.length > 0 ? owned.map(revealed) : offer()));
    if (request && !isFinished(request)) run(request);
  }

  function offer() {
    if (lookup.excluded) return excludedNotice(lookup.excluded);
    const key = masked.length > 0 ? `reveal_${field}` : `find_${field}`;
    const spend = button(t(key, formatCredits(price)), reveal, { class: "spend" });
    const values = masked.map(maskedValue);
    if (field === "phone" && !may(app.session, "reveal_phones")) return [...values, refused("reveal_phones")];
    const none = [h("p", { class: "hint" }, t("none_known"))];
    return [...(values.length > 0 ? values : none), purpose.element, ...spendButton(app, spend, price)];
  }

  /** @param {any} value */
  function revealed(value) {
    return reportableValue(app, value);
  }

  function reveal() {
    return ask({});
  }

  function buy() {
    return ask({ use_own_records: false });
  }

  /** @param {{use_own_records?: boolean}} choice */
  async function ask(choice) {
    content.querySelectorAll("button").forEach((/** @type {HTMLButtonElement} */ element) => (element.disabled = true));
    const { subject } = person;
    const options = { ...minimumQuality(field, masked), ...purpose.stated(), ...clientReference(subject), ...choice };
    const about = { subject: person.requested, label: person.label };
    const request = await startRequest(names[0], METHODS[field], { subject, ...options }, about);
    show(request);
    run(request);
  }

  /** @param {StoredRequest} request */
  function show(request) {
    if (app.signal.aborted) return;
    if (!isFinished(request)) return showProgress(app, request, content);
    content.replaceChildren(...result(request));
    deleteRequest(request);
  }

  /** @param {StoredRequest} request @returns {Node[]} */
  function result({ state, problem, response }) {
    if (problem?.code === "insufficient_credits") {
      announce(errorMessage(problem, app.session.origin));
      return offer();
    }
    const refusal = problem ?? response?.job.error;
    if (refusal?.code === "purpose_required") {
      purpose.offer(refusal.purposes ?? []);
      return [problemAlert(refusal, app.session.origin, null), ...offer()];
    }
    if (state === "refused" || response === null) {
      const failure = problem ?? { code: "provider_failed", status: 0, retryable: true };
      return [problemAlert(failure, app.session.origin, reveal)];
    }
    if (response.job.outcome === "suppressed") person.onSuppressed();
    const values = response.result?.[field === "email" ? "emails" : "phones"] ?? [];
    if (values.length === 0) return [...noResult(app, response, reveal), receipt(response, [])];
    person.onFound();
    announce(values.map((/** @type {any} */ value) => value.email ?? value.national).join(", "));
    const isOwn = response.trace.some(({ source }) => source);
    const more = isOwn ? spendButton(app, button(t("buy_all_the_same", formatCredits(price)), buy), price) : [];
    return [...values.map(revealed), receipt(response, values[0].sources), ...more];
  }
}

/** @param {MaskedValue} value */
function maskedValue(value) {
  return h(
    "div",
    { class: "value" },
    h("span", { class: "masked" }, value.masked),
    h(
      "p",
      { class: "facts" },
      statusBadge(value.status, value.last_verified_at, "masked"),
      reportedBadge(value),
      callBadge(value),
      valueType(value),
    ),
  );
}

/** Return the request options that accept every masked value: all types, and the best status shown. @param {Field} field @param {MaskedValue[]} masked */
function minimumQuality(field, masked) {
  if (masked.length === 0) return {};
  const best = Math.max(...masked.map((value) => WORST_FIRST.indexOf(value.status)));
  const status = { valid: "valid", accept_all: "accept_all" }[WORST_FIRST[best]] ?? "any";
  const types = [...new Set(masked.map((value) => value.type))];
  return { min_status: status, ...(field === "email" && { types }) };
}

/** Return the contact id as the reference that the job list shows. @param {import("../client/api.js").Subject} subject */
function clientReference(subject) {
  return subject.contact_id ? { client_reference: subject.contact_id } : {};
}
