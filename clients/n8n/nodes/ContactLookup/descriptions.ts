import type { INodeProperties, INodePropertyOptions } from "n8n-workflow";

const show = (resource: string[], operation: string[]) => ({ show: { resource, operation } });

const OPERATIONS: Record<string, INodePropertyOptions[]> = {
  account: [
    { name: "Get Session", value: "session", action: "Get the account and its balance", description: "Account, balance, prices and purposes" },
    { name: "Sign In", value: "login", action: "Sign in with a password", description: "Create a session of another account" },
  ],
  company: [
    { name: "Find by Website", value: "companyByHash", action: "Find the company of a website", description: "The website is hashed before it is sent; free" },
    { name: "List People", value: "leadsByWebsiteHash", action: "List the people of a website", description: "Known people of a website's company; free" },
  ],
  enrichment: [
    { name: "Create", value: "enrichmentRequest", action: "Enrich up to 100 people or companies", description: "Spends at most the credits that you allow" },
  ],
  person: [
    { name: "Look Up", value: "lookup", action: "Look up a person", description: "What is stored, masked; free" },
    { name: "Reveal Email", value: "revealEmail", action: "Reveal the email addresses of a person", description: "Spends a credit if an address is found and not owned" },
    { name: "Reveal Phone", value: "revealPhone", action: "Reveal the phone numbers of a person", description: "Spends a credit if a number is found and not owned" },
    { name: "Save Profile", value: "linkedinSave", action: "Save a profile", description: "For the workspace; free" },
  ],
};

const NAMES = [
  { name: "Account", value: "account" },
  { name: "Company", value: "company" },
  { name: "Enrichment", value: "enrichment" },
  { name: "Person", value: "person" },
];

// eslint-disable-next-line n8n-nodes-base/node-param-default-missing -- it is the first of the options
const operations: INodeProperties[] = Object.entries(OPERATIONS).map(([resource, options]) => ({
  displayName: "Operation",
  name: "operation",
  type: "options",
  default: options[0].value,
  noDataExpression: true,
  displayOptions: { show: { resource: [resource] } },
  options,
}));

const text = (displayName: string, name: string, description?: string): INodeProperties => ({
  displayName,
  name,
  type: "string",
  default: "",
  ...(description ? { description } : {}),
});

const person: INodeProperties = {
  displayName: "Person",
  name: "subject",
  type: "collection",
  placeholder: "Add Field",
  default: {},
  description: "One of contact ID, LinkedIn URL, email or phone; or a name with a company",
  displayOptions: show(["person"], ["lookup", "revealEmail", "revealPhone"]),
  options: [
    text("Company Domain", "company_domain"),
    text("Company Name", "company_name"),
    text("Contact ID", "contact_id"),
    { displayName: "Email", name: "email", type: "string", placeholder: "name@email.com", default: "" },
    text("First Name", "first_name"),
    text("Full Name", "full_name"),
    text("Last Name", "last_name"),
    text("LinkedIn URL", "linkedin_url"),
    text("Phone", "phone", "With the country code, such as +12025550143"),
  ],
};

const shared: INodeProperties[] = [
  text("Client Reference", "client_reference", "Comes back with the result"),
  { displayName: "Max Age in Days", name: "max_age_days", type: "number", default: 365, description: "Ask providers if the stored value is older" },
  {
    displayName: "Minimum Status",
    name: "min_status",
    type: "options",
    options: [
      { name: "Accept All", value: "accept_all" },
      { name: "Any", value: "any" },
      { name: "Valid", value: "valid" },
    ],
    default: "valid",
  },
  text("Purpose", "purpose", "Why the values are needed, where the operator requires it"),
  { displayName: "Use Own Records", name: "use_own_records", type: "boolean", default: true, description: "Whether values of your CRM and address books are taken free" },
];

const types = (options: INodePropertyOptions[]): INodeProperties => ({
  displayName: "Types",
  name: "types",
  type: "multiOptions",
  options,
  default: ["work"],
});

const options = (operation: string, extra: INodeProperties[]): INodeProperties => ({
  displayName: "Options",
  name: "options",
  type: "collection",
  placeholder: "Add Option",
  default: {},
  displayOptions: show(["person"], [operation]),
  options: [...shared, ...extra],
});

const website: INodeProperties = {
  ...text("Website", "website", "A domain or URL"),
  placeholder: "acme.com",
  required: true,
  displayOptions: show(["company"], ["companyByHash", "leadsByWebsiteHash"]),
};

