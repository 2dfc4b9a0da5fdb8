// Search for a person: by profile URL, by e-mail address, by name and company, or by a name alone among the people of
// the company on the page.

import { normalizeEmail, normalizeProfileUrl, parseHost, sha256, websiteCandidates } from "../client/normal_forms.js";
import { leadsByHash } from "../company_lookups.js";
import { slugOf, t } from "../texts.js";
import { emptyState, h } from "./components.js";
import { icon } from "./icons.js";
import { personChoice, personView } from "./person.js";

/** @typedef {import("../types.js").App} App */
/** @typedef {import("../types.js").CompanyHint} CompanyHint */
/** @typedef {import("../types.js").View} View */
/** @typedef {import("../client/api.js").Subject} Subject */
/** @typedef {import("../client/api.js").Lead} Lead */

const PAGE_SIZE = 100;
const MAX_PAGES = 5;
const NAME = /^[\p{L}\p{M}][\p{L}\p{M}'’. -]*$/u;

/** @param {App} app */
export function searchForm(app) {
  const error = h("p", { class: "error", id: "search-error", role: "alert" });
  const input = h("input", {
    type: "search",
    id: "search",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: t("search_hint"),
    "aria-label": t("search"),
    "aria-describedby": "search-error",
  });
  const submitButton = h(
    "button",
    { type: "submit", class: "icon-button", "aria-label": t("find"), title: t("find") },
    icon("search"),
  );
  return h("form", { class: "search", role: "search", novalidate: true, onsubmit: submit }, input, submitButton, error);

  /** @param {Event} event */
  function submit(event) {
    event.preventDefault();
    const view = viewOf(input.value, app.company);
    input.setAttribute("aria-invalid", String(view === null));
    error.textContent = view === null ? t("invalid_search") : "";
    if (view) app.open(view);
    else input.focus();
  }
}

/** @param {string} text @param {CompanyHint|null} company @returns {View|null} */
function viewOf(text, company) {
  const subject = subjectOf(text);
  if (subject) return personView(subject);
  const name = text.trim();
  return company && NAME.test(name) ? colleagueView(name, company) : null;
}

/** @param {string} text @returns {Subject|null} */
function subjectOf(text) {
  const profile = normalizeProfileUrl(text);
  if (profile) return { linkedin_url: profile };
  const email = normalizeEmail(text);
  if (email) return { email };
  const comma = text.indexOf(",");
  const name = text.slice(0, Math.max(comma, 0)).trim();
  const company = text.slice(comma + 1).trim();
  if (name === "" || company === "") return null;
  const host = /\s/.test(company) ? null : parseHost(company);
  return { full_name: name, ...(host ? { company_domain: host } : { company_name: company }) };
}

/** Return a view of the company's listed people of that name; if there are none, a lookup of the name at the company.
 *  @param {string} name @param {CompanyHint} company @returns {View} */
function colleagueView(name, company) {
  return async (app) => {
    const found = await listedPeople(app, name, company.domain);
    if (found.length === 1) return personView({ contact_id: found[0].contact_id })(app);
    if (found.length > 1) return personChoice(app, found);
    const companyText = company.domain ?? company.name ?? "";
    if (!name.includes(" ")) return emptyState(t("search_none_title", name, companyText), t("search_none_text"));
    const companyField = company.domain ? { company_domain: company.domain } : { company_name: companyText };
    return personView({ full_name: name, ...companyField })(app);
  };
}

/** Return the listed people of a company whose names contain a word that starts with each word of the search.
 *  @param {App} app @param {string} name @param {string|null} domain @returns {Promise<Lead[]>} */
async function listedPeople(app, name, domain) {
  const words = wordsOf(name);
  const hashes = await Promise.all(websiteCandidates(domain ?? "").map(sha256));
  const found = [];
  let cursor = null;
  for (let page = 0; page < MAX_PAGES && hashes.length > 0; page += 1) {
    const result = await leadsByHash(app, { hashes, limit: PAGE_SIZE, ...(cursor && { cursor }) });
    found.push(...(result?.leads ?? []));
    cursor = result?.next_cursor ?? null;
    if (cursor === null) break;
  }
  return found.filter((lead) => {
    const leadWords = wordsOf(lead.full_name ?? slugOf(lead.linkedin_url) ?? "");
    return words.every((word) => leadWords.some((leadWord) => leadWord.startsWith(word)));
  });
}

/** @param {string} name @returns {string[]} its words in lower case without accents */
function wordsOf(name) {
  const plain = name.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  return plain.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
}
