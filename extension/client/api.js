// The complete HTTP client: one method per endpoint, no dependency but fetch. Other clients can copy it.
//
//   const client = new Client("https://contacts.example.com", token);
//   const response = await client.revealEmail({ subject: { contact_id } }, { key: crypto.randomUUID(), wait: 10 });

/** @typedef {"queued"|"running"|"succeeded"|"failed"|"canceled"|"expired"} JobStatus */
/** @typedef {"found"|"partial"|"not_found"|"suppressed"|"excluded"|"skipped"|null} JobOutcome */
/** @typedef {"valid"|"accept_all"|"risky"|"invalid"|"unknown"} ValueStatus */

/**
 * Identifies a person: one of the first four fields, or a name with a company.
 * @typedef {{contact_id?: string, linkedin_url?: string, member_url?: string, email?: string, phone?: string, full_name?: string,
 *   first_name?: string, last_name?: string, company_domain?: string, company_name?: string}} Subject
 */
/** What is granted next. @typedef {{at: string, credits: number}} NextGrant */
/** Null for whoever may not see costs; no `next_grant` from an older server.
 *  @typedef {{balance: number|null, reserved: number|null, next_grant?: NextGrant|null}} Credits */
/**
 * @typedef {{account: {id: string, email: string, name: string, role: string, api_access: boolean},
 *   workspace: {id: string, name: string, dial_link?: string}, auth: {kind: string, scopes: string[], permissions?: string[], expires_at: string|null},
 *   credits: Credits, prices: Record<string, number>, purposes?: {required: boolean, allowed: string[]},
 *   hash_lookup: {algorithm: string, prefix_length: number, filter_key?: string|null, filter_oprf_key?: string|null},
 *   page_rules_key?: string|null, people_search?: boolean,
 *   providers: {name: string, healthy: boolean}[], server: {version: string, api_version: string}}} Session
 */
/** @typedef {{password: boolean, company: {name: string, path: string, extension_ids: string[]}|null}} SignInOptions */
/** @typedef {Session & {access_token: string, token_type: string, expires_at: string}} LoginResponse */
/** @typedef {{city?: string|null, country?: string|null}} Location */
/**
 * @typedef {{id: string, full_name: string|null, title: string|null, seniority: string|null,
 *   department: string|null, linkedin_url: string|null, location?: Location}} Contact
 */
/**
 * @typedef {{id: string, name: string|null, domain: string|null, linkedin_url: string|null,
 *   industry: string|null, headcount: string|null, location?: Location, contacts_count?: number,
 *   email_pattern?: {pattern: string, confidence: number, sample_size: number}|null,
 *   departments?: string[]}} Company
 */
/**
 * A stored value that the workspace has not revealed yet: masked, with its price in credits.
 * @typedef {{field: "email"|"phone", type: string, masked: string, status: ValueStatus,
 *   do_not_call?: boolean|null, call_registers?: {name: string, date: string, listed: boolean}[],
 *   last_verified_at: string|null, owned: boolean, credits: number, reported?: string|null, reported_at?: string|null}} MaskedValue
 */
/** @typedef {{provider: string, kind: string, first_seen_at: string, last_seen_at: string, url?: string}} Source */
/**
 * @typedef {{email: string, type: string, status: ValueStatus, status_reasons: string[], confidence: number|null,
 *   primary: boolean, verified_at: string|null, sources: Source[], reported?: string|null, reported_at?: string|null}} Email
 */
/**
 * @typedef {{e164: string, national: string, extension: string|null, type: string, line_type: string,
 *   status: ValueStatus, do_not_call: boolean|null,
 *   call_registers?: {name: string, date: string, listed: boolean}[], verified_at: string|null, sources: Source[],
 *   reported?: string|null, reported_at?: string|null}} Phone
 */
/** Why the workspace excludes a person. @typedef {{reason: string, note: string|null, matched_on: string, vendor: string|null, stage: string|null}} Exclusion */
/** @typedef {{id: string, list: string|null, tags: string[], note: string|null, updated_at: string}} SavedProfile */
/**
 * @typedef {{vendor: string, vendor_title: string, kind: "contact"|"lead", url: string|null, owner: string|null,
 *   stage: string|null, matched_on: string[], has: ("email"|"phone")[], emails: string[], phones: string[],
 *   do_not_call_phones?: string[], changed_at: string|null, is_outdated: boolean}} CrmRecord
 */
