// The requests about people of a list: found again by the people, whatever the page is called.

import { isFinished, listPeopleRequests, onRequestChange } from "../request_store.js";
import { keyOf } from "./identifiers.js";

/** @typedef {import("../request_store.js").StoredRequest} StoredRequest */
/** @typedef {import("./people_list.js").PeopleList} PeopleList */

/** Return what the list shows of the people of a request, for a list without a page. @param {StoredRequest} request
 *  @returns {import("../page_people.js").PersonOnPage[]} */
export const peopleOf = ({ person, body }) =>
  person.people ?? (body.items ?? []).map((/** @type {any} */ { subject }) => subject);

/** Call back with each request about people of the list, and again when it changes, until the signal is aborted.
 *  @param {PeopleList} list @param {(request: StoredRequest) => void} callback @param {AbortSignal} signal */
export async function followRequests(list, callback, signal) {
  const onRequest = (/** @type {StoredRequest} */ request) => {
    if (!signal.aborted && concerns(request, list)) callback(request);
  };
  onRequestChange(null, onRequest, signal);
  for (const request of await listPeopleRequests()) onRequest(request);
}

/** @param {StoredRequest} request @param {PeopleList} list */
function concerns(request, list) {
  return request.person.subject === null && peopleOf(request).some((subject) => list.byKey.has(keyOf(subject)));
}

/** Show in the list what a request has done so far. @param {PeopleList} list @param {StoredRequest} request */
export function applyRequest(list, request) {
  if (request.method === "pushToCrm") return applyPush(list, request);
  const items = request.response?.result?.items ?? [];
  const changed = peopleOf(request).flatMap((subject, index) => {
    const listed = list.byKey.get(keyOf(subject));
    return listed && applyItem(listed, items[index] ?? null, isFinished(request)) ? [listed] : [];
  });
  list.changed(changed);
}

/** Set what a request has of a person; return whether that is new.
 *  @param {import("./listed_people.js").ListedPerson} listed
 *  @param {import("../client/api.js").EnrichedItem|null} item @param {boolean} isFinal */
function applyItem(listed, item, isFinal) {
  const { isRequested, item: before } = listed;
  const isDone = item !== null && (item.outcome !== null || item.error !== null);
  if (isDone) listed.item = item;
  listed.isRequested = !isFinal && !isDone;
  if (listed.isRequested) listed.isPicked = false;
  return isRequested !== listed.isRequested || before?.outcome !== listed.item?.outcome;
}

/** @param {PeopleList} list @param {StoredRequest} request */
function applyPush(list, request) {
  const { vendor = "" } = request.person;
  const receipts = new Map((request.push?.items ?? []).map((item) => [item.contact_id, item]));
  const changed = peopleOf(request).flatMap((subject, index) => {
    const listed = list.byKey.get(keyOf(subject));
    if (!listed) return [];
    const { outcome = null, error_message: error = null } = receipts.get(request.body.contact_ids[index]) ?? {};
    const { push: before } = listed;
    listed.push = request.state === "refused" ? null : { vendor, outcome, error };
    return before?.vendor === listed.push?.vendor && before?.outcome === listed.push?.outcome ? [] : [listed];
  });
  list.changed(changed);
}

/** Forget the results of a request, so that the people are looked up again. @param {PeopleList} list @param {StoredRequest} request */
export function forgetRequest(list, request) {
  const results = request.method === "pushToCrm" ? { push: null } : { item: null, lookup: null, isRequested: false };
  for (const subject of peopleOf(request)) {
    const listed = list.byKey.get(keyOf(subject));
    if (listed) Object.assign(listed, results);
  }
}
