// The search for further people of a company: the offer below the company, and the list of who is found.

import { deleteRequest, findRequest, isFinished, markSeen, onRequestChange } from "../request_store.js";
import { run, startRequest } from "../requests.js";
import { loadSession, onSessionChange } from "../storage.js";
import { formatCredits, plural, t } from "../texts.js";
import { announce, button, emptyState, h, problemAlert } from "./components.js";
import { icon } from "./icons.js";
import { peopleView } from "./people.js";
import { showProgress } from "./progress.js";
import { purposeChoice } from "./purpose.js";

/** @typedef {import("../types.js").App} App */
/** @typedef {import("../types.js").View} View */
/** @typedef {import("../types.js").CompanyHint} CompanyHint */
/** @typedef {import("../request_store.js").StoredRequest} StoredRequest */
/** @typedef {{contact_id: string, full_name: string|null, title: string|null, linkedin_url: string|null}} SearchedPerson */

const USUAL_PEOPLE = 25;
const MAX_PEOPLE = 100; // of a search

/** Return the form that searches for people of the company; null if no provider can, or the account may not.
 *  Nothing is sent before it is submitted. @param {App} app @param {CompanyHint} company */
export async function searchOffer(app, company) {
  const { people_search: isPossible, auth, prices } = app.session;
  const { domain } = company;
  if (!isPossible || !domain || !auth.scopes.includes("enrich")) return null;
  const name = nameOf(domain);
  const price = prices.people_search ?? 1;
  const title = h("input", { id: "search-titles", maxlength: 300, autocomplete: "off" });
  const cap = h("input", {
    id: "search-cap",
    type: "number",
    min: 0,
    step: 1,
    inputmode: "numeric",
    oninput: showPrice,
  });
  const submit = h("button", { type: "submit", class: "primary" });
  const purpose = purposeChoice(app, "search");
  let balance = app.session.credits.balance ?? Infinity; // null for accounts that may not see costs
  cap.value = String(Math.min(USUAL_PEOPLE * price, balance));
  loadSession().then((session) => session && showBalance(session)); // it may have changed since the view was opened
  onSessionChange(showBalance, app.signal);
  showPrice();
  const latest = await findRequest([name]);
  const openLatest = () => app.open(searchView(name));
  return h(
    "details",
    { class: "card" },
    h("summary", {}, icon("search"), t("search_more")),
    h(
      "form",
      { onsubmit: search },
      h("div", { class: "field" }, h("label", { for: "search-titles" }, t("search_titles")), title),
      h("div", { class: "field cap" }, h("label", { for: "search-cap" }, t("cap")), cap),
      purpose.element,
      h("p", { class: "hint" }, t("search_sends", domain)),
      submit,
      latest && button(t("search_latest"), openLatest, { class: "secondary" }),
    ),
  );

  /** @param {import("../storage.js").StoredSession} session */
  function showBalance(session) {
    balance = session.credits.balance ?? Infinity;
    showPrice();
  }

  /** The most that the search may cost: of whole people, and never more than there is. */
  function most() {
    const allowed = Math.min(Math.floor(Number(cap.value)) || 0, balance, MAX_PEOPLE * price);
    return Math.max(0, price > 0 ? Math.floor(allowed / price) * price : allowed);
  }

  function showPrice() {
    submit.textContent = t("search_submit", formatCredits(most()));
    submit.disabled = price > 0 && most() === 0;
  }

  /** @param {Event} event */
  async function search(event) {
    event.preventDefault();
    submit.disabled = true; // before the first await, so that a double click submits once
    const titles = title.value.split(",").flatMap((/** @type {string} */ text) => text.trim() || []);
    const limit = price > 0 ? most() / price : USUAL_PEOPLE;
    const body = { company_domain: domain, ...(titles.length > 0 && { titles: titles.slice(0, 10) }), limit };
    await start({ ...body, max_credits: most(), ...purpose.stated() }, company.name ?? domain ?? "");
    await openLatest();
  }
}

/** @param {string} domain */
const nameOf = (domain) => `people_search ${domain}`;

