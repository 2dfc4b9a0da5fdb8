// The page that the user clicked the toolbar icon on. Only that click lets the extension read its URL.

import { normalizeCompanyUrl, normalizeProfileUrl, parseHost } from "./client/normal_forms.js";
import { isApp, loadPageRules } from "./page_rules.js";

/** @typedef {import("./storage.js").Page} Page */
/** What a profile page shows. @typedef {{full_name?: string, headline?: string, location?: string}} ProfileOnPage */

/** Return the page. One of an application, such as a mailbox or a CRM, is `nothing` with a host: not a company's website.
 *  @returns {Promise<Page>} */
export async function readActivePage() {
  const [tab] = await chrome.tabs.query({ active: true, currentWindow: true });
  const tabUrl = tab?.url ?? "";
  const location = { host: "", tabId: tab?.id ?? -1, windowId: tab?.windowId ?? -1, clickedAt: Date.now() };
  if (!/^https?:/.test(tabUrl)) return { ...location, kind: "nothing", url: "" };
  const profile = normalizeProfileUrl(tabUrl);
  if (profile) return { ...location, kind: "profile", url: profile };
  const company = normalizeCompanyUrl(tabUrl);
  if (company) return { ...location, kind: "company", url: company };
  const host = parseHost(tabUrl);
  if (host === null) return { ...location, kind: "nothing", url: "" };
  const kind = isApp(await loadPageRules(), tabUrl) ? "nothing" : "site";
  return { ...location, kind, url: "", host };
}

/** Return what the profile page shows; `{}` if the tab shows another page now or may not be read.
 *  @param {Page|null} page @param {string} linkedinUrl @returns {Promise<ProfileOnPage>} */
export async function readProfile(page, linkedinUrl) {
  if (page?.kind !== "profile" || page.url !== linkedinUrl) return {};
  try {
    const target = { tabId: page.tabId };
    const [{ result }] = await chrome.scripting.executeScript({ target, func: readProfileInPage });
    const { address, ...profile } = /** @type {any} */ (result);
    return normalizeProfileUrl(address) === linkedinUrl ? profile : {};
  } catch {
    return {}; // the tab was closed or navigated: the profile URL is enough
  }
}

/** Runs in the page, so it uses nothing of this module. LinkedIn changes its class names often, but not the heading and the title. */
function readProfileInPage() {
  const text = (/** @type {string} */ selector) =>
    document.querySelector(selector)?.textContent?.trim().replace(/\s+/g, " ") ?? "";
  const nameInTitle = document.title
    .replace(/^\(\d+\+?\) /, "")
    .split(/ [|–-] /)[0]
    .trim();
  const profile = {
    full_name: text("main h1") || text("h1") || nameInTitle,
    headline: text("main .text-body-medium"),
    location: text("main .text-body-small.inline"),
  };
  const fields = Object.entries(profile).filter(([, value]) => value !== "" && value.length <= 200);
  return { address: location.href, ...Object.fromEntries(fields) };
}
