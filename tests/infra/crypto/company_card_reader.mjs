// Opens the cards of company_card_vectors.json with the extension's own module, in Node.js, and prints for each what its
// output opens: in the response as it is, and in responses and with keys that were changed.
//
//   node company_card_reader.mjs company_card_vectors.json

import { readFileSync } from "node:fs";

const source = readFileSync(new URL("../../../extension/client/company_cards.js", import.meta.url), "utf8");
const { openCard } = await import("data:text/javascript," + encodeURIComponent(source));
const { public_key: publicKey, another_public_key: anotherKey, cards } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const changed = (text, position) => {
  const bytes = Buffer.from(text, "base64");
  bytes[position < 0 ? bytes.length + position : position] ^= 1;
  return bytes.toString("base64");
};

const answers = [];
for (const [index, { id, output, prefix, sealed }] of cards.entries()) {
  const other = cards[(index + 1) % cards.length];
  const suffix = id.slice(prefix.length);
  const random = { suffix: "0".repeat(suffix.length), company: null, sealed: other.sealed };
  const openIn = (match, key = publicKey, of = output) => openCard(of, key, { prefix, matches: [random, ...match] });
  answers.push({
    opened: await openIn([{ suffix, company: null, sealed }]),
    without_it: await openIn([]),
    not_sealed: await openIn([{ suffix, company: null }]),
    another_card: await openIn([{ suffix, company: null, sealed: other.sealed }]),
    another_key: await openIn([{ suffix, company: null, sealed }], anotherKey),
    another_output: await openIn([{ suffix, company: null, sealed }], publicKey, id + other.output.slice(id.length)),
    changed_nonce: await openIn([{ suffix, company: null, sealed: changed(sealed, 0) }]),
    changed_tag: await openIn([{ suffix, company: null, sealed: changed(sealed, -1) }]),
    too_short: await openIn([{ suffix, company: null, sealed: "AAAA" }]),
    not_base64: await openIn([{ suffix, company: null, sealed: "?" }]),
  });
}
console.log(JSON.stringify(answers));
