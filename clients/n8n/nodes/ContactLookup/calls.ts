import { type IExecuteFunctions, NodeOperationError } from "n8n-workflow";

import { type Call, given, type Requests, type Subject, websiteHashes } from "../../shared/api";

type Enrichment = Requests["/api/ext/enrichment-request"];
type Options<Path extends keyof Requests> = Omit<Requests[Path], "subject">;
type Filters = Omit<Requests["/api/ext/leads-by-website-hash"], "hashes" | "limit">;

/** Return the request of each operation, from the parameters of an item. */
const CALLS: Record<string, (parameter: <T>(name: string) => T) => Call> = {
  session: () => ({ path: "/api/ext/session" }),
  login: (parameter) => ({
    path: "/api/ext/login",
    body: { email: parameter<string>("email"), password: parameter<string>("password") },
  }),
  lookup: (parameter) => ({ path: "/api/ext/lookup", body: { subject: given(parameter<Subject>("subject")) } }),
  revealEmail: (parameter) => ({
    path: "/api/ext/reveal/email",
    body: { ...given(parameter<Options<"/api/ext/reveal/email">>("options")), subject: given(parameter<Subject>("subject")) },
  }),
  revealPhone: (parameter) => ({
    path: "/api/ext/reveal/phone",
    body: { ...given(parameter<Options<"/api/ext/reveal/phone">>("options")), subject: given(parameter<Subject>("subject")) },
  }),
  enrichmentRequest: (parameter) => ({
    path: "/api/ext/enrichment-request",
    body: {
      entity: parameter<Enrichment["entity"]>("entity"),
      items: parsed<Enrichment["items"]>(parameter("items")),
      fields: parameter<Enrichment["fields"]>("fields"),
      max_credits: parameter<number>("max_credits"),
      dry_run: parameter<boolean>("dry_run"),
    },
  }),
  linkedinSave: (parameter) => {
    const { company_domain, company_name, list, note, tags, ...seen } = parameter<Record<string, string | undefined>>("profile");
    const company = given({ domain: company_domain, name: company_name });
    return {
      path: "/api/ext/linkedin-save",
      body: {
        profile: { linkedin_url: parameter<string>("linkedin_url"), ...given(seen), ...(Object.keys(company).length ? { company } : {}) },
        ...given({ list, note, tags: tags?.split(",").map((tag) => tag.trim()) }),
      },
    };
  },
  companyByHash: (parameter) => ({
    path: "/api/ext/company-by-hash",
    body: { hashes: websiteHashes(parameter<string>("website")) },
  }),
  leadsByWebsiteHash: (parameter) => ({
    path: "/api/ext/leads-by-website-hash",
    body: {
      hashes: websiteHashes(parameter<string>("website")),
      limit: parameter<number>("limit"),
      ...given(parameter<Filters>("filters")),
    },
  }),
};

/** Return the request of an item. */
export function callOf(context: IExecuteFunctions, itemIndex: number): Call {
  const operation = context.getNodeParameter("operation", itemIndex) as string;
  try {
    return CALLS[operation]((name) => context.getNodeParameter(name, itemIndex) as never);
  } catch (error) {
    throw new NodeOperationError(context.getNode(), error as Error, { itemIndex });
  }
}

function parsed<T>(value: unknown): T {
  return (typeof value === "string" ? JSON.parse(value) : value) as T;
}
