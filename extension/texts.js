// Formats the texts of _locales: no other module contains words that a user reads.

/** @typedef {import("./client/api.js").Problem} Problem */

/** The language of the texts, with the user's region if it has one: `de-AT`. Where Chrome's language has no texts, it is
 *  that of the texts that are shown instead, so that a date fits the sentence around it. */
export const LANGUAGE = languageOf(chrome.i18n.getMessage("language"), chrome.i18n.getUILanguage());

const plurals = new Intl.PluralRules(LANGUAGE);
const dates = new Intl.DateTimeFormat(LANGUAGE, { dateStyle: "medium" });
const dateTimes = new Intl.DateTimeFormat(LANGUAGE, { dateStyle: "medium", timeStyle: "short" });
const days = new Intl.DateTimeFormat(LANGUAGE, { day: "numeric", month: "long", timeZone: "UTC" });
const times = new Intl.DateTimeFormat(LANGUAGE, { timeStyle: "short" });
const numbers = new Intl.NumberFormat(LANGUAGE, { maximumFractionDigits: 1 });
const countries = new Intl.DisplayNames(LANGUAGE, { type: "region" });
const SIGNED_OUT = ["missing_token", "invalid_token"];
const LIMITED = ["rate_limited", "too_many_attempts"];

/** Return a text with its placeholders filled in. @param {string} key @param {...(string|number)} values */
export function t(key, ...values) {
  return chrome.i18n.getMessage(key, values.map(String));
}

/** Return the text for a number, in the plural form of the language; `_other` if it has none of its own.
 *  @param {string} key @param {number} count */
export function plural(key, count) {
  const number = numbers.format(count);
  return t(`${key}_${plurals.select(count)}`, number) || t(`${key}_other`, number);
}

/** @param {number} count */
export const formatCredits = (count) => plural("credits", count);

/** @param {string} time RFC 3339 */
export const formatDate = (time) => dates.format(new Date(time));

/** Return what is granted next, and when; null if nothing is, or the server's answer is from before it.
 *  @param {import("./client/api.js").NextGrant|null|undefined} grant */
export function grantText(grant) {
  if (!grant || Date.parse(grant.at) < Date.now()) return null;
  return t("grant_on", formatCredits(grant.credits), dayInWords(grant.at));
}

/** Return why something cannot be paid, and when the next credits come.
 *  @param {number} price @param {number} balance @param {import("./client/api.js").NextGrant|null|undefined} grant */
export function noCredits(price, balance, grant) {
  const next = grantText(grant);
  const sentence = t("no_credits", formatCredits(price), formatCredits(balance));
  return next === null ? sentence : `${sentence} ${t("next_credits", next)}`;
}

/** Return a day as a sentence has it; the first of a month in French is an ordinal. @param {string} time RFC 3339 */
const dayInWords = (time) =>
  days.format(new Date(time)).replace(/^1(?= )/u, LANGUAGE.startsWith("fr") ? "1er" : "1");

/** @param {string} time RFC 3339 */
export const formatDateTime = (time) => dateTimes.format(new Date(time));

/** @param {string} time RFC 3339 */
export const formatTime = (time) => times.format(new Date(time));

/** Return a place as the server's pages write it: the town, and the country by its name.
 *  @param {import("./client/api.js").Location|undefined} location */
export function placeText({ city, country } = {}) {
  const name = country && /^[A-Z]{2}$/.test(country) ? countries.of(country) : country;
  return [city, name].filter(Boolean).join(", ");
}

/** @param {number} milliseconds */
export const formatSeconds = (milliseconds) => t("seconds", numbers.format(milliseconds / 1000));

/** @param {string} text */
export const capitalize = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Return the display name of a provider. @param {string} name */
export const providerName = (name) => capitalize(name);

/** Return the text for an enum value; a value that this version does not know is shown as it is.
 *  @param {string} prefix @param {string} value */
export const valueText = (prefix, value) => t(`${prefix}_${value}`) || value.replaceAll("_", " ");

/** Return the slug of a profile URL, to show for a person without a name. @param {string|null|undefined} url */
export const slugOf = (url) => url?.split("/in/")[1];

/** Return the host of the server's URL. @param {string} server */
export const hostOf = (server) => (URL.canParse(server) ? new URL(server).host : server);

/**
 * Return one sentence that says what failed and what to do.
 * @param {Problem} problem @param {string} server its URL
 * @param {{isRetrying?: boolean}} [options] `isRetrying`: the extension repeats the request by itself
 */
export function errorMessage(problem, server, { isRetrying = false } = {}) {
  const { code } = problem;
  if (LIMITED.includes(code)) return t(isRetrying ? "error_limited" : "error_limited_retry", problem.retry_after ?? 1);
  if (code === "unavailable" && !isRetrying) return t("error_unavailable_retry");
  if (SIGNED_OUT.includes(code)) return t("error_signed_out");
  if (code === "insufficient_credits" && problem.balance !== undefined && problem.balance !== null)
    return noCredits(problem.required ?? 1, problem.balance, problem.next_grant);
  if (code === "provider_failed") return t("failed");
  if (code === "job_expired") return t("expired");
  return t(`error_${code}`, hostOf(server)) || t("error_other", problem.detail ?? problem.title ?? code);
}

/** @param {string} ofTexts @param {string} ofChrome */
function languageOf(ofTexts, ofChrome) {
  return ofChrome === ofTexts || ofChrome.startsWith(`${ofTexts}-`) ? ofChrome : ofTexts;
}
