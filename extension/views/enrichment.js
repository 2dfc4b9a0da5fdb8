// Asking everybody for everything about somebody who is not known yet.

import { ApiError } from "../client/api.js";
import { ask, drive, find, forget, isOver, listen, namesOf } from "../questions.js";
import { credits, t } from "../texts.js";
import { announce, button, h, icon, priced, stopped } from "./parts.js";
import { nothing, progress, receipt } from "./values.js";

/** @typedef {import("../panel.js").App} App */
/** @typedef {import("../questions.js").Question} Question */

const FIELDS = ["profile", "company", "email", "phone"];

/** @param {App} app @param {import("./person.js").Who} who @returns {Promise<HTMLElement>} */
export async function enrichment(app, who) {
  const names = namesOf("enrichment_request", who.asked, null);
  const body = { entity: /** @type {"person"} */ ("person"), items: [{ subject: who.subject }], fields: FIELDS };
  const place = h("div", { class: "place" });
  listen(names, follow, app.signal);
  names.forEach((name) => app.shows.add(name));
  const earlier = await find(names);
  if (earlier) follow(earlier);
  else offer();
  if (earlier && !isOver(earlier)) drive(earlier);
  return h(
    "section",
    { class: "card enrichment", "aria-label": t("kind_enrichment_request") },
    h("h2", {}, icon("enrichment"), t("kind_enrichment_request")),
    place,
  );

  /** Ask what it costs at most; whatever else is shown of the person does not wait for that, nor moves when it
   *  is known: nobody is to press what came under the pointer meanwhile. */
  async function offer() {
    const submit = button(t("enrich", "…"), act, { class: "spend", disabled: true });
    place.replaceChildren(h("p", { class: "hint" }, t("enrich_hint")), ...priced(app, submit, 1));
    try {
      const { estimate } = await app.client.enrichmentRequest({ ...body, dry_run: true }, { signal: app.signal });
      if (await find(names)) return; // another window was faster
      submit.textContent = t("enrich", credits(estimate.credits_max));
      submit.disabled = false;
    } catch (error) {
      if (app.signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 401) return app.restart();
      place.replaceChildren(stopped(error.problem, app.session.origin, offer));
    }
  }

  async function act() {
    place.querySelectorAll("button").forEach((/** @type {HTMLButtonElement} */ one) => (one.disabled = true));
    const question = await ask(names[0], "enrichmentRequest", body, { subject: who.asked, label: who.label });
    follow(question);
    drive(question);
  }

  /** @param {Question} question */
  async function follow(question) {
    if (app.signal.aborted) return;
    if (!isOver(question)) return progress(app, question, place);
    const { answer, problem } = question;
    forget(question); // it was seen
    const item = answer?.result?.items[0];
    if (item?.contact) return who.opens(item.contact.id);
    if (item?.outcome === "suppressed") return who.suppressed();
    const told = item?.error ?? problem;
    if (told?.code === "insufficient_credits") return offer();
    if (answer === null || told) {
      const failed = told ?? { code: "provider_failed", status: 0, retryable: true };
      return place.replaceChildren(stopped(failed, app.session.origin, act));
    }
    const none = answer.job.status === "succeeded";
    if (none) announce(t("enrich_none"));
    const lines = none ? [h("p", {}, t("enrich_none"))] : nothing(app, answer, act);
    place.replaceChildren(...lines, receipt(answer, []));
  }
}
