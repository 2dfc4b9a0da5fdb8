// Reads the files of company_filter_vectors.json with the extension's own module, in Node.js, and prints for each size
// of fingerprints the header and which hashes it has; and for files that were changed the error.
//
//   node company_filter_reader.mjs company_filter_vectors.json

import { readFileSync } from "node:fs";

const source = readFileSync(new URL("../../../extension/client/company_filter.js", import.meta.url), "utf8");
const { readCompanyFilter } = await import("data:text/javascript," + encodeURIComponent(source));
const vectors = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { key, another_key: anotherKey, known, unknown } = vectors;
const bytes = (text) => Uint8Array.from(Buffer.from(text, "base64")).buffer;
const changed = (file, position) => new Uint8Array(file).map((byte, index) => byte ^ (index === position ? 1 : 0)).buffer;
const errorOf = (promise) => promise.then(() => null, (error) => error.constructor.name);

const answers = {};
for (const [bits, text] of Object.entries(vectors.files)) {
  const file = bytes(text);
  const filter = await readCompanyFilter(file, key);
  const changes = [0, 8, 40, file.byteLength - 1].map((position) => changed(file, position));
  answers[bits] = {
    header: { bits: filter.bits, version: filter.version, entries: filter.entries },
    known: known.map((hash) => filter.has(hash)),
    unknown: unknown.map((hash) => filter.has(hash)),
    refused: await Promise.all([...changes, file.slice(1), new ArrayBuffer(3)].map((one) => errorOf(readCompanyFilter(one, key)))),
    another_key: await errorOf(readCompanyFilter(file, anotherKey)),
  };
}
console.log(JSON.stringify(answers));
