// What company stands behind a website, and who is known of it; asked by hash.

import { ApiError } from "../client/api.js";
import { sha256, websiteCandidates } from "../client/forms.js";
import { settings } from "../store.js";
import { capital, counted, named, slugOf, t } from "../texts.js";
import { busy, button, empty, h, head, marksOf, row, stopped } from "./parts.js";
import { personView } from "./person.js";

/** @typedef {import("../panel.js").App} App */
/** @typedef {import("../store.js").Page} Page */
/** @typedef {import("../client/api.js").Company} Company */
/** @typedef {import("../client/api.js").Lead} Lead */

const LEADS_AT_ONCE = 25;
const MOST_PREFIXES = 3;

/** @param {Page} page a website, or a company's page of the professional network */
export function siteView(page) {
  return async (/** @type {App} */ app) => {
    const byPrefix = page.kind === "site" && (await settings()).ask === "prefix";
    const company = byPrefix ? await companyByPrefix(app, page.host) : await companyByHash(app, page);
    app.company = company ?? (page.host ? { name: null, domain: page.host } : null);
    if (company === null) return empty(t("site_unknown_title", page.host || page.url), t("site_unknown_text"));
    const people = h("section", { class: "people" });
    const show = () => leads(app, people, company);
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
  const forms = page.kind === "company" ? [page.url] : websiteCandidates(page.host);
  const hashes = await Promise.all(forms.map(sha256));
  /** @type {"linkedin"|"website"} */
  const kind = page.kind === "company" ? "linkedin" : "website";
  const answer = await client.over(await client.companyByHash({ kind, hashes }, { wait: 10, signal }), signal);
  return answer.result?.company ?? null;
}

/** Ask for each domain that the site may go by, in turn: all that leaves are a few digits that many sites share.
 *  @param {App} app @param {string} host @returns {Promise<Company|null>} */
async function companyByPrefix({ client, signal, session }, host) {
  const length = session.hash_lookup.prefix_length;
  const domains = websiteCandidates(host.replace(/^www\./, "")).slice(-MOST_PREFIXES);
  for (const domain of domains) {
    const hash = await sha256(domain);
    const asked = await client.companyByHash({ prefix: hash.slice(0, length) }, { wait: 10, signal });
    const { result } = await client.over(asked, signal);
    const match = result?.matches.find((/** @type {any} */ one) => one.suffix === hash.slice(length) && one.company);
    if (match) return match.company;
  }
  return null;
}

/** @param {Company} company */
export function companyCard(company) {
  const place = [company.location?.city, company.location?.country].filter(Boolean).join(", ");
  const size = company.headcount && t("employees", company.headcount);
  const known =
    company.contacts_count === undefined ? null : t("people_known", counted("people", company.contacts_count));
  const facts = [company.industry, size, place, known].filter(Boolean).map((fact) => fact?.replaceAll(" ", "\u00a0"));
  const pattern = company.email_pattern && t("pattern", `${company.email_pattern.pattern}@${company.domain}`);
  return h(
    "section",
    { class: "card company" },
    head(company.name ?? company.domain ?? t("unnamed"), true, h("p", { class: "hint" }, company.domain)),
    h("p", {}, facts.join(" · ")),
    pattern && h("p", { class: "hint" }, pattern),
  );
}

/** List the people known of a company, the most senior first. @param {App} app @param {HTMLElement} place @param {Company} company */
async function leads(app, place, company) {
  if (!company.domain) return place.replaceChildren();
  const hash = await sha256(company.domain);
  const list = h("ul", { class: "list" });
  const more = h("div");
  const chooser = h("select", { "aria-label": t("department"), onchange: () => page(null) });
  let latest = {};
  place.replaceChildren(more);
  await page(null);

  /** @param {string|null} cursor */
  async function page(cursor) {
    const mine = (latest = {}); // another choice meanwhile makes this one void
    if (cursor === null) list.replaceChildren();
    more.replaceChildren(busy());
    try {
      const result = await ask(cursor);
      if (mine === latest) show(result, cursor);
    } catch (error) {
      if (app.signal.aborted || mine !== latest) return;
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 401) return app.restart();
      more.replaceChildren(stopped(error.problem, app.session.origin, () => page(cursor)));
    }
  }

  /** @param {string|null} cursor */
  async function ask(cursor) {
    const department = chooser.value || undefined;
    const { client, signal } = app;
    const asked = await client.leadsByWebsiteHash(
      { hash, limit: LEADS_AT_ONCE, ...(department && { department }), ...(cursor && { cursor }) },
      { wait: 10, signal },
    );
    return (await client.over(asked, signal)).result;
  }

  /** @param {any} result @param {string|null} cursor */
  function show(result, cursor) {
    if (chooser.options.length === 0) fill(result);
    const rows = (result?.leads ?? []).map((/** @type {Lead} */ lead) => leadRow(app, lead));
    list.append(...rows);
    more.replaceChildren(...(result?.next_cursor ? [button(t("more"), () => page(result.next_cursor))] : []));
    if (list.children.length === 0) place.replaceChildren(h("p", { class: "hint" }, t("no_leads")));
    else if (!chooser.isConnected) place.replaceChildren(chooser, list, more);
    if (cursor !== null) rows[0]?.querySelector("button").focus(); // where the pressed button was
  }

  /** @param {any} result */
  function fill(result) {
    chooser.append(h("option", { value: "" }, `${t("departments_all")} (${result?.total ?? 0})`));
    /** @type {[string, number][]} */
    const departments = Object.entries(result?.by_department ?? {});
    for (const [name, count] of departments.sort(
      ([one, few], [other, many]) => many - few || one.localeCompare(other),
    )) {
      chooser.append(h("option", { value: name }, `${capital(named("department", name))} (${count})`));
    }
  }
}

/** @param {App} app @param {Lead} lead */
function leadRow(app, lead) {
  return row({
    name: lead.full_name ?? slugOf(lead.linkedin_url) ?? t("unnamed"),
    second: lead.title ?? "",
    open: () => app.open(personView({ contact_id: lead.contact_id })),
    marks: marksOf(lead.available, lead.saved !== null),
  });
}