/** @param {any} body @param {string} company */
async function start(body, company) {
  const about = { subject: null, label: t("people_at", company), people: [] };
  run(await startRequest(nameOf(body.company_domain), "peopleSearch", body, about));
}

/** Return the view of the latest search of this name: the stored people at once, and others as soon as they are found.
 *  @param {string} name @returns {View} */
export function searchView(name) {
  return async (app) => {
    app.shownRequests.add(name);
    const heading = h("h1", {});
    const status = h("div", { class: "stack" });
    const list = h("div", { class: "stack" });
    let shown = "";
    let finished = ""; // the key of the request whose result is shown
    let controller = new AbortController(); // of the list that is shown
    onRequestChange([name], show, app.signal);
    const stored = await findRequest([name]);
    if (stored === undefined) return emptyState(t("search_more"), t("search_gone"), "people");
    await show(stored);
    if (!isFinished(stored)) run(stored);
    return h("section", { class: "people-search" }, heading, status, list);

    /** @param {StoredRequest} request */
    async function show(request) {
      heading.textContent = request.person.label;
      if (!isFinished(request)) showProgress(app, request, status);
      else if (request.key !== finished) {
        finished = request.key; // a button that is replaced while it is pressed gets no click
        status.replaceChildren(...resultOf(app, request, more));
        markSeen(request);
      }
      await showPeople(request);

      async function more() {
        const page = request.response?.result.next_page;
        const company = request.response?.result.company;
        await start({ ...request.body, page }, company?.name ?? request.body.company_domain);
        await app.open(searchView(name));
      }
    }

    /** Show the people if they are others than before. @param {StoredRequest} request */
    async function showPeople({ response, person }) {
      const people = peopleIn(response);
      const keys = people.map(({ contact_id: id }) => id).join();
      if (keys === shown) return;
      shown = keys;
      controller.abort();
      controller = new AbortController();
      const signal = AbortSignal.any([app.signal, controller.signal]);
      const view = peopleView({ people, left_out: 0 }, { title: t("people_listed", plural("people", people.length)) });
      const node = await view({ ...app, signal });
      if (!signal.aborted) list.replaceChildren(node);
    }
  };
}

/** Return the people of a search, those just found first. @param {import("../client/api.js").JobResponse|null} response
 *  @returns {import("../page_people.js").PersonOnPage[]} */
function peopleIn(response) {
  const { people = [], stored = [] } = response?.result ?? {};
  return [...people, ...stored].map((/** @type {SearchedPerson} */ { contact_id, full_name, title }) => ({
    contact_id,
    ...(full_name && { full_name }),
    ...(title && { title }),
  }));
}

/** @param {App} app @param {StoredRequest} request @param {() => void} more @returns {Node[]} */
function resultOf(app, request, more) {
  const { response, problem } = request;
  const failure = response?.job.error ?? (response ? null : (problem ?? { code: "provider_failed", status: 0 }));
  if (failure) return [problemAlert(failure, app.session.origin, again)];
  const { people, stored, next_page: next } = response?.result ?? { people: [], stored: [] };
  if (people.length + stored.length === 0 && !next) {
    announce(t("search_nobody"));
    return [emptyState(t("search_nobody"), t("search_nobody_text"), "people")];
  }
  const charged = response?.credits.charged ?? null; // null for accounts that may not see costs
  const counts = [people.length, stored.length];
  const text =
    charged === null ? t("search_found_of", ...counts) : t("search_found", ...counts, formatCredits(charged));
  announce(text);
  const href = `${app.session.origin}/people-searches/${encodeURIComponent(response?.job.id ?? "")}`;
  const receipt = h("a", { href, target: "_blank", rel: "noreferrer" }, t("receipt"));
  const further = next && button(t("search_again", formatCredits(request.body.max_credits)), more);
  return [
    h("div", { class: "bar" }, h("p", { class: people.length > 0 ? "success" : "hint" }, text), receipt, further),
  ];

  async function again() {
    await deleteRequest(request);
    await start(request.body, request.body.company_domain);
    await app.open(searchView(request.name));
  }
}
