// The whole HTTP client: one method per endpoint, nothing but fetch. Made to be copied by other clients.
//
//   const client = new Client("https://contacts.example.com", token);
//   const answer = await client.revealEmail({ subject: { contact_id } }, { key: crypto.randomUUID(), wait: 10 });

/** @typedef {"queued"|"running"|"succeeded"|"failed"|"canceled"|"expired"} Status */
/** @typedef {"found"|"partial"|"not_found"|"suppressed"|null} Outcome */
/** @typedef {"valid"|"accept_all"|"risky"|"invalid"|"unknown"} ValueStatus */

/**
 * How a person is named: any of the first four, or a name with a company.
 * @typedef {{contact_id?: string, linkedin_url?: string, email?: string, phone?: string, full_name?: string,
 *   first_name?: string, last_name?: string, company_domain?: string, company_name?: string}} Subject
 */
/** @typedef {{balance: number, reserved: number}} Credits */
/**
 * @typedef {{account: {id: string, email: string, name: string, role: string, api_access: boolean},
 *   workspace: {id: string, name: string}, auth: {kind: string, scopes: string[], expires_at: string|null},
 *   credits: Credits, prices: Record<string, number>, hash_lookup: {algorithm: string, prefix_length: number},
 *   providers: {name: string, healthy: boolean}[], server: {version: string, api_version: string}}} Session
 */
/** @typedef {Session & {access_token: string, token_type: string, expires_at: string}} SignedIn */
/** @typedef {{city?: string|null, country?: string|null}} Location */
/**
 * @typedef {{id: string, full_name: string|null, title: string|null, seniority: string|null,
 *   department: string|null, linkedin_url: string|null, location?: Location}} Contact
 */
/**
 * @typedef {{id: string, name: string|null, domain: string|null, linkedin_url: string|null,
 *   industry: string|null, headcount: string|null, location?: Location, contacts_count?: number,
 *   email_pattern?: {pattern: string, confidence: number, sample_size: number}|null,
 *   departments?: Record<string, number>}} Company
 */
/**
 * What is known and not yet owned, masked, and its price in credits.
 * @typedef {{field: "email"|"phone", type: string, masked: string, status: ValueStatus,
 *   last_verified_at: string|null, owned: boolean, credits: number}} Available
 */
/** @typedef {{provider: string, kind: string, first_seen_at: string, last_seen_at: string}} Source */
/**
 * @typedef {{email: string, type: string, status: ValueStatus, status_reasons: string[], confidence: number|null,
 *   primary: boolean, verified_at: string|null, sources: Source[]}} Email
 */
/**
 * @typedef {{e164: string, national: string, extension: string|null, type: string, line_type: string,
 *   status: ValueStatus, do_not_call: boolean|null, verified_at: string|null, sources: Source[]}} Phone
 */
/** @typedef {{id: string, list: string|null, tags: string[], note: string|null, updated_at: string}} Saved */
/**
 * @typedef {{outcome: "matched"|"ambiguous"|"none", match: {confidence: number, matched_on: string[]}|null,
 *   candidates: {confidence: number, contact: Contact, company: Company|null}[], contact: Contact|null,
 *   company: Company|null, available: Available[], revealed: {emails: Email[], phones: Phone[]},
 *   saved: Saved|null, suppressed: boolean}} Card
 */
/**
 * @typedef {{contact_id: string, full_name: string|null, title: string|null, seniority: string|null,
 *   department: string|null, linkedin_url: string|null, saved: Saved|null, available: Available[]}} Lead
 */
/**
 * @typedef {{id: string, kind: string, status: Status, outcome: Outcome, created_at: string,
 *   finished_at: string|null, progress: {done: number, total: number, asking?: string[]},
 *   client_reference?: string, error?: Problem}} Job
 */
/**
 * A job in the list; `subject` is null where nothing may be said of whom it was about.
 * @typedef {Job & {asked_by: {id: string, name: string}|null, subject: Subject|null, charged: number}} ListedJob
 */
/** @typedef {{provider: string, field?: string, outcome: string, status?: string, latency_ms: number, cost: number}} TraceLine */
/**
 * @typedef {{job: Job, result: any, trace: TraceLine[],
 *   credits: {charged: number, reserved: number, balance: number, already_owned: boolean}}} Answer
 */
/**
 * RFC 9457, with this service's extensions.
 * @typedef {{code: string, status: number, title?: string, detail?: string, retryable?: boolean, retry_after?: number,
 *   required?: number, balance?: number, errors?: {pointer: string, detail: string}[], request_id?: string}} Problem
 */
/**
 * `key` is the Idempotency-Key: make one per click and store it before sending; sent again it never pays twice.
 * `wait` is for how many seconds the server may hold the answer back (0 to 25).
 * @typedef {{key?: string, wait?: number, signal?: AbortSignal}} Options
 */

const PATIENCE_SECONDS = 15;

