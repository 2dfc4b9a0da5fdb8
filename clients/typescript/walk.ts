/** The nine endpoints in the order of an extension, with the typed client at BASE, as EMAIL with PASSWORD. */
import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";

import { contactLookup, type ContactLookup } from "./src/index.js";

const PROFILE = "https://www.linkedin.com/in/sandbox-found";
const WEBSITE = "northlight-optics.example";
const waiting = { header: { Prefer: "wait=20" } };

/** Return the data of a response; throw what its problem says. */
function expectData<T>(answer: { data?: T; error?: { detail: string }; response: Response }): T {
  if (answer.data === undefined) throw new Error(answer.error?.detail ?? answer.response.statusText);
  console.log(new URL(answer.response.url).pathname, answer.response.status);
  return answer.data;
}

async function signIn(baseUrl: string): Promise<ContactLookup> {
  const body = { email: process.env["EMAIL"] ?? "", password: process.env["PASSWORD"] ?? "" };
  const session = expectData(await contactLookup(baseUrl).POST("/api/ext/login", { body }));
  return contactLookup(baseUrl, session.access_token);
}

async function people(client: ContactLookup): Promise<void> {
  const subject = { linkedin_url: PROFILE };
  const found = expectData(await client.POST("/api/ext/lookup", { body: { subject } }));
  assert.ok(found);
  const header = { Prefer: "wait=20", "Idempotency-Key": randomUUID() };
  const email = expectData(await client.POST("/api/ext/reveal/email", { params: { header }, body: { subject } }));
  assert.ok(email.result?.emails?.[0]?.email);
  const phone = await client.POST("/api/ext/reveal/phone", { params: waiting, body: { subject } });
  assert.equal(expectData(phone).job.outcome, "found");
  const items = [{ subject, client_reference: "row-1" }];
  const enriched = await client.POST("/api/ext/enrichment-request", {
    params: waiting,
    body: { entity: "person", items, fields: ["profile", "email"], max_credits: 2 },
  });
  assert.ok("job" in expectData(enriched));
  const profile = { linkedin_url: "https://www.linkedin.com/in/walk-typescript", title: "Engineer" };
  const saved = await client.POST("/api/ext/linkedin-save", { body: { profile, list: "Walk" } });
  assert.equal(expectData(saved).saved_profile?.list, "Walk");
}

async function companies(client: ContactLookup): Promise<void> {
  const hash = createHash("sha256").update(WEBSITE).digest("hex");
  const company = await client.POST("/api/ext/company-by-hash", { params: waiting, body: { hash } });
  assert.equal(expectData(company).result?.company?.domain, WEBSITE);
  const leads = await client.POST("/api/ext/leads-by-website-hash", { params: waiting, body: { hash, limit: 2 } });
  assert.ok(expectData(leads).result?.leads?.length);
}

const client = await signIn(process.env["BASE"] ?? "");
const session = expectData(await client.GET("/api/ext/session"));
assert.ok((session.credits.balance ?? 0) > 0);
await people(client);
await companies(client);
