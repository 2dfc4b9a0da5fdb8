import {
  type IDataObject,
  type IExecuteFunctions,
  type IHttpRequestOptions,
  type IN8nHttpFullResponse,
  type JsonObject,
  NodeApiError,
  NodeOperationError,
  sleep,
} from "n8n-workflow";

import { type Call, idempotencyKey, QUEUED } from "./api";

const CREDENTIAL = "contactLookupApi";
const PREFER = "wait=20";
const RETRIES = 3;
const RETRIED = new Set([429, 502, 503, 504]);
const MAX_PAUSE_SECONDS = 60;
const ACCEPTED = 202;
const REFUSED = 400;

/** Send a request, wait for its job for up to so many seconds, and return the response of the service. */
export async function answerOf(
  context: IExecuteFunctions,
  call: Call,
  itemIndex: number,
  waitSeconds: number,
): Promise<IDataObject> {
  const deadline = Date.now() + waitSeconds * 1000;
  let response = await send(context, requestOf(context, call, waitSeconds), itemIndex);
  while (response.statusCode === ACCEPTED && Date.now() < deadline) {
    await pause(response);
    response = await send(context, pollOf(response), itemIndex);
  }
  return response.body as IDataObject;
}

function requestOf(context: IExecuteFunctions, call: Call, waitSeconds: number): IHttpRequestOptions {
  if (!("body" in call)) return { method: "GET", url: call.path };
  const headers: IDataObject = {
    "Idempotency-Key": idempotencyKey(context.getExecutionId(), context.getNode().id, call),
  };
  if (QUEUED.has(call.path)) headers.Prefer = waitSeconds > 0 ? PREFER : "respond-async";
  return { method: "POST", url: call.path, body: call.body as IDataObject, headers };
}

function pollOf(response: IN8nHttpFullResponse): IHttpRequestOptions {
  const { job } = response.body as unknown as { job: { id: string } };
  return { method: "GET", url: "/api/ext/jobs", qs: { id: job.id }, headers: { Prefer: PREFER } };
}

/** Send a request, again after a refusal that passes; the key of the request keeps it from being charged twice. */
async function send(
  context: IExecuteFunctions,
  request: IHttpRequestOptions,
  itemIndex: number,
): Promise<IN8nHttpFullResponse> {
  const { baseUrl } = await context.getCredentials<{ baseUrl: string }>(CREDENTIAL, itemIndex);
  if (!/^https?:\/\//.test(baseUrl)) {
    throw new NodeOperationError(context.getNode(), "The base URL of the credential must begin with https://", {
      itemIndex,
    });
  }
  const options: IHttpRequestOptions = {
    ...request,
    baseURL: baseUrl.replace(/\/+$/, ""),
    json: true,
    returnFullResponse: true,
    ignoreHttpStatusErrors: true,
  };
  for (let attempt = 1; ; attempt++) {
    const response = (await context.helpers.httpRequestWithAuthentication.call(
      context,
      CREDENTIAL,
      options,
    )) as IN8nHttpFullResponse;
    if (response.statusCode < REFUSED) return response;
    if (attempt > RETRIES || !RETRIED.has(response.statusCode)) throw refusal(context, response, itemIndex);
    await pause(response, 2 ** attempt);
  }
}

async function pause(response: IN8nHttpFullResponse, seconds = 1): Promise<void> {
  const asked = Number(response.headers["retry-after"]);
  await sleep(Math.min(asked > 0 ? asked : seconds, MAX_PAUSE_SECONDS) * 1000);
}

/** Return the error of a refusal, with the sentence of the service that says what to do. */
function refusal(context: IExecuteFunctions, response: IN8nHttpFullResponse, itemIndex: number): NodeApiError {
  const problem = (response.body ?? {}) as { title?: string; detail?: string };
  return new NodeApiError(context.getNode(), problem as JsonObject, {
    message: problem.title ?? `The service answered ${response.statusCode}`,
    description: problem.detail,
    httpCode: String(response.statusCode),
    itemIndex,
  });
}
