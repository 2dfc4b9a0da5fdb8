// The company of a website and its contacts, looked up by hash.

import { ApiError } from "../client/api.js";
import { sha256, websiteCandidates } from "../client/normal_forms.js";
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
  return async (/** @type {App} */ app) => {
    const byPrefix = page.kind === "site" && (await loadSettings()).lookupBy === "prefix";
    const company = byPrefix ? await companyByPrefix(app, page.host) : await companyByHash(app, page);
    app.company = company ?? (page.host ? { name: null, domain: page.host } : null);
    if (company === null) return emptyState(t("site_unknown_title", page.host || page.url), t("site_unknown_text"));
    const people = h("section", { class: "people" });
    const show = () => showLeads(app, people, company);
    if (byPrefix) {
      people.append(
        button(t("show_leads"), show, { class: "primary" }),
        h("p", { class: "hint" }, t("show_leads_hint", company.domain ?? "")),
      );
    } else {
      show();
    }
    return h("div", {}, companyCard(company), people);
  };
}

/** @param {App} app @param {Page} page @returns {Promise<Company|null>} */
async function companyByHash({ client, signal }, page) {
  const candidates = page.kind === "company" ? [page.url] : websiteCandidates(page.host);
  const hashes = await Promise.all(candidates.map(sha256));
  /** @type {"linkedin"|"website"} */
  const kind = page.kind === "company" ? "linkedin" : "website";
  const response = await client.companyByHash({ kind, hashes }, { wait: 10, signal });
  return (await client.waitForJob(response, signal)).result?.company ?? null;
}

/** Look up each candidate domain of the website in turn by a hash prefix, which many websites share.
 *  @param {App} app @param {string} host @returns {Promise<Company|null>} */
async function companyByPrefix({ client, signal, session }, host) {
  const length = session.hash_lookup.prefix_length;
  const domains = websiteCandidates(host.replace(/^www\./, "")).slice(-MAX_PREFIXES);
  for (const domain of domains) {
    const hash = await sha256(domain);
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
