// The menu that reports a revealed value: a bounce, a wrong number, a wrong person, or that the person has left.

import { ApiError } from "../client/api.js";
import { updateSession } from "../storage.js";
import { errorMessage, formatCredits, t } from "../texts.js";
import { announce, button, h } from "./components.js";

const KINDS = { email: ["bounce", "wrong_person", "has_left"], phone: ["wrong_number", "wrong_person", "has_left"] };

/** Return the menu below a value. @param {import("../types.js").App} app @param {any} value an e-mail address or a phone number of the API
 *  @returns {HTMLElement} */
export function reportMenu(app, value) {
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
      show(outcome(response, kind));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      buttons.forEach((element) => (element.disabled = false));
      const text = error.code === "contact_not_found" ? t("report_not_yours") : errorMessage(error, app.session.origin);
      show(text, ...buttons);
    }
  }

  /** @param {string} text @param {...Node} others */
  function show(text, ...others) {
    content.replaceChildren(h("p", {}, text), ...others);
    announce(text);
  }
}

/** Return what came of a report. @param {{refunded: number, refund: string}} response @param {string} kind */
function outcome({ refunded, refund }, kind) {
  if (refunded > 0) return t("report_refunded", formatCredits(refunded));
  const reason = kind === "bounce" ? t(`refund_${refund}`) : t("only_bounces_refunded");
  return [t("reported"), reason].join(" ");
}
