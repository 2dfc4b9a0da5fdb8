// The company of a website and its contacts, looked up by hash.

import { ApiError } from "../client/api.js";
import { sha256, websiteCandidates } from "../client/normal_forms.js";
import { knownHashes } from "../known_companies.js";
import { loadSettings } from "../storage.js";
import { capitalize, plural, slugOf, t, valueText } from "../texts.js";
import { button, cardHeader, contactIcons, emptyState, h, listRow, loading, problemAlert } from "./components.js";
import { personView } from "./person.js";

/** @typedef {import("../types.js").App} App */
/** @typedef {import("../storage.js").Page} Page */
/** @typedef {import("../client/api.js").Company} Company */
/** @typedef {import("../client/api.js").Lead} Lead */

const PAGE_SIZE = 25;
const MAX_PREFIXES = 3;

/** @param {Page} page a website, or a company's LinkedIn page */
export function siteView(page) {
  /** The hashes that a click has sent: going back to this view looks them up again. @type {string[]|null} */
  let asked = null;
  return async (/** @type {App} */ app) => {
    const content = h("div", { class: "stack" });
    const { lookupBy } = await loadSettings();
    const takesPrefixes = !app.session.hash_lookup.filter_oprf_key; // all prefixes together would list the companies
    const isPrefix = lookupBy === "prefix" && page.kind === "site" && takesPrefixes;
    const hashes = await hashesOf(isPrefix ? { ...page, host: page.host.replace(/^www\./, "") } : page);
    const sent = lookupBy === "hash" ? hashes : asked;
    const checked = sent ? null : await knownHashes(app, hashes);
    const known = checked?.hashes;
    const lookUp = (/** @type {string[]} */ chosen) => showOnClick(app, content, page, (asked = chosen));
    if (sent) await showCompany(app, content, page, () => companyByHash(app, page, sent));
    else if (known?.length === 0)
      content.append(
        unknownState(page),
        button(t("ask_server"), () => lookUp(hashes)),
      );
    else if (isPrefix) await showCompany(app, content, page, () => companyByPrefix(app, known ?? hashes), true);
    else content.append(...invitation(page, checked?.state ?? "missing", () => lookUp(known ?? hashes)));
    return content;
  };
}

/** Return the hashes of the candidate domains, the most specific first, or that of the company page. @param {Page} page */
function hashesOf(page) {
  return Promise.all((page.kind === "company" ? [page.url] : websiteCandidates(page.host)).map(sha256));
}

/** @param {Page} page */
const unknownState = (page) => emptyState(t("site_unknown_title", page.host || page.url), t("site_unknown_text"));

/** Return what is shown before anything has been sent.
 *  @param {Page} page @param {import("../known_companies.js").Known["state"]} state @param {() => void} lookUp */
function invitation(page, state, lookUp) {
  const text = {
    local: t("site_known_text"),
    blinded: t("site_known_blinded_text"),
    missing: t("site_unchecked_text"),
    refused: t("site_refused_text"),
    unproven: t("site_unproven_text"),
  }[state];
  return [
    h("section", { class: "card company" }, cardHeader(page.host || page.url, true), h("p", {}, text)),
    button(t("show_company"), lookUp, { class: "primary" }),
    h("p", { class: "hint" }, t("show_company_hint", page.host || page.url)),
  ];
}

/** Show the company that the function finds, and its people, at once or with another click.
 *  @param {App} app @param {HTMLElement} content @param {Page} page @param {() => Promise<Company|null>} find */
async function showCompany(app, content, page, find, peopleOnClick = false) {
  content.replaceChildren(loading());
  const company = await find();
  app.company = company ?? (page.host ? { name: null, domain: page.host } : null);
  if (company === null) return content.replaceChildren(unknownState(page));
  const people = h("section", { class: "people" });
  const show = () => showLeads(app, people, company);
  const hint = () => h("p", { class: "hint" }, t("show_leads_hint", company.domain ?? ""));
  if (peopleOnClick) people.append(button(t("show_leads"), show, { class: "primary" }), hint());
  else show();
  content.replaceChildren(companyCard(company), people);
}

/** Show the company after a click, or what failed. @param {App} app @param {HTMLElement} content @param {Page} page @param {string[]} hashes */
async function showOnClick(app, content, page, hashes) {
  try {
    await showCompany(app, content, page, () => companyByHash(app, page, hashes));
    const heading = content.querySelector("h1, h2"); // the pressed button is gone
    if (!(heading instanceof HTMLElement)) return;
    heading.tabIndex = -1;
    heading.focus();
  } catch (error) {
    if (app.signal.aborted) return;
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 401) return app.restart();
    const retry = () => showOnClick(app, content, page, hashes);
    content.replaceChildren(problemAlert(error.problem, app.session.origin, retry));
  }
}

/** @param {App} app @param {Page} page @param {string[]} hashes @returns {Promise<Company|null>} */
async function companyByHash({ client, signal }, page, hashes) {
  /** @type {"linkedin"|"website"} */
  const kind = page.kind === "company" ? "linkedin" : "website";
  const response = await client.companyByHash({ kind, hashes }, { wait: 10, signal });
  return (await client.waitForJob(response, signal)).result?.company ?? null;
}

/** Look up each hash of a website in turn by a prefix, which many websites share.
 *  @param {App} app @param {string[]} hashes @returns {Promise<Company|null>} */
async function companyByPrefix({ client, signal, session }, hashes) {
  const length = session.hash_lookup.prefix_length;
  for (const hash of hashes.slice(-MAX_PREFIXES)) {
    const response = await client.companyByHash({ prefix: hash.slice(0, length) }, { wait: 10, signal });
    const { result } = await client.waitForJob(response, signal);
    /** @type {{suffix: string, company: Company|null}[]} */
    const matches = result?.matches ?? [];
    const match = matches.find(({ suffix, company }) => suffix === hash.slice(length) && company);
    if (match) return match.company;
  }
  return null;
}

/** @param {Company} company */
function companyCard(company) {
  const location = [company.location?.city, company.location?.country].filter(Boolean).join(", ");
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
    const { client, signal } = app;
    const response = await client.leadsByWebsiteHash(
      { hash, limit: PAGE_SIZE, ...(department && { department }), ...(cursor && { cursor }) },
      { wait: 10, signal },
    );
    return (await client.waitForJob(response, signal)).result;
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

/** @param {App} app @param {Lead} lead */
function leadRow(app, lead) {
  return listRow({
    name: lead.full_name ?? slugOf(lead.linkedin_url) ?? t("unnamed"),
    details: lead.title ?? "",
    open: () => app.open(personView({ contact_id: lead.contact_id })),
    icons: contactIcons(lead.available, lead.saved !== null),
  });
}
