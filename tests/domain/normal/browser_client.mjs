// What the extension's own module computes of the published vectors, in node.
//
//   node browser_client.mjs vectors.json
//
// prints, for every published vector of a section, the normal forms that a client arrives at and their hashes:
// one for a profile or an e-mail, none where there is none, and for a website its candidates, most specific
// first: a client without a Public Suffix List cannot tell which of them is the registrable domain.

import { readFileSync } from "node:fs";

const source = readFileSync(new URL("../../../extension/client/forms.js", import.meta.url), "utf8");
const forms = await import("data:text/javascript," + encodeURIComponent(source)); // a module, whatever node thinks of .js
const one = (form) => (form === null ? [] : [form]);
const NORMAL = {
  website: forms.websiteCandidates,
  profile_url: (text) => one(forms.profileUrl(text)),
  company_url: (text) => one(forms.companyUrl(text)),
  email: (text) => one(forms.emailAddress(text)),
};

const vectors = JSON.parse(readFileSync(process.argv[2], "utf8"));
const answers = {};
for (const [section, normal] of Object.entries(NORMAL)) {
  const all = vectors[section].map(({ input }) => normal(input).map(async (form) => ({ form, sha256: await forms.sha256(form) })));
  answers[section] = await Promise.all(all.map((found) => Promise.all(found)));
}
console.log(JSON.stringify(answers));
