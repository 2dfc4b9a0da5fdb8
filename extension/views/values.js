// A person's addresses or numbers: masked with their price, being asked for, or in full with their receipt.

import { ask, drive, find, forget, isOver, listen, namesOf } from "../questions.js";
import { credits, day, named, provider, seconds, sentence, t } from "../texts.js";
import { announce, button, copyButton, failure, h, icon, priced, retryButton, stopped } from "./parts.js";

/** @typedef {import("../panel.js").App} App */
/** @typedef {import("../client/api.js").Answer} Answer */
/** @typedef {import("../client/api.js").Available} Available */
/** @typedef {import("../client/api.js").Card} Card */
/** @typedef {import("../client/api.js").Source} Source */
/** @typedef {import("../client/api.js").Subject} Subject */
/** @typedef {import("../questions.js").Question} Question */
/** @typedef {"email"|"phone"} Field */

/** @type {Record<Field, import("../questions.js").Method>} */
const METHODS = { email: "revealEmail", phone: "revealPhone" };
const WORST_FIRST = ["unknown", "invalid", "risky", "accept_all", "valid"];

/** @param {App} app @param {Field} field @param {import("./person.js").Who} who @param {Card} card @returns {HTMLElement} */
export function values(app, field, who, card) {
  const names = namesOf(`reveal.${field}`, who.asked, card.contact);
  const owned = field === "email" ? card.revealed.emails : card.revealed.phones;
  const hidden = card.available.filter((one) => one.field === field && !one.owned);
  const price = hidden[0]?.credits ?? app.session.prices[`reveal.${field}`] ?? 1;
  const place = h("div", { class: "place" });
  const section = h(
    "section",
    { class: `card ${field}`, "aria-label": t(`kind_${field}`) },
    h("h2", {}, icon(field), t(`kind_${field}`)),
    place,
  );
  listen(names, follow, app.signal);
  names.forEach((name) => app.shows.add(name));
  begin();
  return section;

  async function begin() {
    const question = await find(names);
    if (question) follow(question);
    else place.replaceChildren(...(owned.length > 0 ? owned.map((one) => value(one)) : offer()));
    if (question && !isOver(question)) drive(question);
  }

  function offer() {
    const key = hidden.length > 0 ? `reveal_${field}` : `find_${field}`;
    const act = button(t(key, credits(price)), reveal, { class: "spend" });
    const known = hidden.map((one) =>
      h(
        "div",
        { class: "value" },
        h("span", { class: "masked" }, one.masked),
        h("p", { class: "facts" }, badge(one.status, one.last_verified_at, "masked"), typeOf(one)),
      ),
    );
    return [...(known.length > 0 ? known : [h("p", { class: "hint" }, t("none_known"))]), ...priced(app, act, price)];
  }

  async function reveal() {
    place.querySelectorAll("button").forEach((/** @type {HTMLButtonElement} */ one) => (one.disabled = true));
    const body = { subject: who.subject, ...wish(field, hidden), ...reference(who.subject) };
    const question = await ask(names[0], METHODS[field], body, { subject: who.asked, label: who.label });
    follow(question);
    drive(question);
  }

  /** @param {Question} question */
  function follow(question) {
    if (app.signal.aborted) return;
    if (!isOver(question)) return progress(app, question, place);
    place.replaceChildren(...outcome(question));
    forget(question); // it was seen
  }

  /** @param {Question} question @returns {Node[]} */
  function outcome({ state, problem, answer }) {
    if (problem?.code === "insufficient_credits") {
      announce(sentence(problem, app.session.origin));
      return offer();
    }
    if (state === "refused" || answer === null) {
      return [stopped(problem ?? { code: "provider_failed", status: 0, retryable: true }, app.session.origin, reveal)];
    }
    if (answer.job.outcome === "suppressed") who.suppressed();
    const found = answer.result?.[field === "email" ? "emails" : "phones"] ?? [];
    if (found.length > 0) {
      who.found();
      const texts = found.map((/** @type {any} */ one) => one.email ?? one.national);
      announce(texts.join(", "));
      return [...found.map((/** @type {any} */ one) => value(one)), receipt(answer, found[0].sources)];
    }
    return [...nothing(app, answer, reveal), receipt(answer, [])];
  }
}

/** Say why there is no value. @param {App} app @param {Answer} answer @param {(() => unknown)|null} again @returns {Node[]} */
export function nothing(app, answer, again) {
  const { job } = answer;
  if (job.outcome === "suppressed")
    return [h("p", {}, h("strong", {}, t("suppressed_title")), ". ", t("suppressed_text"))];
  if (job.error) return [stopped(job.error, app.session.origin, again)];
  if (job.status !== "succeeded") {
    const told = ["expired", "canceled"].includes(job.status) ? t(job.status) : t("failed");
    return [failure(told, again && retryButton(0, again))];
  }
  announce(t("not_found"));
  return [h("p", {}, t("not_found"))];
}

/** Say how far a question is, and what is in the way; a screen reader hears what is new of it.
 *  @param {App} app @param {Question} question @param {HTMLElement} place */
