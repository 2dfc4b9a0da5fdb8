/* The nine endpoints through the built node, at BASE with the API key KEY, and its trigger. Not part of the package. */

const { createHmac } = require("node:crypto");
const { ContactLookup } = require("./dist/nodes/ContactLookup/ContactLookup.node.js");
const { ContactLookupTrigger } = require("./dist/nodes/ContactLookupTrigger/ContactLookupTrigger.node.js");

const { BASE, KEY, EMAIL, PASSWORD } = process.env;
const FOUND = { linkedin_url: "https://www.linkedin.com/in/sandbox-found" };
const WEBSITE = "https://www.northlight-optics.example/team";
const node = { id: "n1", name: "Contact Lookup", type: "contactLookup", typeVersion: 1, position: [0, 0], parameters: {} };

/** Send a request as n8n does: with the credential's header, and with the full response. */
async function send(_credential, { method, baseURL, url, qs = {}, body, headers = {} }) {
  const query = new URLSearchParams(qs).toString();
  const response = await fetch(`${baseURL}${url}${query ? `?${query}` : ""}`, {
    method,
    headers: { ...headers, "Content-Type": "application/json", Authorization: `Bearer ${KEY}` },
    body: body && JSON.stringify(body),
  });
  return {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.json(),
  };
}

async function run(operation, parameters, continues = false) {
  const context = {
    getInputData: () => [{ json: {} }],
    getNode: () => node,
    getExecutionId: () => "execution-1",
    continueOnFail: () => continues,
    getCredentials: async () => ({ baseUrl: `${BASE}/`, apiKey: KEY }),
    getNodeParameter: (name, _item, fallback) => ({ operation, ...parameters })[name] ?? fallback,
    helpers: { httpRequestWithAuthentication: send },
  };
  const [[result]] = await new ContactLookup().execute.call(context);
  return result.json;
}

async function receive(secret, event, sent) {
  const body = Buffer.from(JSON.stringify(event));
  const timestamp = Math.floor(Date.now() / 1000);
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const signature = createHmac("sha256", key).update(`whk_1.${timestamp}.`).update(sent ?? body).digest("base64");
  let status = 200;
  const answer = { status: (code) => ((status = code), answer), json: () => answer };
  const result = await new ContactLookupTrigger().webhook.call({
    getRequestObject: () => ({ rawBody: body }),
    getHeaderData: () => ({ "webhook-id": "whk_1", "webhook-timestamp": String(timestamp), "webhook-signature": `v1,${signature}` }),
    getCredentials: async () => ({ secret }),
    getResponseObject: () => answer,
    getNodeParameter: () => ["job.finished"],
    helpers: { returnJsonArray: (items) => items.map((json) => ({ json })) },
  });
  return { status, events: result.workflowData?.[0].map((item) => item.json.type) ?? [] };
}

async function main() {
  const wait = 60;
  const first = await run("revealEmail", { subject: FOUND, options: { types: ["work"] }, wait });
  const again = await run("revealEmail", { subject: FOUND, options: { types: ["work"] }, wait });
  const said = {
    revealEmail: first.credits.charged,
    again: first.job.id === again.job.id && first.credits.balance === again.credits.balance,
    session: (await run("session", {})).credits.balance,
    login: (await run("login", { email: EMAIL, password: PASSWORD })).token_type,
    lookup: (await run("lookup", { subject: FOUND })).outcome,
    slow: (await run("revealEmail", { subject: { linkedin_url: "https://www.linkedin.com/in/sandbox-slow" }, options: {}, wait })).job.status,
    revealPhone: (await run("revealPhone", { subject: FOUND, options: {}, wait })).job.outcome,
    enrichmentRequest: (
      await run("enrichmentRequest", { entity: "person", items: JSON.stringify([{ subject: FOUND }]), fields: ["email"], max_credits: 2, dry_run: false, wait })
    ).credits.charged,
    linkedinSave: (
      await run("linkedinSave", { linkedin_url: "https://www.linkedin.com/in/walk-n8n", profile: { title: "Engineer", company_name: "Acme", list: "Walk", tags: "a, b" } })
    ).saved_profile.tags,
    companyByHash: (await run("companyByHash", { website: WEBSITE, wait })).result.company.name,
    leadsByWebsiteHash: (await run("leadsByWebsiteHash", { website: WEBSITE, limit: 2, filters: { has: ["email"] }, wait })).result.leads.length,
    refused: (await run("lookup", { subject: {} }, true)).error,
  };
  const secret = `whsec_${Buffer.from("a secret of twenty-four b").toString("base64")}`;
  const event = { type: "job.finished", data: {} };
  said.trigger = [
    await receive(secret, event),
    await receive(secret, { ...event, type: "person.erased" }),
    await receive(secret, event, Buffer.from("other")),
  ];
  console.log(JSON.stringify(said));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
