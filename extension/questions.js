// Questions that cost or take time: asked once per click, found again whatever is closed or killed meanwhile.
//
// A click writes its question down with a new Idempotency-Key before anything is sent. Whoever is alive then
// drives it: the popup or side panel while one is open, else the service worker, woken by an alarm. What was
// sent and not answered is sent again with the same key, for a day, so it is never paid twice. Two windows that
// ask the same at once share one question; locks see to it that only one of them sends.
//
// Unanswered questions are on disk, answered ones in memory until they were seen.

import { ApiError, Client } from "./client/api.js";
import { forgetSignedIn, signedIn, updateSignedIn } from "./store.js";

/** @typedef {import("./client/api.js").Answer} Answer */
/** @typedef {import("./client/api.js").Problem} Problem */
/** @typedef {import("./client/api.js").Subject} Subject */
/** What the client calls it. @typedef {"revealEmail"|"revealPhone"|"enrichmentRequest"} Method */
/** Whom a question is about: how to look the person up again, and the name to show. @typedef {{subject: Subject, label: string}} About */
/**
 * `name` says what is asked about whom, so that the same question is found again. `state`: `sending` until the
 * service has taken it in, then `open`, then `over` (with `answer`) or `refused` (with `problem`). While it is not
 * over, `problem` says what is in the way; it is tried again from `after`, milliseconds since 1970.
 * @typedef {{key: string, name: string, method: Method, body: any, about: About, owner: string, made: number,
 *   state: "sending"|"open"|"over"|"refused", jobId: string|null, answer: Answer|null, problem: Problem|null,
 *   after: number, failures: number}} Question
 */

export const ALARM = "questions";
const PREFIX = "question:";
const ALARM_MINUTES = 0.5;
const LONGEST_REST_SECONDS = 30;
const LONGEST_HOURS = 24; // nobody wants to pay on Wednesday for a click of Monday
/** @type {import("./store.js").Area} */
const disk = chrome.storage.local;
/** @type {import("./store.js").Area} */
const memory = chrome.storage.session;
const ELSEWHERE = "not_this_service"; // a captive portal answers for the server; that passes
const FINAL = new Set(["over", "refused"]);

/**
 * Give the names under which a question may have been asked, the first for asking it now: a person who was nobody
 * when it was asked has an id by the time it is answered.
 * @param {string} kind @param {Subject} subject @param {import("./client/api.js").Contact|null} contact
 */
export function namesOf(kind, subject, contact) {
  const url = contact?.linkedin_url ?? subject.linkedin_url;
  const who = [url, contact?.id, subject.email, JSON.stringify(Object.entries(subject).sort())];
  return who.filter(Boolean).map((one) => `${kind} ${one}`);
}

/**
 * Ask, or join the same question if it is not over yet.
 * @param {string} name @param {Method} method @param {object} body @param {About} about
 * @returns {Promise<Question>}
 */
export async function ask(name, method, body, about) {
  return navigator.locks.request(`ask ${name}`, async () => {
    const earlier = await find([name]);
    if (earlier && !FINAL.has(earlier.state)) return earlier;
    if (earlier) await forget(earlier);
    const owner = ownerOf(await signedIn());
    /** @type {Question} */
    const question = {
      key: crypto.randomUUID(),
      name,
      method,
      body,
      about,
      owner,
      made: Date.now(),
      state: "sending",
      jobId: null,
      answer: null,
      problem: null,
      after: 0,
      failures: 0,
    };
    await keep(question);
    await setAlarm();
    return question;
  });
}

/** Give all questions of whoever is signed in, the oldest first. @returns {Promise<Question[]>} */
export async function all() {
  const owner = ownerOf(await signedIn());
  const stored = Object.entries({ ...(await disk.get(null)), ...(await memory.get(null)) });
  const questions = stored.filter(([key]) => key.startsWith(PREFIX)).map(([, question]) => question);
  return questions.filter((question) => question.owner === owner).sort((one, other) => one.made - other.made);
}

/** @param {Question} question */
export const isOver = (question) => FINAL.has(question.state);

/** @param {string[]} names @returns {Promise<Question|undefined>} the latest of those names */
export async function find(names) {
  return (await all()).findLast((question) => names.includes(question.name));
}

/** Drop a question whose answer was seen. @param {Question} question */
export async function forget(question) {
  await disk.remove(PREFIX + question.key);
  await memory.remove(PREFIX + question.key);
  await showBadge();
}

/** Tell when a question of those names changes, or any if none are given, until the signal.
 *  @param {string[]|null} names @param {(question: Question) => void} told @param {AbortSignal} signal */
export function listen(names, told, signal) {
  /** @param {Record<string, {newValue?: any}>} changes */
  const hear = (changes) => {
    for (const [key, { newValue }] of Object.entries(changes)) {
      if (key.startsWith(PREFIX) && newValue && (names?.includes(newValue.name) ?? true)) told(newValue);
    }
  };
  chrome.storage.onChanged.addListener(hear);
  signal.addEventListener("abort", () => chrome.storage.onChanged.removeListener(hear));
}

