// How far a request is, by what the service has answered: that of a job, or that of a push to a CRM.

/** @typedef {import("./request_store.js").StoredRequest} StoredRequest */
/** What an answer changes of a request; `balance` is null if the answer has none, and `pause` is added before the next
 *  poll, in milliseconds.
 *  @typedef {Pick<StoredRequest, "state"|"jobId"|"response"|"push"> & {balance: number|null, pause: number}} Progress */

const PATIENCE_MILLISECONDS = 600_000; // a push may wait for hours, as for new credentials of the CRM
const PUSH_PAUSE_MILLISECONDS = 4_000;

/** Return the progress of a request; null if the answer is not of this service. @param {StoredRequest} request @param {any} answer
 *  @returns {Progress|null} */
export function progressOf(request, answer) {
  return request.method === "pushToCrm" ? progressOfPush(request, answer) : progressOfJob(answer);
}

/** @param {any} answer @returns {Progress|null} */
function progressOfJob(answer) {
  if (!answer?.job || !answer.credits) return null;
  const state = answer.job.finished_at === null ? "open" : "done";
  return { state, jobId: answer.job.id, response: answer, balance: answer.credits.balance, pause: 0 };
}

/** The answer that accepts a push has no receipts yet. @param {StoredRequest} request @param {any} answer @returns {Progress|null} */
function progressOfPush({ jobId, createdAt }, answer) {
  if (!answer?.push || !answer.items) return null;
  const age = Date.now() - createdAt;
  const isOver = jobId !== null && (answer.push.status === "finished" || age > PATIENCE_MILLISECONDS);
  const pause = jobId !== null && age > 10_000 ? PUSH_PAUSE_MILLISECONDS : 0;
  return { state: isOver ? "done" : "open", jobId: answer.push.id, response: null, push: answer, balance: null, pause };
}
