// The request for the full profile of a person without a stored contact.

import { ApiError } from "../client/api.js";
import { findRequest, deleteRequest, isFinished, onRequestChange, requestNames } from "../request_store.js";
import { may } from "../permissions.js";
import { run, startRequest } from "../requests.js";
import { formatCredits, t } from "../texts.js";
import { announce, button, h, problemAlert, spendButton } from "./components.js";
import { icon } from "./icons.js";
import { showProgress } from "./progress.js";
import { purposeChoice } from "./purpose.js";
import { excludedNotice, noResult, receipt } from "./results.js";

const FIELDS = ["profile", "company", "email", "phone"];

/** @param {import("../types.js").App} app @param {import("../types.js").Person} person @returns {Promise<HTMLElement>} */
export async function enrichmentCard(app, person) {
  const names = requestNames("enrichment_request", person.requested, null);
  const fields = FIELDS.filter((field) => field !== "phone" || may(app.session, "reveal_phones"));
  const body = { entity: /** @type {"person"} */ ("person"), items: [{ subject: person.subject }], fields };
  const content = h("div", { class: "stack" });
  const purpose = purposeChoice(app, "enrichment");
  onRequestChange(names, show, app.signal);
  names.forEach((name) => app.shownRequests.add(name));
  const existing = await findRequest(names);
  if (existing) show(existing);
  else offer();
  if (existing && !isFinished(existing)) run(existing);
  return h(
    "section",
    { class: "card enrichment", "aria-label": t("kind_enrichment_request") },
    h("h2", {}, icon("enrichment"), t("kind_enrichment_request")),
    content,
  );

  /** Load the price. The button is there from the start, disabled, so that nothing moves under the pointer once the
   *  price is known; the rest of the view does not wait for it. @param {...Node} above */
  async function offer(...above) {
    const submit = button(t("enrich", "…"), request, { class: "spend", disabled: true });
    const hint = h("p", { class: "hint" }, t("enrich_hint"));
    content.replaceChildren(...above, hint, purpose.element, ...spendButton(app, submit, 1));
    try {
      const { estimate } = await app.client.enrichmentRequest({ ...body, dry_run: true }, { signal: app.signal });
      if (await findRequest(names)) return; // requested in another window
      submit.textContent = t("enrich", formatCredits(estimate.credits_max));
      submit.disabled = false;
    } catch (error) {
      if (app.signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 401) return app.restart();
      content.replaceChildren(problemAlert(error.problem, app.session.origin, () => offer()));
    }
  }

  async function request() {
    content.querySelectorAll("button").forEach((/** @type {HTMLButtonElement} */ element) => (element.disabled = true));
    const about = { subject: person.requested, label: person.label };
    const started = await startRequest(names[0], "enrichmentRequest", { ...body, ...purpose.stated() }, about);
    show(started);
    run(started);
  }

  /** @param {import("../request_store.js").StoredRequest} stored */
  async function show(stored) {
    if (app.signal.aborted) return;
    if (!isFinished(stored)) return showProgress(app, stored, content);
    deleteRequest(stored);
    const { response } = stored;
    const item = response?.result?.items[0];
    if (item?.contact) return person.openContact(item.contact.id);
    if (item?.outcome === "suppressed") return person.onSuppressed();
    if (response && item?.excluded)
      return content.replaceChildren(...excludedNotice(item.excluded), receipt(response, []));
    const problem = item?.error ?? stored.problem;
    if (problem?.code === "insufficient_credits") return offer();
    if (problem?.code === "purpose_required") {
      purpose.offer(problem.purposes ?? []);
      return offer(problemAlert(problem, app.session.origin, null));
    }
    if (response === null || problem) {
      const failure = problem ?? { code: "provider_failed", status: 0, retryable: true };
      return content.replaceChildren(problemAlert(failure, app.session.origin, request));
    }
    const isNotFound = response.job.status === "succeeded";
    if (isNotFound) announce(t("enrich_none"));
    const lines = isNotFound ? [h("p", {}, t("enrich_none"))] : noResult(app, response, request);
    content.replaceChildren(...lines, receipt(response, []));
  }
}
