// The latest jobs of the workspace: the person, the outcome, the charge and who requested it.

import { formatCredits, formatDate, formatDateTime, formatTime, plural, slugOf, t, valueText } from "../texts.js";
import { cardHeader, copyButton, emptyState, h, listRow, statusIcon } from "./components.js";
import { icon } from "./icons.js";
import { personView } from "./person.js";
import { reportableValue } from "./report.js";
import { noResult, receipt } from "./results.js";

/** @typedef {import("../types.js").App} App */
/** @typedef {import("../types.js").View} View */
/** @typedef {import("../client/api.js").ListedJob} ListedJob */
/** @typedef {import("../client/api.js").LookupResult} LookupResult */
/** @typedef {import("../client/api.js").Subject} Subject */
/** A listed job with the person's name and the value to copy. @typedef {{job: ListedJob, name: string, value: string|null}} Entry */

const KINDS = ["reveal.email", "reveal.phone", "enrichment_request"];
/** @type {Record<string, string>} */
const KIND_ICONS = { reveal_email: "email", reveal_phone: "phone", enrichment_request: "enrichment" };
const MAX_JOBS = 50;

/** @param {import("../types.js").App} app */
export async function historyView(app) {
  const { jobs } = await app.client.jobs({ kinds: KINDS, limit: MAX_JOBS });
  const listed = jobs.filter((job) => KINDS.includes(job.kind)); // an older server lists all kinds
  if (listed.length === 0) return emptyState(t("history"), t("history_empty"), "history");
  const lookups = await lookUpContacts(app, listed);
  const entries = listed.map((job) => entryOf(job, lookups.get(job.subject?.contact_id ?? "")));
  const byDate = Map.groupBy(entries, ({ job }) => formatDate(job.created_at));
  return h(
    "section",
    {},
    h("h1", {}, t("history")),
    h("p", { class: "hint" }, t("history_intro", app.session.workspace.name)),
    ...[...byDate].flatMap(([date, entriesOfDay]) => [
      h("h2", { class: "day" }, date),
      h("ul", { class: "list" }, ...entriesOfDay.map((entry) => entryRow(app, entry))),
    ]),
  );
}

/** Return the lookups of the jobs' contacts by contact id. @param {App} app @param {ListedJob[]} jobs @returns {Promise<Map<string, LookupResult>>} */
async function lookUpContacts(app, jobs) {
  const ids = [...new Set(jobs.map((job) => job.subject?.contact_id ?? "").filter(Boolean))];
  if (ids.length === 0) return new Map();
  const subjects = ids.map((contact_id) => ({ contact_id }));
  const { results } = await app.client.lookupMany({ subjects }, { signal: app.signal });
  return new Map(results.map((lookup, index) => [ids[index], lookup]));
}

/** @param {ListedJob} job @param {LookupResult|undefined} lookup @returns {Entry} */
function entryOf(job, lookup) {
  const { subject } = job;
  const isHidden = job.outcome === "suppressed" || lookup?.suppressed || !subject;
  const name = lookup?.contact?.full_name ?? subject?.full_name ?? subject?.email ?? slugOf(subject?.linkedin_url);
  const { emails = [], phones = [] } = lookup?.revealed ?? {};
  const values = job.kind === "reveal.phone" ? [phones[0]?.e164] : [emails[0]?.email, phones[0]?.e164];
  const isFound = ["found", "partial"].includes(job.outcome ?? "");
  return {
    job,
    name: isList(job)
      ? plural("people", job.progress.total)
      : isHidden
        ? t("unknown_person")
        : (name ?? subject.phone ?? t("unknown_person")),
    value: isFound && !isHidden ? (values.find(Boolean) ?? null) : null,
  };
}

/** Return the kind as texts name it; a job of an upload is one, and that of several people names no profile. @param {ListedJob} job */
const kindOf = (job) => (job.upload_id ? "upload" : isList(job) ? "enrichment" : job.kind.replace(".", "_"));

/** @param {ListedJob} job */
const isList = (job) => job.progress.total > 1;

/** @param {App} app @param {Entry} entry */
function entryRow(app, { job, name, value }) {
  const kind = kindOf(job);
  const state = t("history_state", valueText("kind", kind), stateText(job));
  const facts = [state, chargeText(job), requesterName(app, job)].filter(Boolean).join(" · ");
  return listRow({
    name,
    details: [value && statusIcon(KIND_ICONS[kind] ?? "email", t("owned"), true), facts],
    time: formatTime(job.created_at),
    open: () => app.open(jobView(job, name)),
    action: value && copyButton(value),
  });
}

/** @param {ListedJob} job */
function chargeText(job) {
  if (job.finished_at === null) return "";
  if (job.charged === null) return ""; // for accounts that may not see costs
  return job.charged > 0 ? formatCredits(job.charged) : t("free");
}

/** @param {App} app @param {ListedJob} job */
function requesterName(app, job) {
  return job.asked_by?.id === app.session.account.id ? t("you") : job.asked_by?.name;
}

/** @param {ListedJob} job */
function stateText(job) {
  if (job.finished_at === null) return t("state_open");
  return valueText("state", job.outcome ?? job.status);
}

/** @param {ListedJob} job @param {string} name of the person @returns {View} */
function jobView(job, name) {
  return async (app) => {
    const response = await app.client.job(job.id, { wait: 10, signal: app.signal });
    const results = response.result?.items ?? [response.result ?? {}];
    const values = results.flatMap(valuesOf);
    const isSuppressed = response.job.outcome === "suppressed" || results[0]?.outcome === "suppressed";
    const subject = isSuppressed || isList(job) ? null : subjectOf(job, results[0]);
    const kind = valueText("kind", kindOf(job));
    const facts = [kind, formatDateTime(job.created_at), requesterName(app, job)].filter(Boolean).join(" · ");
    const open = () => subject && app.open(personView(subject));
    return h(
      "section",
      { class: "card" },
      cardHeader((!isList(job) && results[0]?.contact?.full_name) || name, false, h("p", { class: "hint" }, facts)),
      ...(values.length > 0
        ? results.flatMap((/** @type {any} */ result) => shownResult(app, job, result))
        : noValues(app, response)),
      receipt(response, values[0]?.sources ?? []),
      subject && h("button", { type: "button", onclick: open }, t("open_profile"), icon("chevron")),
    );
  };
}

/** @param {any} result @returns {any[]} */
const valuesOf = ({ emails = [], phones = [] }) => [...(emails ?? []), ...(phones ?? [])];

/** Return the values of one result; those of a list have the person's name above. @param {App} app @param {ListedJob} job @param {any} result @returns {Node[]} */
function shownResult(app, job, result) {
  const values = valuesOf(result);
  const name = isList(job) && values.length > 0 && result.contact?.full_name;
  return [...(name ? [h("h2", {}, name)] : []), ...values.map((value) => reportableValue(app, value))];
}

/** @param {App} app @param {import("../client/api.js").JobResponse} response @returns {Node[]} */
function noValues(app, response) {
  return response.job.finished_at ? noResult(app, response, null) : [h("p", {}, t("state_open"))];
}

/** Return the subject that looks up the person of a job. @param {ListedJob} job @param {any} result @returns {Subject|null} */
function subjectOf(job, result) {
  const id = result?.contact_id ?? result?.contact?.id ?? job.subject?.contact_id;
  return id ? { contact_id: id } : (job.subject ?? null);
}