/** @typedef {{book_id: string, book: string, emails: string[], phones: string[], do_not_call_phones?: string[]}} BookEntry */
/** What the workspace has of a person itself. @typedef {{crm?: CrmRecord[], address_books?: BookEntry[]}} OwnRecords */
/**
 * @typedef {{outcome: "matched"|"ambiguous"|"none", match: {confidence: number, matched_on: string[]}|null,
 *   candidates: {confidence: number, contact: Contact, company: Company|null}[], contact: Contact|null,
 *   company: Company|null, available: MaskedValue[], revealed: {emails: Email[], phones: Phone[]},
 *   saved: SavedProfile|null, suppressed: boolean, excluded?: Exclusion|null} & OwnRecords} LookupResult
 */
/**
 * @typedef {{contact_id: string, full_name: string|null, title: string|null, seniority: string|null,
 *   department: string|null, linkedin_url: string|null, saved: SavedProfile|null, available: MaskedValue[]
 *   } & OwnRecords} Lead
 */
/**
 * @typedef {{id: string, kind: string, status: JobStatus, outcome: JobOutcome, created_at: string,
 *   finished_at: string|null, progress: {done: number, total: number, asking?: string[]},
 *   client_reference?: string, error?: Problem, excluded?: Exclusion}} Job
 */
/**
 * A job in the list; `subject` is null if the person is suppressed. An older server lists no `upload_id`.
 * @typedef {Job & {asked_by: {id: string, name: string}|null, subject: Subject|null, charged: number,
 *   upload_id?: string|null}} ListedJob
 */
/** @typedef {{provider: string, field?: string, outcome: string, status?: string, source?: string, latency_ms: number, cost: number}} TraceEntry */
/**
 * @typedef {{job: Job, result: any, trace: TraceEntry[],
 *   credits: {charged: number, reserved: number, balance: number, already_owned: boolean}}} JobResponse
 */
/**
 * One person of an enrichment; `outcome` and `error` are null until it is finished.
 * @typedef {{index: number, outcome: JobOutcome, emails: Email[], phones: Phone[], credits_charged: number,
 *   error: Problem|null, excluded?: Exclusion, skipped?: {source: string, system: string|null, title: string|null, fields: string[]}}} EnrichedItem
 */
/**
 * What an enrichment would cost, and how many of its people cost nothing, by reason.
 * @typedef {{credits_min: number, credits_max: number, owned: number, suppressed: number, excluded: number,
 *   ineligible: number, skipped: number, to_buy: number}} Estimate
 */
/** @typedef {{id: string, name: string, count: number, updated_at: string}} ContactList */
/** @typedef {{id: string, vendor: string, status: "authorizing"|"checking"|"connected"|"reconnect", error: string|null}} CrmConnection */
/**
 * The receipt of a contact of a push; `outcome` is null while the contact waits.
 * @typedef {{contact_id: string, outcome: string|null, error: string|null, error_message?: string|null,
 *   actions: Record<string, string>}} PushItem
 */
/** @typedef {{push: {id: string, vendor: string, status: "waiting"|"running"|"finished"}, items: PushItem[]}} CrmPush */
/**
 * A problem object (RFC 9457) with the extension members of this service.
 * @typedef {{code: string, status: number, title?: string, detail?: string, retryable?: boolean, retry_after?: number,
 *   required?: number, balance?: number, next_grant?: NextGrant, purposes?: string[], errors?: {pointer: string, detail: string}[], request_id?: string}} Problem
 */
/**
 * `key` is the Idempotency-Key: create one per click and store it before sending. A retry with the same key is never
 * charged twice. `wait` is how long the server may wait for the job before it responds, in seconds (0 to 25).
 * @typedef {{key?: string, wait?: number, signal?: AbortSignal}} RequestOptions
 */

const REQUEST_TIMEOUT_SECONDS = 15;
/** The `Retry-After` of a 202: the service does not always wait as long as `wait` allows, and then responds at once. */
export const POLL_MILLISECONDS = 1000;

