// The company of a website and its contacts, looked up by hash.

import { ApiError } from "../client/api.js";
import { sha256, websiteCandidates } from "../client/normal_forms.js";
import { byHash, byOutput, byPrefix, leadsByHash } from "../company_lookups.js";
import { knownHashes } from "../known_companies.js";
import { loadSettings } from "../storage.js";
import { capitalize, placeText, plural, t, valueText } from "../texts.js";
import { button, cardHeader, emptyState, h, loading, problemAlert } from "./components.js";
import { searchOffer } from "./people_search.js";
import { leadRow } from "./person.js";

/** @typedef {import("../types.js").App} App */
/** @typedef {import("../storage.js").Page} Page */
/** @typedef {import("../client/api.js").Company} Company */
/** @typedef {import("../company_lookups.js").Lookup} Lookup */
/** @typedef {import("../client/api.js").Lead} Lead */

const PAGE_SIZE = 25;

/** @param {Page} page a website, or a company's LinkedIn page */
export function siteView(page) {
  /** What a click has asked for: going back to this view looks it up again. @type {Lookup|null} */
  let asked = null;
  return async (/** @type {App} */ app) => {
    const content = h("div", { class: "stack" });
    const { lookupBy } = await loadSettings();
    const isPrefix = lookupBy === "prefix" && page.kind === "site";
    const hashes = await hashesOf(isPrefix ? { ...page, host: page.host.replace(/^www\./, "") } : page);
    const atOnce = lookupBy === "hash" ? byHash(page, hashes) : asked;
    if (atOnce) {
      await showCompany(app, content, page, atOnce);
      return content;
    }
    const { state, hashes: known, outputs } = await knownHashes(app, hashes);
    const show = (/** @type {Lookup} */ lookup) => showOnClick(app, content, page, (asked = lookup));
    const takesPrefixes = outputs || !app.session.hash_lookup.filter_oprf_key; // those of hashes would list all companies
    const withoutHash = outputs ? byOutput(page, hashes) : byPrefix(known ?? hashes);
    if (known?.length === 0)
      content.append(
        unknownState(page),
        button(t("ask_server"), () => show(byHash(page, hashes))),
        ...(await searchOf(app, page, null)),
      );
    else if (isPrefix && takesPrefixes) await showCompany(app, content, page, withoutHash);
    else content.append(...invitation(page, state, outputs ? withoutHash : byHash(page, known ?? hashes), show));
    return content;
  };
}

/** Return the hashes of the candidate domains, the most specific first, or that of the company page. @param {Page} page */
function hashesOf(page) {
  return Promise.all((page.kind === "company" ? [page.url] : websiteCandidates(page.host)).map(sha256));
}

/** @param {Page} page */
const unknownState = (page) => emptyState(t("site_unknown_title", page.host || page.url), t("site_unknown_text"));

/** Return what is shown before the company is looked up.
 *  @param {Page} page @param {import("../known_companies.js").Known["state"]|"outdated"} state @param {Lookup} lookup
 *  @param {(lookup: Lookup) => void} show */
function invitation(page, state, lookup, show) {
  const text = {
    local: t("site_known_text"),
    blinded: t("site_known_blinded_text"),
    missing: t("site_unchecked_text"),
    outdated: t("site_outdated_text"),
    refused: t("site_refused_text"),
    unproven: t("site_unproven_text"),
  }[state];
  const name = page.host || page.url;
  return [
    h("section", { class: "card company" }, cardHeader(name, true), h("p", {}, text)),
    button(t(lookup.sendsHash ? "show_company" : "show_company_only"), () => show(lookup), { class: "primary" }),
    h("p", { class: "hint" }, t(lookup.sendsHash ? "show_company_hint" : "show_company_only_hint", name)),
  ];
}

/** Show the company that is found, and its people: at once, or with another click if that sends the hash.
 *  @param {App} app @param {HTMLElement} content @param {Page} page @param {Lookup} lookup */
async function showCompany(app, content, page, lookup) {
  content.replaceChildren(loading());
  const company = await lookup.find(app);
  app.company = company ?? (page.host ? { name: null, domain: page.host } : null);
  if (company === undefined && lookup.otherwise) {
    const show = (/** @type {Lookup} */ other) => showOnClick(app, content, page, other);
    return content.replaceChildren(...invitation(page, "outdated", lookup.otherwise, show));
  }
  if (!company) return content.replaceChildren(unknownState(page), ...(await searchOf(app, page, null)));
  const people = h("section", { class: "people" });
  const search = h("div", {}, ...(await searchOf(app, page, company)));
  const hint = () => h("p", { class: "hint" }, t("show_leads_hint", company.domain ?? ""));
  if (lookup.sendsHash) app.loads.push(show());
  else if (company.domain) people.append(button(t("show_leads"), show, { class: "primary" }), hint());
  content.replaceChildren(companyCard(company), people, search);

  /** Show the people, and the search below them once they are there: it would move away from the pointer. */
  async function show() {
    search.hidden = true;
    await showLeads(app, people, /** @type {Company} */ (company)).finally(() => (search.hidden = false));
  }
}

