// The progress of an unfinished request.

import { errorMessage, providerName, t } from "../texts.js";
import { h } from "./components.js";

/** Show which providers have been searched and what delays the request. Lines are updated in place: screen readers
 *  announce only what has changed in an existing line.
 *  @param {import("../types.js").App} app @param {import("../request_store.js").StoredRequest} request @param {HTMLElement} container */
export function showProgress(app, request, container) {
  const { response, problem } = request;
  const searched = [...new Set((response?.trace ?? []).map((entry) => providerName(entry.provider)))];
  const current = (response?.job.progress.asking ?? []).map(providerName);
  const status = [
    searched.length > 0 && t("searched", searched.join(", ")),
    current.length > 0 ? t("searching_provider", current.join(", ")) : t("searching"),
  ];
  const delay =
    problem &&
    errorMessage({ ...problem, retry_after: secondsUntil(request.retryAt) }, app.session.origin, { isRetrying: true });
  if (container.querySelector(".progress") === null) {
    const spinner = h("span", { class: "spinner", "aria-hidden": "true" });
    const lines = [
      h("p", { class: "loading", role: "status" }, spinner, h("span")),
      h("p", { class: "error", role: "alert" }),
      h("p", { class: "hint" }, t("continues_when_closed")),
    ];
    container.replaceChildren(h("div", { class: "progress" }, ...lines));
  }
  setText(".loading span:last-child", `${status.filter(Boolean).join(" ")}…`);
  setText(".error", delay ? [delay, problem.status === 429 ? "" : t("retrying")].join(" ").trim() : "");

  /** @param {string} selector @param {string} text */
  function setText(selector, text) {
    const line = /** @type {HTMLElement} */ (container.querySelector(`.progress ${selector}`));
    if (line.textContent !== text) line.textContent = text;
  }
}

/** @param {number} time milliseconds since 1970 */
function secondsUntil(time) {
  return Math.max(1, Math.ceil((time - Date.now()) / 1000));
}