/** An error response. `status` is 0 if there was no response. */
export class ApiError extends Error {
  /** @param {Problem} problem */
  constructor(problem) {
    super(problem.code);
    this.name = "ApiError";
    this.problem = problem;
  }

  get code() {
    return this.problem.code;
  }

  get status() {
    return this.problem.status;
  }
}

export class Client {
  /** The language in which the server words its problems; by default the browser's. @type {string|null} */
  static language = null;

  /**
   * @param {string} server the base URL of the service, such as `https://contacts.example.com`
   * @param {string|null} token a session token or an API key; null before sign-in
   */
  constructor(server, token = null) {
    this.server = server.replace(/\/+$/, "");
    this.token = token;
  }

  /** @returns {Promise<SignInOptions>} */
  signInOptions() {
    return this.#send("GET", "/api/ext/sign-in-options");
  }

  /** @param {{code: string, code_verifier: string, client?: {name: string, version: string}}} body @returns {Promise<LoginResponse>} */
  companyLogin(body) {
    return this.#send("POST", "/api/ext/company-login", body);
  }

  /** @param {{email: string, password: string, totp?: string, client?: {name: string, version: string}}} body @returns {Promise<LoginResponse>} */
  login(body) {
    return this.#send("POST", "/api/ext/login", body);
  }

  /** @returns {Promise<void>} */
  logout() {
    return this.#send("POST", "/api/ext/logout");
  }

  /** Download a contact that the workspace revealed or saved as a vCard. @param {string} id @param {RequestOptions} [options] @returns {Promise<ArrayBuffer>} */
  async vcard(id, options) {
    const path = `/api/contacts/${encodeURIComponent(id)}/vcard?version=3.0`;
    const { response, bytes } = await this.#fetch("GET", path, undefined, { ...options, headers: { Accept: "text/vcard" } });
    return response.ok ? bytes : parse(response, bytes);
  }

  /** @returns {Promise<Session>} */
  session() {
    return this.#send("GET", "/api/ext/session");
  }

  /** Look up one person; free. @param {{subject: Subject}} body @param {RequestOptions} [options] @returns {Promise<LookupResult>} */
  lookup(body, options) {
    return this.#send("POST", "/api/ext/lookup", body, options);
  }

  /** Look up 1 to 50 people; free. @param {{subjects: Subject[]}} body @param {RequestOptions} [options] @returns {Promise<{results: LookupResult[]}>} */
  lookupMany(body, options) {
    return this.#send("POST", "/api/ext/lookup", body, options);
  }

  /** @param {{subject: Subject, types?: string[], min_status?: string, max_age_days?: number, client_reference?: string, purpose?: string, use_own_records?: boolean}} body
   *  @param {RequestOptions} [options] @returns {Promise<JobResponse>} */
  revealEmail(body, options) {
    return this.#send("POST", "/api/ext/reveal/email", body, options);
  }

  /** @param {{subject: Subject, types?: string[], min_status?: string, max_age_days?: number, client_reference?: string, purpose?: string, use_own_records?: boolean}} body
   *  @param {RequestOptions} [options] @returns {Promise<JobResponse>} */
  revealPhone(body, options) {
    return this.#send("POST", "/api/ext/reveal/phone", body, options);
  }

  /** Enrich up to 100 people or companies. With `dry_run` the response is `{estimate}` and no job is created.
   *  @param {{entity: "person"|"company", items: object[], fields?: string[], max_credits?: number, dry_run?: boolean,
   *    skip?: string[], skip_when?: "in_source"|"has_field", purpose?: string, use_own_records?: boolean}} body
   *  @param {RequestOptions} [options] @returns {Promise<any>} */
  enrichmentRequest(body, options) {
    return this.#send("POST", "/api/ext/enrichment-request", body, options);
  }

  /** Report the outcome of an address or a number that the workspace owns.
   *  @param {{email?: string, phone?: string, contact_id?: string, kind: string}} body @param {RequestOptions} [options]
   *  @returns {Promise<{feedback: {created_at: string}, refunded: number, refund: string, credits: {balance: number}}>} */
  feedback(body, options) {
    return this.#send("POST", "/api/feedback", body, options);
  }