const leads: INodeProperties[] = [
  { displayName: "Limit", name: "limit", type: "number", typeOptions: { minValue: 1, maxValue: 100 }, default: 50, description: "Max number of results to return", displayOptions: show(["company"], ["leadsByWebsiteHash"]) },
  {
    displayName: "Filters",
    name: "filters",
    type: "collection",
    placeholder: "Add Filter",
    default: {},
    displayOptions: show(["company"], ["leadsByWebsiteHash"]),
    options: [
      text("Cursor", "cursor", "Next_cursor of the previous page"),
      text("Department", "department", "Such as sales"),
      { displayName: "Has", name: "has", type: "multiOptions", default: [], options: [{ name: "Email", value: "email" }, { name: "Phone", value: "phone" }] },
      text("Seniority", "seniority", "Such as vp"),
    ],
  },
];

const enrichment: INodeProperties[] = [
  { displayName: "Entity", name: "entity", type: "options", options: [{ name: "Company", value: "company" }, { name: "Person", value: "person" }], default: "person", displayOptions: show(["enrichment"], ["enrichmentRequest"]) },
  { displayName: "Items", name: "items", type: "json", default: '[{"subject": {"linkedin_url": "https://www.linkedin.com/in/ada-lovelace"}}]', description: "Up to 100 objects with a subject, or with a company if the entity is company", required: true, displayOptions: show(["enrichment"], ["enrichmentRequest"]) },
  { displayName: "Max Credits", name: "max_credits", type: "number", typeOptions: { minValue: 0 }, default: 10, description: "The most that this request may spend", displayOptions: show(["enrichment"], ["enrichmentRequest"]) },
  { displayName: "Fields", name: "fields", type: "multiOptions", default: ["profile", "company", "email"], options: [{ name: "Company", value: "company" }, { name: "Email", value: "email" }, { name: "Phone", value: "phone" }, { name: "Profile", value: "profile" }], displayOptions: show(["enrichment"], ["enrichmentRequest"]) },
  { displayName: "Estimate Only", name: "dry_run", type: "boolean", default: false, description: "Whether to return the price and do nothing", displayOptions: show(["enrichment"], ["enrichmentRequest"]) },
];

const profile: INodeProperties[] = [
  { ...text("LinkedIn URL", "linkedin_url"), required: true, displayOptions: show(["person"], ["linkedinSave"]) },
  {
    displayName: "Profile",
    name: "profile",
    type: "collection",
    placeholder: "Add Field",
    default: {},
    displayOptions: show(["person"], ["linkedinSave"]),
    options: [
      text("Company Domain", "company_domain"),
      text("Company Name", "company_name"),
      text("Full Name", "full_name"),
      text("Headline", "headline"),
      text("List", "list", "The list that the profile is put on"),
      text("Location", "location"),
      text("Note", "note"),
      text("Tags", "tags", "Separated by commas"),
      text("Title", "title"),
    ],
  },
];

const signIn: INodeProperties[] = [
  { displayName: "Email", name: "email", type: "string", placeholder: "name@email.com", default: "", required: true, displayOptions: show(["account"], ["login"]) },
  { displayName: "Password", name: "password", type: "string", typeOptions: { password: true }, default: "", required: true, displayOptions: show(["account"], ["login"]) },
];

const waiting: INodeProperties = {
  displayName: "Wait for up to (Seconds)",
  name: "wait",
  type: "number",
  typeOptions: { minValue: 0, maxValue: 3600 },
  default: 120,
  description: "How long to wait for the job. It goes on afterwards, and the trigger node receives job.finished.",
  displayOptions: { show: { operation: ["revealEmail", "revealPhone", "enrichmentRequest", "companyByHash", "leadsByWebsiteHash"] } },
};

export const properties: INodeProperties[] = [
  { displayName: "Resource", name: "resource", type: "options", noDataExpression: true, options: NAMES, default: "person" },
  ...operations,
  person,
  options("revealEmail", [types([{ name: "Personal", value: "personal" }, { name: "Work", value: "work" }])]),
  options("revealPhone", [
    types([
      { name: "Direct", value: "direct" },
      { name: "HQ", value: "hq" },
      { name: "Mobile", value: "mobile" },
      { name: "Other", value: "other" },
      { name: "Work", value: "work" },
    ]),
  ]),
  website,
  ...leads,
  ...enrichment,
  ...profile,
  ...signIn,
  waiting,
];
