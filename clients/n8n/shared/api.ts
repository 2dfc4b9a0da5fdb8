import { createHash } from "node:crypto";

import type { paths } from "./schema";

type Body<Path extends keyof paths> = paths[Path] extends {
  post: { requestBody: { content: { "application/json": infer Content } } };
}
  ? Content
  : never;

/** The requests of this node, by path, as the service's document types them. */
export interface Requests {
  "/api/ext/login": Body<"/api/ext/login">;
  "/api/ext/lookup": Body<"/api/ext/lookup">;
  "/api/ext/reveal/email": Body<"/api/ext/reveal/email">;
  "/api/ext/reveal/phone": Body<"/api/ext/reveal/phone">;
  "/api/ext/enrichment-request": Body<"/api/ext/enrichment-request">;
  "/api/ext/linkedin-save": Body<"/api/ext/linkedin-save">;
  "/api/ext/company-by-hash": Body<"/api/ext/company-by-hash">;
  "/api/ext/leads-by-website-hash": Body<"/api/ext/leads-by-website-hash">;
}

/** A request: GET of the session, or a POST with the body of its path. */
export type Call =
  | { path: "/api/ext/session" }
  | { [Path in keyof Requests]: { path: Path; body: Requests[Path] } }[keyof Requests];

export type Subject = NonNullable<Requests["/api/ext/reveal/email"]["subject"]>;

/** The paths whose answer is a job, which may have to be waited for. */
export const QUEUED: ReadonlySet<string> = new Set<keyof Requests>([
  "/api/ext/reveal/email",
  "/api/ext/reveal/phone",
  "/api/ext/enrichment-request",
  "/api/ext/company-by-hash",
  "/api/ext/leads-by-website-hash",
]);

const MAX_HASHES = 8;

/** Return the SHA-256 of a website's host and of its parent domains, the most specific first. */
export function websiteHashes(website: string): string[] {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(website) ? website : `https://${website}`;
  const labels = new URL(url).hostname.replace(/\.$/, "").split(".");
  const domains = labels.slice(0, -1).map((_, start) => labels.slice(start).join("."));
  return domains.slice(-MAX_HASHES).map((domain) => createHash("sha256").update(domain).digest("hex"));
}

/** Return the key of a request: the same when n8n sends it again, and for no other request of the execution. */
export function idempotencyKey(execution: string, node: string, call: Call): string {
  return `n8n-${createHash("sha256").update(JSON.stringify([execution, node, call])).digest("hex")}`;
}

/** Return the values that are set. */
export function given<T extends object>(values: T): Partial<T> {
  const kept = Object.entries(values).filter(([, value]) => value !== "" && value !== undefined && value !== null);
  return Object.fromEntries(kept) as Partial<T>;
}
