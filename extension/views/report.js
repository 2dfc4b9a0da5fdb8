// A revealed value with the menu that reports it: a bounce, a wrong number, a wrong person, or that the person has left.

import { ApiError } from "../client/api.js";
import { updateSession } from "../storage.js";
import { errorMessage, formatCredits, t } from "../texts.js";
import { announce, button, h } from "./components.js";
import { revealedValue } from "./results.js";

const KINDS = { email: ["bounce", "wrong_person", "has_left"], phone: ["wrong_number", "wrong_person", "has_left"] };

const OWN = ["crm", "address_book"];

/** Return a revealed value, and the menu unless it is reported already or from the workspace's own systems.
 *  @param {import("../types.js").App} app @param {any} value an e-mail address or a phone number of the API @returns {HTMLElement} */
export function reportableValue(app, value) {
  const isOwn = value.sources.some((/** @type {any} */ { kind }) => OWN.includes(kind));
  const isOffered = !isOwn && [null, undefined, "valid"].includes(value.reported);
  const shown = h("div", {}, revealedValue(value));
  if (isOffered) shown.append(reportMenu(app, value, (text, reported) => shown.replaceChildren(revealedValue(reported), h("p", { class: "hint" }, text))));
  return shown;
}

/** @param {import("../types.js").App} app @param {any} value @param {(text: string, reported: any) => void} onReported @returns {HTMLElement} */
function reportMenu(app, value, onReported) {
  const field = value.email ? "email" : "phone";
  const reported = value.email ?? value.e164;
  const key = crypto.randomUUID();
  const buttons = KINDS[field].map((kind) => button(t(`report_${kind}`), () => send(kind)));
  const content = h("div", {}, ...buttons);
  const summary = h("summary", {}, t("report"), h("span", { class: "visually-hidden" }, reported));
  return h("details", { class: "report" }, summary, content);

  /** @param {string} kind */
  async function send(kind) {
    buttons.forEach((element) => (element.disabled = true));
    try {
      const response = await app.client.feedback({ [field]: reported, kind }, { key: `${key}-${kind}`, signal: app.signal });
      const { balance } = response.credits;
      await updateSession(app.session, { credits: { ...app.session.credits, balance } });
      const text = outcome(response, kind);
      onReported(text, { ...value, reported: kind, reported_at: response.feedback.created_at });
      announce(text);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      buttons.forEach((element) => (element.disabled = false));
      const text = error.code === "contact_not_found" ? t("report_not_yours") : errorMessage(error, app.session.origin);
      content.replaceChildren(h("p", {}, text), ...buttons);
      announce(text);
    }
  }
}

/** Return what came of a report. @param {{refunded: number, refund: string}} response @param {string} kind */
function outcome({ refunded, refund }, kind) {
  if (refunded > 0) return t("report_refunded", formatCredits(refunded));
  const reason = kind === "bounce" ? t(`refund_${refund}`) : t("only_bounces_refunded");
  return [t("reported"), reason].join(" ");
}
