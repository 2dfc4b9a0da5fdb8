// Finished requests: revealed values, the reason why there is none, and the receipt.

import { formatCredits, formatDate, formatSeconds, providerName, t, valueText } from "../texts.js";
import { announce, errorAlert, h, problemAlert, retryButton, shownValue } from "./components.js";
import { icon } from "./icons.js";

/** @typedef {import("../client/api.js").JobResponse} JobResponse */
/** @typedef {import("../client/api.js").Source} Source */

/** Return a revealed value. @param {any} value an e-mail address or a phone number of the API */
export function revealedValue(value) {
  const isImport = value.sources.some((/** @type {Source} */ source) => source.kind === "import");
  const origin = isImport && value.verified_at === null ? "import" : "provider";
  return h(
    "div",
    { class: "value" },
    shownValue(value),
    h(
      "p",
      { class: "facts" },
      statusBadge(value.status, value.verified_at, origin),
      value.status_reasons?.includes("former") && h("span", { class: "badge fair" }, t("former_employer")),
      reportedBadge(value),
      callBadge(value),
      valueType(value),
      isImport && value.status !== "valid" && h("span", {}, t("status_valid_import")),
    ),
  );
}

/** Return a badge with what the workspace reported about a value, and when. @param {{reported?: string|null, reported_at?: string|null}} value */
export function reportedBadge({ reported, reported_at: at }) {
  if (!reported) return null;
  const text = t("reported_as", [t(`report_${reported}`), at && formatDate(at)].filter(Boolean).join(" · "));
  return h("span", { class: `badge ${reported === "valid" ? "good" : "bad"}` }, text);
}

/**
 * Say that a number must not be called, and by which registers of which dates; nothing of another number.
 *
 * @param {{do_not_call?: boolean|null, call_registers?: {name: string, date: string, listed: boolean}[]}} value
 */
export function callBadge({ do_not_call: mustNotBeCalled, call_registers: registers = [] }) {
  const listed = registers.filter((one) => one.listed).map(({ name, date }) => `${name} ${formatDate(date)}`);
  return mustNotBeCalled && h("span", { class: "badge bad" }, [t("do_not_call"), ...listed].join(" · "));
}

/** @param {{type: string}} value */
export const valueType = ({ type }) => h("span", {}, valueText("type", type));

/** @param {string} status @param {string|null} verifiedAt @param {"import"|"provider"|"masked"} origin */
export function statusBadge(status, verifiedAt, origin) {
  if (status === "valid" && verifiedAt)
    return h("span", { class: "badge good" }, icon("check"), t("status_valid_at", formatDate(verifiedAt)));
  if (status === "valid" && origin !== "provider") return h("span", { class: "badge" }, t("status_valid_import"));
  const level = { valid: "good", accept_all: "fair", risky: "fair", invalid: "bad" }[status] ?? "";
  return h("span", { class: `badge ${level}` }, valueText("status", status));
}

/** Return the reason why a finished job has no value.
 *  @param {import("../types.js").App} app @param {JobResponse} response @param {(() => unknown)|null} retry @returns {Node[]} */
export function noResult(app, response, retry) {
  const { job } = response;
  if (job.outcome === "suppressed")
    return [h("p", {}, h("strong", {}, t("suppressed_title")), ". ", t("suppressed_text"))];
  if (job.excluded) return excludedNotice(job.excluded);
  if (job.error) return [problemAlert(job.error, app.session.origin, retry)];
  if (job.status !== "succeeded") {
    const text = ["expired", "canceled"].includes(job.status) ? t(job.status) : t("failed");
    return [errorAlert(text, retry && retryButton(0, retry))];
  }
  announce(t("not_found"));
  return [h("p", {}, t("not_found"))];
}

/** Return why the workspace excludes a person, in the place of a button that reveals.
 *  @param {import("../client/api.js").Exclusion} exclusion @returns {Node[]} */
export function excludedNotice({ reason, note }) {
  const why = t("excluded", valueText("exclusion", reason));
  return [h("p", {}, h("strong", {}, why)), h("p", { class: "hint" }, [note, t("excluded_text")].filter(Boolean).join(" · "))];
}

/** Return the receipt: the charge, the providers searched and the sources. @param {JobResponse} response @param {Source[]} sources @returns {HTMLElement} */
export function receipt({ credits, trace, job }, sources) {
  const spent = credits.charged === null ? "" : t("receipt_charged", formatCredits(credits.charged));
  const charge = credits.already_owned ? t("receipt_owned") : spent;
  return h(
    "details",
    { class: "receipt" },
    h("summary", {}, t("receipt"), h("span", { class: "hint" }, charge)),
    trace.length > 0 ? traceTable(trace) : h("p", { class: "hint" }, t("receipt_stored")),
    ...sources.map((source) => h("p", { class: "hint" }, sourceText(source))),
    h("p", { class: "hint" }, t("receipt_job", job.id)),
  );
}

/** @param {import("../client/api.js").TraceEntry[]} trace */
function traceTable(trace) {
  const columns = ["provider", "outcome", "time"].map((name) => h("th", { scope: "col" }, t(`receipt_${name}`)));
  const rows = trace.map((entry) =>
    h(
      "tr",
      {},
      h("td", {}, sourceName(entry.provider, entry.source)),
      h("td", {}, valueText("outcome", entry.outcome)),
      h("td", {}, entry.latency_ms ? formatSeconds(entry.latency_ms) : ""),
    ),
  );
  return h("table", {}, h("thead", {}, h("tr", {}, ...columns)), h("tbody", {}, ...rows));
}

/** An address book is named by its id. @param {string} provider @param {string} [kind] */
const sourceName = (provider, kind) => (kind === "address_book" ? t("address_book") : providerName(provider));

/** @param {Source} source */
function sourceText({ kind, provider, last_seen_at: seenAt }) {
  return kind === "import"
    ? t("receipt_import", provider, formatDate(seenAt))
    : t("receipt_source", sourceName(provider, kind), formatDate(seenAt));
}
