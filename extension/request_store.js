// The stored requests: unfinished ones on disk, finished ones in memory until a view has shown them.

import { disk, loadSession, memory } from "./storage.js";

/** @typedef {import("./client/api.js").JobResponse} JobResponse */
/** @typedef {import("./client/api.js").CrmPush} CrmPush */
/** @typedef {import("./client/api.js").Problem} Problem */
/** @typedef {import("./client/api.js").Subject} Subject */
/** The client's method that sends the request.
 *  @typedef {"revealEmail"|"revealPhone"|"enrichmentRequest"|"peopleSearch"|"pushToCrm"} Method */
/** The person the request is about: the subject to look up and the name to show. `subject` is null for a list of people,
 *  whose subjects `people` has if the body does not name them. `vendor` is the CRM of a push.
 *  @typedef {{subject: Subject|null, label: string, people?: Subject[], vendor?: string}} RequestPerson */
/**
 * `name` identifies the kind of request and the person, so that the same request is found again. `state` is `sending`
 * until the service has accepted it, then `open`, and finally `done` (with `response`, or with `push` if it is a push to a
 * CRM) or `refused` (with `problem`).
 * While it is not final, `problem` is the last failure, and the next attempt or poll is at `retryAt`. Times are in milliseconds
 * since 1970. `isSeen` marks the finished request of a list that a view has shown and keeps.
 * @typedef {{key: string, name: string, method: Method, body: any, person: RequestPerson, owner: string,
 *   createdAt: number, state: "sending"|"open"|"done"|"refused", jobId: string|null, response: JobResponse|null,
 *   push?: CrmPush, problem: Problem|null, retryAt: number, failures: number, isSeen?: boolean}} StoredRequest
 */

const PREFIX = "request:";
const FINAL = new Set(["done", "refused"]);

/**
 * Return the names that a request may be stored under, the one for a new request first. There are several because a
 * person without a contact id when the request was made may have one when it is finished.
 * @param {string} kind @param {Subject} subject @param {import("./client/api.js").Contact|null} contact
 */
export function requestNames(kind, subject, contact) {
  const url = contact?.linkedin_url ?? subject.linkedin_url;
  const identifiers = [url, contact?.id, subject.email, JSON.stringify(Object.entries(subject).sort())];
  return identifiers.filter(Boolean).map((identifier) => `${kind} ${identifier}`);
}

/** Return all requests of the signed-in account, the oldest first. @returns {Promise<StoredRequest[]>} */
export async function listRequests() {
  const owner = ownerOf(await loadSession());
  const stored = Object.entries({ ...(await disk.get(null)), ...(await memory.get(null)) });
  const requests = stored.filter(([key]) => key.startsWith(PREFIX)).map(([, request]) => request);
  return requests.filter((request) => request.owner === owner).sort((a, b) => a.createdAt - b.createdAt);
}

/** @param {StoredRequest} request */
export const isFinished = (request) => FINAL.has(request.state);

/** @param {string[]} names @returns {Promise<StoredRequest|undefined>} the latest request with one of the names */
export async function findRequest(names) {
  return (await listRequests()).findLast((request) => names.includes(request.name));
}

/** Delete a request whose result has been shown. @param {StoredRequest} request */
export async function deleteRequest(request) {
  await disk.remove(PREFIX + request.key);
  await memory.remove(PREFIX + request.key);
  await updateBadge();
}

/** Return the requests about lists of people, the oldest first. @returns {Promise<StoredRequest[]>} */
export async function listPeopleRequests() {
  return (await listRequests()).filter(({ person }) => person.subject === null);
}

/** Keep a finished request whose result has been shown, and count it no more. @param {StoredRequest} request */
export async function markSeen(request) {
  if (!request.isSeen) await updateRequest({ ...request, isSeen: true });
}

/** Call back with a request of those names whenever it changes, or with any request if `names` is null, until the
 *  signal is aborted.
 *  @param {string[]|null} names @param {(request: StoredRequest) => void} callback @param {AbortSignal} signal */
export function onRequestChange(names, callback, signal) {
  /** @param {Record<string, {newValue?: any}>} changes */
  const onChanged = (changes) => {
    for (const [key, { newValue }] of Object.entries(changes)) {
      if (key.startsWith(PREFIX) && newValue && (names?.includes(newValue.name) ?? true)) callback(newValue);
    }
  };
  chrome.storage.onChanged.addListener(onChanged);
  signal.addEventListener("abort", () => chrome.storage.onChanged.removeListener(onChanged));
}

/** Return whether the request belongs to the signed-in account. @param {StoredRequest} request */
export async function isOwned(request) {
  return request.owner === ownerOf(await loadSession());
}

/** @param {import("./storage.js").StoredSession|null} session */
export function ownerOf(session) {
  return session ? `${session.origin} ${session.account.id}` : "";
}

/** Save the request, unless it has been deleted. @param {StoredRequest} request */
export async function updateRequest(request) {
  if ((await reloadRequest(request)) !== null) await saveRequest(request);
}

/** @param {StoredRequest} request */
export async function saveRequest(request) {
  const key = PREFIX + request.key;
  const [target, other] = isFinished(request) ? [memory, disk] : [disk, memory];
  await target.set({ [key]: request });
  await other.remove(key);
  if (isFinished(request)) await updateBadge();
}

/** @param {StoredRequest} request @returns {Promise<StoredRequest|null>} as stored now; null if it has been deleted */
export async function reloadRequest(request) {
  const key = PREFIX + request.key;
  return (await memory.get(key))[key] ?? (await disk.get(key))[key] ?? null;
}

/** Show on the icon how many results have not been shown. */
export async function updateBadge() {
  const finished = (await listRequests()).filter((request) => isFinished(request) && !request.isSeen);
  const isGood = finished.every(({ state, response }) => state === "done" && response?.job.outcome !== null);
  await chrome.action.setBadgeBackgroundColor({ color: isGood ? "#166534" : "#9f1239" });
  await chrome.action.setBadgeTextColor({ color: "#ffffff" });
  await chrome.action.setBadgeText({ text: finished.length > 0 ? String(finished.length) : "" });
}
