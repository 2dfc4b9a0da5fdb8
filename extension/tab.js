// The page that the person clicked the toolbar icon on. The click is what lets the extension see it.

import { companyUrl, profileUrl, publicHost } from "./client/forms.js";

/** @typedef {import("./store.js").Page} Page */
/** @typedef {{full_name?: string, headline?: string, location?: string}} Profile */

/** @returns {Promise<Page>} */
export async function activePage() {
  const [tab] = await chrome.tabs.query({ active: true, currentWindow: true });
  const address = tab?.url ?? "";
  const there = { host: "", tabId: tab?.id ?? -1, windowId: tab?.windowId ?? -1 };
  if (!/^https?:/.test(address)) return { ...there, kind: "nothing", url: "" };
  const profile = profileUrl(address);
  if (profile) return { ...there, kind: "profile", url: profile };
  const company = companyUrl(address);
  if (company) return { ...there, kind: "company", url: company };
  const host = publicHost(address);
  return host ? { ...there, kind: "site", url: "", host } : { ...there, kind: "nothing", url: "" };
}

/** Read what a profile's page shows of its person; nothing if the page is another one by now or may not be read.
 *  @param {Page|null} page @param {string} linkedinUrl @returns {Promise<Profile>} */
export async function readProfile(page, linkedinUrl) {
  if (page?.kind !== "profile" || page.url !== linkedinUrl) return {};
  try {
    const [{ result }] = await chrome.scripting.executeScript({ target: { tabId: page.tabId }, func: profileOnPage });
    const { address, ...profile } = /** @type {any} */ (result);
    return profileUrl(address) === linkedinUrl ? profile : {};
  } catch {
    return {}; // the tab is closed, or went elsewhere: the profile's address alone will do
  }
}

/** Runs in the page. The network changes its class names often; the heading and the title stay. */
function profileOnPage() {
  const text = (/** @type {string} */ selector) =>
    document.querySelector(selector)?.textContent?.trim().replace(/\s+/g, " ") ?? "";
  const titled = document.title
    .replace(/^\(\d+\+?\) /, "")
    .split(/ [|–-] /)[0]
    .trim();
  const profile = {
    full_name: text("main h1") || text("h1") || titled,
    headline: text("main .text-body-medium"),
    location: text("main .text-body-small.inline"),
  };
  const told = Object.entries(profile).filter(([, value]) => value !== "" && value.length <= 200);
  return { address: location.href, ...Object.fromEntries(told) };
}
