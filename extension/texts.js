// Every word a person reads comes from _locales; here is how it is put together.

/** @typedef {import("./client/api.js").Problem} Problem */

const plurals = new Intl.PluralRules(chrome.i18n.getUILanguage());
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const moments = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const times = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const numbers = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const SIGNED_OUT = ["missing_token", "invalid_token"];
const LIMITED = ["rate_limited", "too_many_attempts"];

/** Give a text. @param {string} key @param {...(string|number)} values */
export function t(key, ...values) {
  return chrome.i18n.getMessage(key, values.map(String));
}

/** Give a text that depends on a number. @param {string} key @param {number} count */
export function counted(key, count) {
  const form = plurals.select(count) === "one" ? "one" : "other";
  return t(`${key}_${form}`, numbers.format(count));
}

/** @param {number} count */
export const credits = (count) => counted("credits", count);

/** @param {string} time RFC 3339 */
export const day = (time) => dates.format(new Date(time));

/** @param {string} time RFC 3339 */
export const moment = (time) => moments.format(new Date(time));

/** @param {string} time RFC 3339 */
export const clockTime = (time) => times.format(new Date(time));

/** @param {number} milliseconds */
export const seconds = (milliseconds) => t("seconds", numbers.format(milliseconds / 1000));

/** @param {string} text */
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Give a provider's name as people write it. @param {string} name */
export const provider = (name) => capital(name);

/** Give the text for a value that may be newer than this extension. @param {string} prefix @param {string} value */
export const named = (prefix, value) => t(`${prefix}_${value}`) || value.replaceAll("_", " ");

/** Give the name in a profile's address, for somebody who has no other. @param {string|null|undefined} url */
export const slugOf = (url) => url?.split("/in/")[1];

/** Give the host of the server's address. @param {string} server */
export const hostOf = (server) => (URL.canParse(server) ? new URL(server).host : server);

/**
 * Say in one sentence what went wrong and what to do.
 * @param {Problem} problem @param {string} server its address
 * @param {{goesOn?: boolean}} [how] `goesOn`: it is tried again by itself
 */
export function sentence(problem, server, { goesOn = false } = {}) {
  const { code } = problem;
  if (LIMITED.includes(code)) return t(goesOn ? "error_limited" : "error_limited_retry", problem.retry_after ?? 1);
  if (code === "unavailable" && !goesOn) return t("error_unavailable_retry");
  if (SIGNED_OUT.includes(code)) return t("error_signed_out");
  if (code === "insufficient_credits") {
    const left = t("credits_left", credits(problem.balance ?? 0));
    return t("error_insufficient_credits", credits(problem.required ?? 1), left);
  }
  if (code === "provider_failed" || code === "worker_lost") return t("failed");
  if (code === "job_expired") return t("expired");
  return t(`error_${code}`, hostOf(server)) || t("error_other", problem.detail ?? problem.title ?? code);
}
