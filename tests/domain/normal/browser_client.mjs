// Computes the normal forms and hashes of the published vectors with the extension's own module, in Node.js.
//
//   node browser_client.mjs vectors.json
//
// prints the normal forms and hashes for each vector of each section: at most one for a profile or an e-mail address,
// and for a website its candidates, the most specific first, because a client without a Public Suffix List cannot
// tell which of them is the registrable domain.

import { readFileSync } from "node:fs";

const source = readFileSync(new URL("../../../extension/client/normal_forms.js", import.meta.url), "utf8");
const forms = await import("data:text/javascript," + encodeURIComponent(source)); // as a module: Node.js takes .js for CommonJS
const list = (form) => (form === null ? [] : [form]);
const NORMAL = {
  website: forms.websiteCandidates,
  profile_url: (text) => list(forms.normalizeProfileUrl(text)),
  company_url: (text) => list(forms.normalizeCompanyUrl(text)),
  email: (text) => list(forms.normalizeEmail(text)),
};

const vectors = JSON.parse(readFileSync(process.argv[2], "utf8"));
const answers = {};
for (const [section, normal] of Object.entries(NORMAL)) {
  const all = vectors[section].map(({ input }) => normal(input).map(async (form) => ({ form, sha256: await forms.sha256(form) })));
  answers[section] = await Promise.all(all.map((found) => Promise.all(found)));
}
console.log(JSON.stringify(answers));