export function progress(app, question, place) {
  const { answer, problem } = question;
  const asked = [...new Set((answer?.trace ?? []).map((line) => provider(line.provider)))];
  const asking = (answer?.job.progress.asking ?? []).map(provider);
  const line = [
    asked.length > 0 && t("asked", asked.join(", ")),
    asking.length > 0 ? t("asking", asking.join(", ")) : t("asking_start"),
  ];
  const trouble =
    problem &&
    sentence({ ...problem, retry_after: secondsUntil(question.after) }, app.session.origin, { goesOn: true });
  if (place.querySelector(".progress") === null) {
    const turning = h("span", { class: "spinner", "aria-hidden": "true" });
    const lines = [
      h("p", { class: "busy", role: "status" }, turning, h("span")),
      h("p", { class: "wrong", role: "alert" }),
      h("p", { class: "hint" }, t("goes_on")),
    ];
    place.replaceChildren(h("div", { class: "progress" }, ...lines));
  }
  say(".busy span:last-child", `${line.filter(Boolean).join(" ")}…`);
  say(".wrong", trouble ? [trouble, problem.status === 429 ? "" : t("trying_again")].join(" ").trim() : "");

  /** @param {string} selector @param {string} text */
  function say(selector, text) {
    const node = /** @type {HTMLElement} */ (place.querySelector(`.progress ${selector}`));
    if (node.textContent !== text) node.textContent = text;
  }
}

/** Say who was asked and what it cost. @param {Answer} answer @param {Source[]} sources @returns {HTMLElement} */
export function receipt(answer, sources) {
  const { credits: paid, trace, job } = answer;
  const cost = paid.already_owned ? t("receipt_owned") : t("receipt_charged", credits(paid.charged));
  const table = h(
    "table",
    {},
    h(
      "thead",
      {},
      h("tr", {}, ...["provider", "outcome", "time"].map((one) => h("th", { scope: "col" }, t(`receipt_${one}`)))),
    ),
    h(
      "tbody",
      {},
      ...trace.map((line) =>
        h(
          "tr",
          {},
          h("td", {}, provider(line.provider)),
          h("td", {}, named("outcome", line.outcome)),
          h("td", {}, line.latency_ms ? seconds(line.latency_ms) : ""),
        ),
      ),
    ),
  );
  return h(
    "details",
    { class: "receipt" },
    h("summary", {}, t("receipt"), h("span", { class: "hint" }, cost)),
    trace.length > 0 ? table : h("p", { class: "hint" }, t("receipt_stored")),
    ...sources.map((one) =>
      h(
        "p",
        { class: "hint" },
        one.kind === "import"
          ? t("receipt_import", one.provider, day(one.last_seen_at))
          : t("receipt_source", provider(one.provider), day(one.last_seen_at)),
      ),
    ),
    h("p", { class: "hint" }, t("receipt_job", job.id)),
  );
}

/** @param {any} one an e-mail or a phone in full */
export function value(one) {
  const text = one.email ?? one.national;
  const href = one.email ? `mailto:${one.email}` : `tel:${one.e164}`;
  const isImport = one.sources.some((/** @type {Source} */ source) => source.kind === "import");
  const how = isImport && one.verified_at === null ? "import" : "found";
  return h(
    "div",
    { class: "value" },
    h("a", { href, class: "plain" }, text, one.extension && ` x${one.extension}`),
    copyButton(one.email ?? one.e164),
    h(
      "p",
      { class: "facts" },
      badge(one.status, one.verified_at, how),
      one.do_not_call && h("span", { class: "badge bad" }, t("do_not_call")),
      typeOf(one),
      isImport && one.status !== "valid" && h("span", {}, t("status_valid_import")),
    ),
  );
}

/** @param {{type: string}} one */
const typeOf = ({ type }) => h("span", {}, named("type", type));

/** @param {string} status @param {string|null} at when it was verified @param {"import"|"found"|"masked"} how */
function badge(status, at, how) {
  if (status === "valid" && at) return h("span", { class: "badge good" }, icon("check"), t("status_valid_at", day(at)));
  if (status === "valid" && how !== "found") return h("span", { class: "badge" }, t("status_valid_import"));
  const mood = { valid: "good", accept_all: "fair", risky: "fair", invalid: "bad" }[status] ?? "";
  return h("span", { class: `badge ${mood}` }, named("status", status));
}

/** Ask for what is shown: all its types, and nothing better than the best of it. @param {Field} field @param {Available[]} hidden */
function wish(field, hidden) {
  if (hidden.length === 0) return {};
  const best = Math.max(...hidden.map((one) => WORST_FIRST.indexOf(one.status)));
  const enough = { valid: "valid", accept_all: "accept_all" }[WORST_FIRST[best]] ?? "any";
  const types = [...new Set(hidden.map((one) => one.type))];
  return { min_status: enough, ...(field === "email" && { types }) };
}

/** Let the history name the person by an id that tells others nothing. @param {Subject} who */
function reference(who) {
  return who.contact_id ? { client_reference: who.contact_id } : {};
}

/** @param {number} after milliseconds since 1970 */
function secondsUntil(after) {
  return Math.max(1, Math.ceil((after - Date.now()) / 1000));
}
