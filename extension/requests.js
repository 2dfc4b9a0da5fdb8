// Requests that cost credits or take time. Each is sent once per click, and survives a closed popup or browser.
//
// A click stores the request with a new Idempotency-Key before anything is sent. Then the open popup or side panel
// runs it; if none is open, the service worker does, woken by an alarm. A request without a response is sent again
// with the same key for up to a day, so it is never charged twice. Two windows that make the same request share one
// stored request; locks ensure that only one of them sends it.

import { ApiError, Client, POLL_MILLISECONDS } from "./client/api.js";
import { progressOf } from "./request_progress.js";
import {
  deleteRequest,
  findRequest,
  isFinished,
  isOwned,
  listRequests,
  ownerOf,
  reloadRequest,
  saveRequest,
  updateBadge,
  updateRequest,
} from "./request_store.js";
import { endSession, loadSession, updateSession } from "./storage.js";
import { LANGUAGE } from "./texts.js";

/** @typedef {import("./request_store.js").StoredRequest} StoredRequest */

export const ALARM = "requests";
const ALARM_MINUTES = 0.5;
const MAX_BACKOFF_SECONDS = 30;
const MAX_AGE_HOURS = 24; // a click must not be charged days later
/** @type {import("./client/api.js").Problem} */
const TOO_OLD = { code: "job_expired", status: 0, retryable: true };
const NOT_THIS_SERVICE = "not_this_service"; // temporary: a captive portal answers instead of the server

Client.language = LANGUAGE;

/**
 * Store a request, or return the stored one of that name if it is not finished.
 * @param {string} name @param {import("./request_store.js").Method} method @param {object} body
 * @param {import("./request_store.js").RequestPerson} person
 * @returns {Promise<StoredRequest>}
 */
export async function startRequest(name, method, body, person) {
  return navigator.locks.request(`start ${name}`, async () => {
    const existing = await findRequest([name]);
    if (existing && !isFinished(existing)) return existing;
    if (existing) await deleteRequest(existing);
    const owner = ownerOf(await loadSession());
    /** @type {StoredRequest} */
    const request = {
      key: crypto.randomUUID(),
      name,
      method,
      body,
      person,
      owner,
      createdAt: Date.now(),
      state: "sending",
      jobId: null,
      response: null,
      problem: null,
      retryAt: 0,
      failures: 0,
    };
    await ensureAlarm(); // first: this window may close at any time
    await saveRequest(request);
    return request;
  });
}

/** Send and poll a request until it is finished or the session ends. While another window runs it, this call waits.
 *  @param {StoredRequest} request */
export async function run(request) {
  await ensureAlarm(); // for the case that this window closes
  await navigator.locks.request(`run ${request.key}`, async () => {
    for (;;) {
      const current = await reloadRequest(request);
      if (current === null || isFinished(current) || !(await isOwned(current))) return;
      const delay = current.retryAt - Date.now();
      if (delay > 0) await sleep(Math.min(delay, 1000));
      else await sendOrPoll(current, current.failures > 0 || Date.now() - current.createdAt > 20_000 ? 5 : 1);
    }
  });
}

/** Send or poll once each unfinished request that no window runs: the service worker's task at an alarm. */
export async function runPending() {
  for (const request of await listUnfinished()) {
    await navigator.locks.request(`run ${request.key}`, { ifAvailable: true }, async (lock) => {
      const current = lock && (await reloadRequest(request));
      if (current && !isFinished(current) && current.retryAt <= Date.now()) await sendOrPoll(current, 0);
    });
  }
  if ((await listUnfinished()).length === 0) await chrome.alarms.clear(ALARM);
  if ((await listUnfinished()).length > 0) await ensureAlarm(); // dropped by Chrome, or a click in the meantime
  await updateBadge();
}

async function listUnfinished() {
  return (await listRequests()).filter((request) => !isFinished(request));
}

/** Send the request, or poll its job, and store the result.
 *  @param {StoredRequest} request @param {number} wait how long the service may wait for the job, in seconds */
async function sendOrPoll(request, wait) {
  const session = await loadSession();
  if (session === null) return;
  if (request.state === "sending" && isTooOld(request)) {
    await updateRequest({ ...request, state: "refused", problem: request.problem ?? TOO_OLD });
    return;
  }
  const client = new Client(session.origin, session.token);
  const pollAt = Date.now() + POLL_MILLISECONDS;
  try {
    const progress = progressOf(request, await answerOf(client, request, wait));
    if (progress === null) throw new ApiError({ code: NOT_THIS_SERVICE, status: 200 });
    const { balance, pause, ...change } = progress;
    if (balance !== null) await updateSession(session, { credits: { ...session.credits, balance } });
    await updateRequest({ ...request, ...change, problem: null, failures: 0, retryAt: pollAt + pause });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    await handleError(request, error, session);
  }
}

/** Send the request, or ask how far it is. @param {Client} client @param {StoredRequest} request @param {number} wait */
function answerOf(client, { method, body, key, jobId }, wait) {
  if (jobId === null) return client[method](body, { key, wait });
  return method === "pushToCrm" ? client.crmPush(jobId) : client.job(jobId, { wait });
}

/** Schedule a retry after a temporary error, or store the final refusal.
 *  @param {StoredRequest} request @param {ApiError} error @param {import("./storage.js").StoredSession} session */
async function handleError(request, error, session) {
  const { problem } = error;
  if (error.status === 401) {
    await endSession(session, error.code); // the request is kept and continues after the next sign-in
    return;
  }
  const isTemporary =
    [0, 429].includes(error.status) || error.status >= 500 || problem.retryable || error.code === NOT_THIS_SERVICE;
  if (isTemporary && !isTooOld(request)) {
    const failures = request.failures + 1;
    const delay = problem.retry_after ?? Math.min(2 ** request.failures, MAX_BACKOFF_SECONDS);
    await updateRequest({ ...request, problem, failures, retryAt: Date.now() + delay * 1000 });
    return;
  }
  if (problem.code === "insufficient_credits" && problem.balance !== undefined)
    await updateSession(session, { credits: { ...session.credits, balance: problem.balance } });
  await updateRequest({ ...request, state: "refused", problem });
}

/** @param {StoredRequest} request */
const isTooOld = (request) => Date.now() - request.createdAt >= MAX_AGE_HOURS * 3600_000;

async function ensureAlarm() {
  if (!(await chrome.alarms.get(ALARM))) await chrome.alarms.create(ALARM, { periodInMinutes: ALARM_MINUTES });
}

/** @param {number} milliseconds */
function sleep(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
