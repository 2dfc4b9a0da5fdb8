// What the workspace asked lately, and what came of it.

import { moment, named, t } from "../texts.js";
import { empty, h } from "./parts.js";
import { personView } from "./person.js";
import { nothing, receipt, value } from "./values.js";

/** @typedef {import("../panel.js").App} App */
/** @typedef {import("../client/api.js").Job} Job */

const KINDS = ["reveal.email", "reveal.phone", "enrichment_request"];
const LATEST = 50;

/** @type {import("../panel.js").View} */
export async function historyView(app) {
  const { jobs } = await app.client.jobs({ limit: LATEST });
  const asked = jobs.filter((job) => KINDS.includes(job.kind));
  if (asked.length === 0) return empty(t("history"), t("history_empty"));
  const names = await namesOf(app, asked);
  const nameOf = (/** @type {Job} */ job) => names.get(job.client_reference ?? "") ?? t("somebody");
  const rows = asked.map((job) =>
    h(
      "li",
      {},
      h(
        "button",
        { type: "button", class: "lead", onclick: () => app.open(jobView(job, nameOf(job))) },
        h("strong", {}, nameOf(job)),
        h("span", {}, `${named("kind", job.kind.replace(".", "_"))}: ${state(job)}`),
        h("span", { class: "hint" }, moment(job.created_at)),
      ),
    ),
  );
  return h(
    "section",
    {},
    h("h1", {}, t("history")),
    h("p", { class: "hint" }, t("history_intro", app.session.workspace.name)),
    h("ul", { class: "leads" }, ...rows),
  );
}

/** Give the names of those whom jobs were about, by contact id. @param {App} app @param {Job[]} jobs @returns {Promise<Map<string, string>>} */
async function namesOf(app, jobs) {
  const ids = [...new Set(jobs.map((job) => job.client_reference ?? "").filter((id) => id.startsWith("con_")))];
  if (ids.length === 0) return new Map();
  const subjects = ids.slice(0, LATEST).map((contact_id) => ({ contact_id }));
  const { results } = await app.client.lookupMany({ subjects }, { signal: app.signal });
  return new Map(
    results
      .filter((card) => card.contact?.full_name)
      .map((card) => [card.contact?.id ?? "", card.contact?.full_name ?? ""]),
  );
}

/** @param {Job} job @param {string} name of whom it was about @returns {import("../panel.js").View} */
function jobView(job, name) {
  return async (app) => {
    const answer = await app.client.job(job.id, { wait: 10, signal: app.signal });
    const results = answer.result?.items ?? [answer.result ?? {}];
    const found = results.flatMap((/** @type {any} */ one) => [...(one.emails ?? []), ...(one.phones ?? [])]);
    const contact = results[0]?.contact_id ?? results[0]?.contact?.id;
    const open = () => app.open(personView({ contact_id: contact }));
    return h(
      "section",
      { class: "card" },
      h("h1", {}, results[0]?.contact?.full_name ?? name),
      h("p", { class: "hint" }, `${named("kind", job.kind.replace(".", "_"))} · ${moment(job.created_at)}`),
      ...(found.length > 0
        ? found.map(value)
        : answer.job.finished_at
          ? nothing(app, answer, open)
          : [h("p", {}, t("state_open"))]),
      receipt(answer, found[0]?.sources ?? []),
      contact && h("button", { type: "button", onclick: open }, t("open_profile")),
    );
  };
}

/** @param {Job} job */
function state(job) {
  if (job.finished_at === null) return t("state_open");
  return named("state", job.outcome ?? job.status);
}
