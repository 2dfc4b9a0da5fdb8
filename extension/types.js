// Types that the panel and its views share. They are here because the panel imports the views, and not the reverse.

/** Opens with the panel's context and returns what it shows; `subject` is whom a person's view shows.
 *  @typedef {((app: App) => Node|Promise<Node>) & {subject?: import("./client/api.js").Subject}} View */
/** The company on the page, for a search by name alone. @typedef {{name: string|null, domain: string|null}} CompanyHint */
/**
 * The context of an open view. `signal` is aborted when the view closes; `shownRequests` are the names of the requests
 * that the view shows itself, and `loads` end when everything that it shows without another click is there.
 * @typedef {{session: import("./storage.js").StoredSession, client: import("./client/api.js").Client,
 *   signal: AbortSignal, page: import("./storage.js").Page|null, company: CompanyHint|null, shownRequests: Set<string>,
 *   loads: Promise<unknown>[],
 *   open: (view: View) => Promise<void>, restart: () => Promise<void>}} App
 */
/**
 * The person that a view shows. `requested` is the subject that the view was opened with, `subject` the most precise
 * one known, `label` the name to show. `onFound` is called when a value is found, `openContact` when the person
 * turns out to be a stored contact, `onSuppressed` when the person turns out to be suppressed.
 * @typedef {{requested: import("./client/api.js").Subject, subject: import("./client/api.js").Subject, label: string,
 *   onFound: () => void, openContact: (contactId: string) => void, onSuppressed: () => void}} Person
 */

export {};