/** Drive a question to its end, or to the next 401. While another window does, this one waits for its turn.
 *  @param {Question} question */
export async function drive(question) {
  await setAlarm(); // should this window close
  await navigator.locks.request(`drive ${question.key}`, async () => {
    for (;;) {
      const now = await reread(question);
      if (now === null || FINAL.has(now.state) || !(await isMine(now))) return;
      const rest = now.after - Date.now();
      if (rest > 0) await sleep(Math.min(rest, 1000));
      else await step(now, now.failures > 0 || Date.now() - now.made > 20_000 ? 5 : 1);
    }
  });
}

/** Take every question that nobody drives one step further: what the service worker does at an alarm. */
export async function driveOnce() {
  const open = (await all()).filter((question) => !FINAL.has(question.state));
  for (const question of open) {
    await navigator.locks.request(`drive ${question.key}`, { ifAvailable: true }, async (lock) => {
      const now = lock && (await reread(question));
      if (now && !FINAL.has(now.state) && now.after <= Date.now()) await step(now, 0);
    });
  }
  const isLeft = async () => (await all()).some((question) => !FINAL.has(question.state));
  if (!(await isLeft())) await chrome.alarms.clear(ALARM);
  if (await isLeft()) await setAlarm(); // Chrome may have dropped it, or there was a click meanwhile
  await showBadge();
}

/** Show how many answers wait to be seen. */
export async function showBadge() {
  const done = (await all()).filter((question) => FINAL.has(question.state));
  const good = done.every((question) => question.state === "over" && question.answer?.job.outcome !== null);
  await chrome.action.setBadgeBackgroundColor({ color: good ? "#166534" : "#9f1239" });
  await chrome.action.setBadgeTextColor({ color: "#ffffff" });
  await chrome.action.setBadgeText({ text: done.length > 0 ? String(done.length) : "" });
}

/** Send the question, or ask how far it is; write down what came of it.
 *  @param {Question} question @param {number} wait seconds that the service may hold the answer back */
async function step(question, wait) {
  const session = await signedIn();
  if (session === null) return;
  const client = new Client(session.origin, session.token);
  try {
    const answer = question.jobId
      ? await client.job(question.jobId, { wait })
      : await client[question.method](question.body, { key: question.key, wait });
    if (!answer?.job || !answer.credits) throw new ApiError({ code: ELSEWHERE, status: 200 });
    const { balance } = answer.credits;
    await updateSignedIn(session, { credits: { ...session.credits, balance } });
    const state = answer.job.finished_at === null ? "open" : "over";
    await update({ ...question, state, jobId: answer.job.id, answer, problem: null, failures: 0, after: 0 });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    await stumble(question, error, session);
  }
}

/** Decide on a question that was not answered.
 *  @param {Question} question @param {ApiError} error @param {import("./store.js").Kept} session */
async function stumble(question, error, session) {
  const { problem } = error;
  if (error.status === 401) {
    await forgetSignedIn(session, error.code); // the question stays, for when the person is back
    return;
  }
  const isPassing =
    [0, 429].includes(error.status) || error.status >= 500 || problem.retryable || error.code === ELSEWHERE;
  if (isPassing && Date.now() - question.made < LONGEST_HOURS * 3600_000) {
    const failures = question.failures + 1;
    const rest = problem.retry_after ?? Math.min(2 ** question.failures, LONGEST_REST_SECONDS);
    await update({ ...question, problem, failures, after: Date.now() + rest * 1000 });
    return;
  }
  if (problem.code === "insufficient_credits" && problem.balance !== undefined)
    await updateSignedIn(session, { credits: { ...session.credits, balance: problem.balance } });
  await update({ ...question, state: "refused", problem });
}

/** Write down how far a question is, unless it was dropped meanwhile. @param {Question} question */
async function update(question) {
  if ((await reread(question)) !== null) await keep(question);
}

/** @param {Question} question */
async function keep(question) {
  const key = PREFIX + question.key;
  const [here, there] = FINAL.has(question.state) ? [memory, disk] : [disk, memory];
  await here.set({ [key]: question });
  await there.remove(key);
  if (FINAL.has(question.state)) await showBadge();
}

/** @param {Question} question @returns {Promise<Question|null>} as it is stored now; null if it was dropped */
async function reread(question) {
  const key = PREFIX + question.key;
  return (await memory.get(key))[key] ?? (await disk.get(key))[key] ?? null;
}

async function setAlarm() {
  if (!(await chrome.alarms.get(ALARM))) await chrome.alarms.create(ALARM, { periodInMinutes: ALARM_MINUTES });
}

/** @param {Question} question */
async function isMine(question) {
  return question.owner === ownerOf(await signedIn());
}

/** @param {import("./store.js").Kept|null} session */
function ownerOf(session) {
  return session ? `${session.origin} ${session.account.id}` : "";
}

/** @param {number} milliseconds */
function sleep(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