/** An answer that is no result. `status` is 0 where there was no answer at all. */
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
  /**
   * @param {string} server the service's address, such as `https://contacts.example.com`
   * @param {string|null} token a session token or an API key; none before signing in
   */
  constructor(server, token = null) {
    this.server = server.replace(/\/+$/, "");
    this.token = token;
  }

  /** @param {{email: string, password: string, client?: {name: string, version: string}}} body @returns {Promise<SignedIn>} */
  login(body) {
    return this.#send("POST", "/api/ext/login", body);
  }

  /** @returns {Promise<void>} */
  logout() {
    return this.#send("POST", "/api/ext/logout");
  }

  /** @returns {Promise<Session>} */
  session() {
    return this.#send("GET", "/api/ext/session");
  }

  /** Look one person up; free. @param {{subject: Subject}} body @param {Options} [options] @returns {Promise<Card>} */
  lookup(body, options) {
    return this.#send("POST", "/api/ext/lookup", body, options);
  }

  /** Look up to 50 people up. @param {{subjects: Subject[]}} body @param {Options} [options] @returns {Promise<{results: Card[]}>} */
  lookupMany(body, options) {
    return this.#send("POST", "/api/ext/lookup", body, options);
  }

  /** @param {{subject: Subject, types?: string[], min_status?: string, max_age_days?: number, client_reference?: string}} body
   *  @param {Options} [options] @returns {Promise<Answer>} */
  revealEmail(body, options) {
    return this.#send("POST", "/api/ext/reveal/email", body, options);
  }

  /** @param {{subject: Subject, types?: string[], min_status?: string, max_age_days?: number, client_reference?: string}} body
   *  @param {Options} [options] @returns {Promise<Answer>} */
  revealPhone(body, options) {
    return this.#send("POST", "/api/ext/reveal/phone", body, options);
  }

  /** With `dry_run` the answer is `{estimate}` and nothing is asked.
   *  @param {{entity: "person"|"company", items: object[], fields?: string[], max_credits?: number, dry_run?: boolean}} body
   *  @param {Options} [options] @returns {Promise<any>} */
  enrichmentRequest(body, options) {
    return this.#send("POST", "/api/ext/enrichment-request", body, options);
  }

  /** Save a profile for the workspace; free. @param {{profile: object, list?: string|null, tags?: string[], note?: string|null}} body
   *  @param {Options} [options] @returns {Promise<{saved_profile: Saved, created: boolean}>} */
  linkedinSave(body, options) {
    return this.#send("POST", "/api/ext/linkedin-save", body, options);
  }

  /** @param {{kind?: "website"|"linkedin", hash?: string, hashes?: string[], prefix?: string}} body
   *  @param {Options} [options] @returns {Promise<Answer>} */
  companyByHash(body, options) {
    return this.#send("POST", "/api/ext/company-by-hash", body, options);
  }

  /** @param {{hash?: string, hashes?: string[], department?: string, limit?: number, cursor?: string}} body
   *  @param {Options} [options] @returns {Promise<Answer>} */
  leadsByWebsiteHash(body, options) {
    return this.#send("POST", "/api/ext/leads-by-website-hash", body, options);
  }

  /** Poll a job. @param {string} id @param {Options} [options] @returns {Promise<Answer>} */
  job(id, options) {
    return this.#send("GET", `/api/ext/jobs?id=${encodeURIComponent(id)}`, undefined, options);
  }

  /** List the workspace's latest jobs. @param {{limit?: number, cursor?: string, status?: Status}} [query]
   *  @returns {Promise<{jobs: ListedJob[], next_cursor: string|null}>} */
  jobs(query = {}) {
    return this.#send("GET", `/api/ext/jobs?${new URLSearchParams(/** @type {any} */ (query))}`);
  }

  /** Wait for a job that is not over. @param {Answer} answer @param {AbortSignal} [signal] @returns {Promise<Answer>} */
  async over(answer, signal) {
    while (answer.job.finished_at === null) answer = await this.job(answer.job.id, { wait: 20, signal });
    return answer;
  }

  /**
   * @param {string} method @param {string} path @param {object} [body] @param {Options} [options]
   * @returns {Promise<any>} the answer's JSON
   * @throws {ApiError}
   */
  async #send(method, path, body, { key, wait, signal } = {}) {
    /** @type {Record<string, string>} */
    const headers = { Accept: "application/json" };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (this.token) headers.Authorization = `Bearer ${this.token}`;
    if (key) headers["Idempotency-Key"] = key;
    if (wait !== undefined) headers.Prefer = wait > 0 ? `wait=${wait}` : "respond-async";
    const inTime = AbortSignal.timeout(((wait ?? 0) + PATIENCE_SECONDS) * 1000);
    let response, text;
    try {
      response = await fetch(this.server + path, {
        method,
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: signal ? AbortSignal.any([signal, inTime]) : inTime,
        credentials: "omit",
        cache: "no-store",
        redirect: "error",
        referrerPolicy: "no-referrer",
      });
      text = await response.text();
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new ApiError({ code: "server_away", status: 0, retryable: true });
    }
    return read(response, text);
  }
}

/** @param {Response} response @param {string} text */
function read(response, text) {
  if (response.status === 204) return null;
  let body = null;
  try {
    body = JSON.parse(text);
  } catch {
    // told below
  }
  const isObject = body !== null && typeof body === "object";
  if (response.ok && isObject) return body;
  if (!response.ok && isObject && typeof body.code === "string") throw new ApiError(body);
  const away = response.status >= 500; // a proxy's own page, while the service behind it is away
  throw new ApiError({ code: away ? "server_away" : "not_this_service", status: response.status, retryable: away });
}
