// What the workspace asked lately: whom about, what came of it, what it cost, and who asked.

import { clockTime, credits, day, moment, named, slugOf, t } from "../texts.js";
import { copyButton, empty, h, head, icon, mark, row } from "./parts.js";
import { personView } from "./person.js";
import { nothing, receipt, value } from "./values.js";

/** @typedef {import("../panel.js").App} App */
/** @typedef {import("../client/api.js").ListedJob} ListedJob */
/** @typedef {import("../client/api.js").Card} Card */
/** @typedef {import("../client/api.js").Subject} Subject */
/** A job of the list, with whom it was about and what of it can be copied now. @typedef {{job: ListedJob, name: string, text: string|null}} Entry */

const KINDS = ["reveal.email", "reveal.phone", "enrichment_request"];
const LATEST = 50;

/** @type {import("../panel.js").View} */
export async function historyView(app) {
  const { jobs } = await app.client.jobs({ limit: LATEST });
  const asked = jobs.filter((job) => KINDS.includes(job.kind));
  if (asked.length === 0) return empty(t("history"), t("history_empty"), "history");
  const cards = await cardsOf(app, asked);
  const entries = asked.map((job) => entry(job, cards.get(job.subject?.contact_id ?? "")));
  const days = Map.groupBy(entries, ({ job }) => day(job.created_at));
  return h(
    "section",
    {},
    h("h1", {}, t("history")),
    h("p", { class: "hint" }, t("history_intro", app.session.workspace.name)),
    ...[...days].flatMap(([date, ofDay]) => [
      h("h2", { class: "day" }, date),
      h("ul", { class: "list" }, ...ofDay.map((one) => entryRow(app, one))),
    ]),
  );
}

/** Look up those whom jobs were about, by contact id. @param {App} app @param {ListedJob[]} jobs @returns {Promise<Map<string, Card>>} */
async function cardsOf(app, jobs) {
  const ids = [...new Set(jobs.map((job) => job.subject?.contact_id ?? "").filter(Boolean))];
  if (ids.length === 0) return new Map();
  const subjects = ids.map((contact_id) => ({ contact_id }));
  const { results } = await app.client.lookupMany({ subjects }, { signal: app.signal });
  return new Map(results.map((card, at) => [ids[at], card]));
}

/** @param {ListedJob} job @param {Card|undefined} card @returns {Entry} */
function entry(job, card) {
  const { subject } = job;
  const isHidden = job.outcome === "suppressed" || card?.suppressed || !subject;
  const name = card?.contact?.full_name ?? subject?.full_name ?? subject?.email ?? slugOf(subject?.linkedin_url);
  const { emails = [], phones = [] } = card?.revealed ?? {};
  const texts = job.kind === "reveal.phone" ? [phones[0]?.e164] : [emails[0]?.email, phones[0]?.e164];
  const isFound = ["found", "partial"].includes(job.outcome ?? "");
  return {
    job,
    name: isHidden ? t("somebody") : (name ?? subject.phone ?? t("somebody")),
    text: isFound && !isHidden ? (texts.find(Boolean) ?? null) : null,
  };
}

/** @param {App} app @param {Entry} what */
function entryRow(app, { job, name, text }) {
  const kind = job.kind.replace(".", "_");
  const state = t("history_state", named("kind", kind), stateOf(job));
  const facts = [state, cost(job), by(app, job)].filter(Boolean).join(" · ");
  return row({
    name,
    second: [text && mark(ICON[kind], t("owned"), true), facts],
    when: clockTime(job.created_at),
    open: () => app.open(jobView(job, name)),
    aside: text && copyButton(text),
  });
}

/** @type {Record<string, string>} */
const ICON = { reveal_email: "email", reveal_phone: "phone", enrichment_request: "enrichment" };

/** @param {ListedJob} job */
function cost(job) {
  return job.finished_at === null ? "" : job.charged > 0 ? credits(job.charged) : t("free");
}

/** Say who asked. @param {App} app @param {ListedJob} job */
function by(app, job) {
  return job.asked_by?.id === app.session.account.id ? t("you") : job.asked_by?.name;
}

/** @param {ListedJob} job @param {string} name of whom it was about @returns {import("../panel.js").View} */
function jobView(job, name) {
  return async (app) => {
    const answer = await app.client.job(job.id, { wait: 10, signal: app.signal });
    const results = answer.result?.items ?? [answer.result ?? {}];
    const found = results.flatMap((/** @type {any} */ one) => [...(one.emails ?? []), ...(one.phones ?? [])]);
    const isSuppressed = answer.job.outcome === "suppressed" || results[0]?.outcome === "suppressed";
    const whom = isSuppressed ? null : whomOf(job, results[0]);
    const facts = [named("kind", job.kind.replace(".", "_")), moment(job.created_at), by(app, job)];
    return h(
      "section",
      { class: "card" },
      head(results[0]?.contact?.full_name ?? name, false, h("p", { class: "hint" }, facts.filter(Boolean).join(" · "))),
      ...(found.length > 0
        ? found.map(value)
        : answer.job.finished_at
          ? nothing(app, answer, null)
          : [h("p", {}, t("state_open"))]),
      receipt(answer, found[0]?.sources ?? []),
      whom &&
        h("button", { type: "button", onclick: () => app.open(personView(whom)) }, t("open_profile"), icon("chevron")),
    );
  };
}

/** Give how to look the person up again. @param {ListedJob} job @param {any} result @returns {Subject|null} */
function whomOf(job, result) {
  const id = result?.contact_id ?? result?.contact?.id ?? job.subject?.contact_id;
  return id ? { contact_id: id } : (job.subject ?? null);
}

/** @param {ListedJob} job */
function stateOf(job) {
  if (job.finished_at === null) return t("state_open");
  return named("state", job.outcome ?? job.status);
}
