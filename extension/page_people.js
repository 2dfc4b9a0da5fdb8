// The people on the page that the user clicked the toolbar icon on.

import { normalizeCompanyUrl, normalizeEmail, normalizeProfileUrl } from "./client/normal_forms.js";
import { loadPageRules, rulesFor } from "./page_rules.js";

/** One person, as the page shows them; what the page does not show is missing.
 *  `linkedin_url` is a profile, `member_url` a lead of Sales Navigator or a candidate of Recruiter.
 *  `contact_id` is that of a stored person, which no page shows.
 *  @typedef {{contact_id?: string, full_name?: string, title?: string, company_name?: string, linkedin_url?: string, member_url?: string,
 *    email?: string, phone?: string, location?: string}} PersonOnPage */
/** `kind` is `list` for a page of several people, `person` for a page about one (a mail, a CRM record), else `none`.
 *  `rule` is the name of the rule that read it, `left_out` how many visible people exceeded the limit of 200.
 *  @typedef {{kind: "list"|"person"|"none", rule: string, people: PersonOnPage[], left_out: number}} PeopleOnPage */
/** @typedef {import("./reader/types.js").Reading} Reading */
/** @typedef {import("./reader/types.js").Rule} Rule */
/** @typedef {import("./reader/types.js").Words} Words */
/** @typedef {import("./reader/types.js").Limits} Limits */

/** What a click reads at most; the milliseconds are a bound for slow computers. */
export const LIMITS = { people: 200, elements: 25_000, milliseconds: 3_000, text: 500_000 };
// prettier-ignore
const READER = [
  "values", "names", "boxes", "elements", "readings", "rows", "links", "items", "json_ld", "read_people",
].map((name) => `/reader/${name}.js`);
const MEMBER_URL = /^https:\/\/[a-z.]*linkedin\.com\/(?:sales|talent|recruiter)\/[^?#]{1,300}$/;
const LONGEST = 200;
const ANSWER_MILLISECONDS = 8_000; // after which a page is given up whose own scripts do not pause

/** Return the people that are visible on the page; none if the tab shows another page now or may not be read.
 *  @param {import("./storage.js").Page} page @returns {Promise<PeopleOnPage>} */
export async function readPeople(page) {
  try {
    const { url = "" } = await chrome.tabs.get(page.tabId);
    if (!/^https?:/.test(url) || !shows(page, url)) return none();
    const rules = await loadPageRules();
    const used = rulesFor(rules, url);
    if (used.length === 0) return none();
    const result = await Promise.race([runReader(page.tabId, used, rules.words, LIMITS), giveUp()]);
    return checked(/** @type {any} */ (result), url);
  } catch {
    return none(); // the tab was closed or navigated, or does not answer or let itself be read
  }
}

/** Return what the files of `reader/` read in the tab, where the names of all of them are known.
 *  @param {number} tabId @param {Rule[]} rules @param {Words} words @param {Limits} limits */
export async function runReader(tabId, rules, words, limits) {
  const target = { tabId };
  await chrome.scripting.executeScript({ target, files: READER });
  const func = (/** @type {Parameters<typeof readPeopleInPage>} */ ...args) => readPeopleInPage(...args);
  const [{ result }] = await chrome.scripting.executeScript({ target, func, args: [rules, words, limits] });
  return result;
}

/** @returns {Promise<never>} rejected after ANSWER_MILLISECONDS */
const giveUp = () => new Promise((_resolve, reject) => setTimeout(reject, ANSWER_MILLISECONDS));

/** Return whether a URL is that of the page. @param {import("./storage.js").Page} page @param {string} url */
function shows({ host, url: normal }, url) {
  if (normal !== "") return [normalizeProfileUrl(url), normalizeCompanyUrl(url)].includes(normal);
  return host === new URL(url).hostname.replace(/\.$/, "");
}

/** @returns {PeopleOnPage} */
const none = () => ({ kind: "none", rule: "", people: [], left_out: 0 });

/** Return what was read, unless the tab has shown another page meanwhile.
 *  @param {PeopleOnPage & {address: string, people: Reading[]}} result @param {string} url @returns {PeopleOnPage} */
function checked({ kind, rule, people, left_out, address }, url) {
  const isSamePage =
    new URL(address).origin + new URL(address).pathname === new URL(url).origin + new URL(url).pathname;
  const persons = people.map(personOf).filter((person) => person !== null);
  return isSamePage && persons.length > 0 ? { kind, rule, people: persons, left_out } : none();
}

/** @param {string} link of a profile, or of a lead or candidate @returns {{member_url?: string, linkedin_url?: string}} */
function urlOf(link) {
  return MEMBER_URL.test(link) ? { member_url: link } : { linkedin_url: normalizeProfileUrl(link) ?? undefined };
}

/** Return the person with normal forms; null if nothing identifies them. @param {Reading} reading @returns {PersonOnPage|null} */
function personOf({ full_name, title, company_name, location, phone, email = "", link = "", other_link = "" }) {
  const texts = { full_name, title, company_name, location, phone };
  const urls = { ...urlOf(other_link), ...urlOf(link) };
  const values = Object.entries({ ...texts, ...urls, email: normalizeEmail(email) ?? undefined });
  const person = Object.fromEntries(values.filter(([, value]) => value !== undefined && value.length <= LONGEST));
  return person.full_name || person.email || person.linkedin_url || person.member_url ? person : null;
}
