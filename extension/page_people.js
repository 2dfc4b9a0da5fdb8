// The people on the page that the user clicked the toolbar icon on.

/** One person, as the page shows them; what the page does not show is missing.
 *  `linkedin_url` is a profile, `member_url` a lead of Sales Navigator or a candidate of Recruiter.
 *  @typedef {{full_name?: string, title?: string, company_name?: string, linkedin_url?: string, member_url?: string,
 *    email?: string, phone?: string, location?: string}} PersonOnPage */
/** `kind` is `list` for a page of several people, `person` for a page about one (a mail, a CRM record), else `none`.
 *  `rule` is the name of the rule that read it, `left_out` how many visible people exceeded the limit of 200.
 *  @typedef {{kind: "list"|"person"|"none", rule: string, people: PersonOnPage[], left_out: number}} PeopleOnPage */

/** Return the people that are visible on the page; none if the tab shows another page now or may not be read.
 *  @param {import("./storage.js").Page} page @returns {Promise<PeopleOnPage>} */
export async function readPeople(page) {
  try {
    const target = { tabId: page.tabId };
    const [{ result }] = await chrome.scripting.executeScript({ target, func: readInPage });
    return /** @type {PeopleOnPage} */ (result);
  } catch {
    return { kind: "none", rule: "", people: [], left_out: 0 };
  }
}

/** Runs in the page, so it uses nothing of this module. */
function readInPage() {
  const people = [...document.querySelectorAll("a[href*='linkedin.com/in/']")].map((link) => ({
    full_name: link.textContent?.trim().replace(/\s+/g, " ") ?? "",
    linkedin_url: /** @type {HTMLAnchorElement} */ (link).href,
  }));
  return { kind: people.length > 1 ? "list" : "none", rule: "profile-links", people, left_out: 0 };
}