  /** Find people of a company: the stored ones are in the response, and cost nothing; others are found by a job.
   *  @param {{company_domain?: string, company_name?: string, titles?: string[], limit?: number, page?: number,
   *    max_credits?: number, purpose?: string}} body
   *  @param {RequestOptions} [options] @returns {Promise<JobResponse>} */
  peopleSearch(body, options) {
    return this.#send("POST", "/api/people-searches", body, options);
  }

  /** Save a profile for the workspace; free. @param {{profile: object, list?: string|null, tags?: string[], note?: string|null}} body
   *  @param {RequestOptions} [options] @returns {Promise<{saved_profile: SavedProfile, created: boolean}>} */
  linkedinSave(body, options) {
    return this.#send("POST", "/api/ext/linkedin-save", body, options);
  }

  /** List the workspace's lists by name. @param {RequestOptions} [options] @returns {Promise<{lists: ContactList[], next_cursor: string|null}>} */
  lists(options) {
    return this.#send("GET", "/api/lists?limit=100", undefined, options);
  }

  /** Create a list, or get the one of that name. @param {{name: string}} body @param {RequestOptions} [options] @returns {Promise<ContactList>} */
  createList(body, options) {
    return this.#send("POST", "/api/lists", body, options);
  }

  /** Add up to 100 people to a list by id, and as many by their profiles, which are saved; free.
   *  @param {string} id @param {{add?: string[], profiles?: object[], remove?: string[]}} body @param {RequestOptions} [options]
   *  @returns {Promise<{added: number, removed: number, suppressed: number}>} */
  changeList(id, body, options) {
    return this.#send("POST", `/api/lists/${encodeURIComponent(id)}/contacts`, body, options);
  }

  /** @param {{kind?: "website"|"linkedin", hash?: string, hashes?: string[], prefix?: string, key?: string}} body
   *  @param {RequestOptions} [options] @returns {Promise<JobResponse>} */
  companyByHash(body, options) {
    return this.#send("POST", "/api/ext/company-by-hash", body, options);
  }

  /** @param {{hash?: string, hashes?: string[], department?: string, limit?: number, cursor?: string}} body
   *  @param {RequestOptions} [options] @returns {Promise<JobResponse>} */
  leadsByWebsiteHash(body, options) {
    return this.#send("POST", "/api/ext/leads-by-website-hash", body, options);
  }

  /** Download the signed filter of known websites and company pages; null if it is still the one with this `ETag`.
   *  @param {{bits?: 8|16, etag?: string|null, signal?: AbortSignal}} [options]
   *  @returns {Promise<{etag: string, bytes: ArrayBuffer}|null>} */
  async companyFilter({ bits = 16, etag = null, signal } = {}) {
    const headers = { Accept: "application/octet-stream", ...(etag && { "If-None-Match": etag }) };
    const path = `/api/ext/company-filter?bits=${bits}`;
    const { response, bytes } = await this.#fetch("GET", path, undefined, { signal, headers });
    if (response.status === 304) return null;
    return response.status === 200 ? { etag: response.headers.get("ETag") ?? "", bytes } : parse(response, bytes);
  }

  /** Download the signed rules by which the people of a page are read; null if they are still those with this `ETag`.
   *  @param {{etag?: string|null, signal?: AbortSignal}} [options]
   *  @returns {Promise<{etag: string, rules: string, signature: string}|null>} */
  async pageRules({ etag = null, signal } = {}) {
    /** @type {Record<string, string>} */
    const headers = etag ? { "If-None-Match": etag } : {};
    const { response, bytes } = await this.#fetch("GET", "/api/ext/page-rules", undefined, { signal, headers });
    if (response.status === 304) return null;
    return { ...parse(response, bytes), etag: response.headers.get("ETag") ?? "" };
  }

  /** Evaluate blinded hashes with the key of the company filter (blinding.js). @param {{key: string, blinded: string[]}} body
   *  @param {RequestOptions} [options] @returns {Promise<{evaluated: string[], proof: string}>} */
  evaluateBlinded(body, options) {
    return this.#send("POST", "/api/ext/company-filter/evaluate", body, options);
  }

  /** Poll a job. @param {string} id @param {RequestOptions} [options] @returns {Promise<JobResponse>} */
  job(id, options) {
    return this.#send("GET", `/api/ext/jobs?id=${encodeURIComponent(id)}`, undefined, options);
  }