/** Return the search for further people of a company, or of a website whose company is not known.
 *  @param {App} app @param {Page} page @param {Company|null} company */
async function searchOf(app, page, company) {
  const website = page.kind === "site" ? page.host.replace(/^www\./, "") : null;
  const offer = await searchOffer(app, company ?? { name: null, domain: website });
  return offer ? [offer] : [];
}

/** Show the company after a click, or what failed. @param {App} app @param {HTMLElement} content @param {Page} page @param {Lookup} lookup */
async function showOnClick(app, content, page, lookup) {
  try {
    await showCompany(app, content, page, lookup);
    const heading = content.querySelector("h1, h2"); // the pressed button is gone
    if (!(heading instanceof HTMLElement)) return;
    heading.tabIndex = -1;
    heading.focus();
  } catch (error) {
    if (app.signal.aborted) return;
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 401) return app.restart();
    const retry = () => showOnClick(app, content, page, lookup);
    content.replaceChildren(problemAlert(error.problem, app.session.origin, retry));
  }
}

/** @param {Company} company */
function companyCard(company) {
  const location = placeText(company.location);
  const size = company.headcount && t("employees", company.headcount);
  const known =
    company.contacts_count === undefined ? null : t("people_known", plural("people", company.contacts_count));
  const facts = [company.industry, size, location, known]
    .filter(Boolean)
    .map((fact) => fact?.replaceAll(" ", "\u00a0"));
  const pattern = company.email_pattern && t("pattern", `${company.email_pattern.pattern}@${company.domain}`);
  return h(
    "section",
    { class: "card company" },
    cardHeader(company.name ?? company.domain ?? t("unnamed"), true, h("p", { class: "hint" }, company.domain)),
    h("p", {}, facts.join(" · ")),
    pattern && h("p", { class: "hint" }, pattern),
  );
}

/** Show the known people of a company, the most senior first. @param {App} app @param {HTMLElement} container @param {Company} company */
async function showLeads(app, container, company) {
  if (!company.domain) return container.replaceChildren();
  const hash = await sha256(company.domain);
  const list = h("ul", { class: "list" });
  const footer = h("div");
  const departmentSelect = h("select", { "aria-label": t("department"), onchange: () => loadPage(null) });
  let latest = {};
  container.replaceChildren(footer);
  await loadPage(null);

  /** @param {string|null} cursor */
  async function loadPage(cursor) {
    const current = (latest = {}); // a later selection discards this result
    if (cursor === null) list.replaceChildren();
    footer.replaceChildren(loading());
    try {
      const result = await fetchPage(cursor);
      if (current === latest) show(result, cursor);
    } catch (error) {
      if (app.signal.aborted || current !== latest) return;
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 401) return app.restart();
      footer.replaceChildren(problemAlert(error.problem, app.session.origin, () => loadPage(cursor)));
    }
  }

  /** @param {string|null} cursor */
  async function fetchPage(cursor) {
    const department = departmentSelect.value || undefined;
    return leadsByHash(app, { hash, limit: PAGE_SIZE, ...(department && { department }), ...(cursor && { cursor }) });
  }

  /** @param {any} result @param {string|null} cursor */
  function show(result, cursor) {
    if (departmentSelect.options.length === 0) fillDepartments(result);
    const rows = (result?.leads ?? []).map((/** @type {Lead} */ lead) => leadRow(app, lead));
    list.append(...rows);
    footer.replaceChildren(...(result?.next_cursor ? [button(t("more"), () => loadPage(result.next_cursor))] : []));
    if (list.children.length === 0) container.replaceChildren(h("p", { class: "hint" }, t("no_leads")));
    else if (!departmentSelect.isConnected) container.replaceChildren(departmentSelect, list, footer);
    if (cursor !== null) rows[0]?.querySelector("button").focus(); // the pressed button is gone
  }

  /** @param {any} result */
  function fillDepartments(result) {
    departmentSelect.append(h("option", { value: "" }, `${t("departments_all")} (${result?.total ?? 0})`));
    /** @type {[string, number][]} */
    const departments = Object.entries(result?.by_department ?? {});
    departments.sort(([nameA, countA], [nameB, countB]) => countB - countA || nameA.localeCompare(nameB));
    for (const [name, count] of departments) {
      departmentSelect.append(h("option", { value: name }, `${capitalize(valueText("department", name))} (${count})`));
    }
  }
}
