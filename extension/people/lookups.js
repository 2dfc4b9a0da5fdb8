// The lookups of a list of people: as many in one request as the service takes. They are free.

import { ApiError } from "../client/api.js";

/** @typedef {import("../types.js").App} App */
/** @typedef {import("./listed_people.js").ListedPerson} ListedPerson */
/** Called with the people of one request, once their lookups are known. @typedef {(people: ListedPerson[]) => void} OnFound */

const BATCH_SIZE = 50;

/** Look up the people who have not been yet, batch after batch. Nothing but their identifiers is sent.
 *  @param {App} app @param {ListedPerson[]} people @param {OnFound} onFound @throws {ApiError} */
export async function lookUpPeople(app, people, onFound) {
  const open = people.filter(({ subject, lookup }) => subject !== null && lookup === null);
  for (let start = 0; start < open.length; start += BATCH_SIZE) {
    const batch = open.slice(start, start + BATCH_SIZE);
    await lookUpBatch(app, batch);
    onFound(batch);
  }
}

/** Look up one batch. A person whom the service refuses is left out, because one refuses the whole request.
 *  @param {App} app @param {ListedPerson[]} batch */
async function lookUpBatch(app, batch) {
  let rest = batch;
  while (rest.length > 0) {
    try {
      const subjects = rest.map(({ subject }) => subject ?? {});
      const { results } = await app.client.lookupMany({ subjects }, { signal: app.signal });
      rest.forEach((listed, index) => (listed.lookup = results[index]));
      return;
    } catch (error) {
      const refused = error instanceof ApiError && error.status === 422 ? refusedIn(error, rest) : [];
      if (refused.length === 0) throw error;
      refused.forEach((listed) => (listed.subject = null));
      rest = rest.filter((listed) => listed.subject !== null);
    }
  }
}

/** Return the people to whom the pointers of a refusal lead. @param {ApiError} error @param {ListedPerson[]} people */
function refusedIn({ problem }, people) {
  const indexes = (problem.errors ?? []).map(({ pointer }) => Number(pointer.match(/^\/subjects\/(\d+)/)?.[1] ?? -1));
  return people.filter((_listed, index) => indexes.includes(index));
}