  /** List the latest jobs of the workspace, or those of some kinds.
   *  @param {{kinds?: string[], limit?: number, cursor?: string, status?: JobStatus}} [query]
   *  @returns {Promise<{jobs: ListedJob[], next_cursor: string|null}>} */
  jobs({ kinds = [], ...query } = {}) {
    const search = new URLSearchParams(/** @type {any} */ (query));
    kinds.forEach((kind) => search.append("kind", kind));
    return this.#send("GET", `/api/ext/jobs?${search}`);
  }

  /** List the workspace's CRM connections. @param {RequestOptions} [options] @returns {Promise<{connections: CrmConnection[]}>} */
  crmConnections(options) {
    return this.#send("GET", "/api/crm/connections", undefined, options);
  }

  /** Push contacts to a CRM; free. @param {{connection_id: string, contact_ids: string[], dry_run?: boolean}} body
   *  @param {RequestOptions} [options] @returns {Promise<CrmPush>} */
  pushToCrm(body, options) {
    return this.#send("POST", "/api/crm/pushes", body, options);
  }

  /** Get a push with up to 500 receipts. @param {string} id @param {RequestOptions} [options] @returns {Promise<CrmPush>} */
  crmPush(id, options) {
    return this.#send("GET", `/api/crm/pushes/${encodeURIComponent(id)}?limit=500`, undefined, options);
  }

  /** Poll until the job has finished. @param {JobResponse} response @param {AbortSignal} [signal] @returns {Promise<JobResponse>} */
  async waitForJob(response, signal) {
    let pollAt = 0;
    while (response.job.finished_at === null) {
      const delay = pollAt - Date.now();
      if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
      pollAt = Date.now() + POLL_MILLISECONDS;
      response = await this.job(response.job.id, { wait: 20, signal });
    }
    return response;
  }

  /**
   * @param {string} method @param {string} path @param {object} [body] @param {RequestOptions} [options]
   * @returns {Promise<any>} the JSON of the response
   * @throws {ApiError}
   */
  async #send(method, path, body, options) {
    const { response, bytes } = await this.#fetch(method, path, body, options);
    return parse(response, bytes);
  }

  /**
   * @param {string} method @param {string} path @param {object} [body]
   * @param {RequestOptions & {headers?: Record<string, string>}} [options]
   * @throws {ApiError} without a response
   */
  async #fetch(method, path, body, { key, wait, signal, headers: other } = {}) {
    /** @type {Record<string, string>} */
    const headers = { Accept: "application/json", traceparent: traceparent(), ...other };
    if (Client.language) headers["Accept-Language"] = Client.language;
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (this.token) headers.Authorization = `Bearer ${this.token}`;
    if (key) headers["Idempotency-Key"] = key;
    if (wait !== undefined) headers.Prefer = wait > 0 ? `wait=${wait}` : "respond-async";
    const timeout = AbortSignal.timeout(((wait ?? 0) + REQUEST_TIMEOUT_SECONDS) * 1000);
    try {
      const response = await fetch(this.server + path, {
        method,
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
        credentials: "omit",
        cache: "no-store",
        redirect: "error",
        referrerPolicy: "no-referrer",
      });
      return { response, bytes: await response.arrayBuffer() };
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new ApiError({ code: "server_unreachable", status: 0, retryable: true });
    }
  }
}

/** Return a new trace for this request (W3C Trace Context), so that an operator finds what the service did for it. */
function traceparent() {
  return `00-${randomHex(16)}-${randomHex(8)}-01`;
}

/** @param {number} bytes */
function randomHex(bytes) {
  const values = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(values, (value) => value.toString(16).padStart(2, "0")).join("");
}

/** @param {Response} response @param {ArrayBuffer} bytes */
function parse(response, bytes) {
  if (response.status === 204) return null;
  let body = null;
  try {
    body = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    // not JSON: reported below
  }
  const isObject = body !== null && typeof body === "object";
  if (response.ok && isObject) return body;
  if (!response.ok && isObject && typeof body.code === "string") throw new ApiError(body);
  const isUnavailable = response.status >= 500; // the error page of a proxy in front of the service
  throw new ApiError({
    code: isUnavailable ? "server_unreachable" : "not_this_service",
    status: response.status,
    retryable: isUnavailable,
  });
}
