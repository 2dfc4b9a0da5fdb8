// Finding a person whose page is not open: by profile address, by e-mail, by name and company, or by a name alone
// among the people of the company that is shown.

import { emailAddress, profileUrl, publicHost, sha256, websiteCandidates } from "../client/forms.js";
import { slugOf, t } from "../texts.js";
import { empty, h, icon, marksOf } from "./parts.js";
import { choice, personView } from "./person.js";

/** @typedef {import("../panel.js").App} App */
/** @typedef {import("../panel.js").Employer} Employer */
/** @typedef {import("../client/api.js").Subject} Subject */
/** @typedef {import("../client/api.js").Lead} Lead */

const LEADS_AT_ONCE = 100;
const MOST_PAGES = 5;
const NAME = /^[\p{L}\p{M}][\p{L}\p{M}'’. -]*$/u;

/** @param {App} app */
export function searchForm(app) {
  const wrong = h("p", { class: "wrong", id: "search-wrong", role: "alert" });
  const input = h("input", {
    type: "search",
    id: "search",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: t("search_hint"),
    "aria-label": t("search"),
    "aria-describedby": "search-wrong",
  });
  const find = h(
    "button",
    { type: "submit", class: "icon-button", "aria-label": t("find"), title: t("find") },
    icon("search"),
  );
  return h("form", { class: "search", role: "search", novalidate: true, onsubmit: submit }, input, find, wrong);

  /** @param {Event} event */
  function submit(event) {
    event.preventDefault();
    const view = viewOf(input.value, app.company);
    input.setAttribute("aria-invalid", String(view === null));
    wrong.textContent = view === null ? t("search_wrong") : "";
    if (view) app.open(view);
    else input.focus();
  }
}

/** @param {string} text @param {Employer|null} company */
function viewOf(text, company) {
  const subject = subjectOf(text);
  if (subject) return personView(subject);
  const name = text.trim();
  return company && NAME.test(name) ? colleagueView(name, company) : null;
}

/** @param {string} text @returns {Subject|null} */
export function subjectOf(text) {
  const profile = profileUrl(text);
  if (profile) return { linkedin_url: profile };
  const email = emailAddress(text);
  if (email) return { email };
  const at = text.indexOf(",");
  const name = text.slice(0, Math.max(at, 0)).trim();
  const company = text.slice(at + 1).trim();
  if (name === "" || company === "") return null;
  const host = /\s/.test(company) ? null : publicHost(company);
  return { full_name: name, ...(host ? { company_domain: host } : { company_name: company }) };
}

/** Show whoever of the company is listed under that name, or else the person of that name.
 *  @param {string} name @param {Employer} company @returns {import("../panel.js").View} */
function colleagueView(name, company) {
  return async (app) => {
    const found = await listed(app, name, company.domain);
    if (found.length === 1) return personView({ contact_id: found[0].contact_id })(app);
    if (found.length > 1) return choice(app, found.map(entry));
    const where = company.domain ?? company.name ?? "";
    if (!name.includes(" ")) return empty(t("search_none_title", name, where), t("search_none_text"));
    const at = company.domain ? { company_domain: company.domain } : { company_name: where };
    return personView({ full_name: name, ...at })(app);
  };
}

/** Give the listed people of a company in whose names all the words begin a word.
 *  @param {App} app @param {string} name @param {string|null} domain @returns {Promise<Lead[]>} */
async function listed({ client, signal }, name, domain) {
  const words = wordsOf(name);
  const hashes = await Promise.all(websiteCandidates(domain ?? "").map(sha256));
  const found = [];
  let cursor = null;
  for (let page = 0; page < MOST_PAGES && hashes.length > 0; page += 1) {
    const body = { hashes, limit: LEADS_AT_ONCE, ...(cursor && { cursor }) };
    const { result } = await client.over(await client.leadsByWebsiteHash(body, { wait: 10, signal }), signal);
    found.push(...(result?.leads ?? []));
    cursor = result?.next_cursor ?? null;
    if (cursor === null) break;
  }
  return found.filter((lead) => {
    const theirs = wordsOf(lead.full_name ?? slugOf(lead.linkedin_url) ?? "");
    return words.every((word) => theirs.some((one) => one.startsWith(word)));
  });
}

/** @param {string} name @returns {string[]} its words, without case and accents */
function wordsOf(name) {
  const plain = name.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  return plain.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
}

/** @param {Lead} lead */
function entry(lead) {
  return {
    id: lead.contact_id,
    name: lead.full_name ?? slugOf(lead.linkedin_url) ?? t("unnamed"),
    second: lead.title ?? "",
    marks: marksOf(lead.available, lead.saved !== null),
  };
}
