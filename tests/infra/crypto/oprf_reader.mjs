// Computes the vectors of oprf_vectors.json with the extension's own modules in Node.js, and the exchange of requests.json:
// blinds each input, and finalizes the reply of Python. Prints both as JSON.
//
//   node oprf_reader.mjs oprf_vectors.json

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const folder = mkdtempSync(join(tmpdir(), "oprf-"));
process.on("exit", () => rmSync(folder, { recursive: true }));
for (const part of ["client", "vendor"])
  cpSync(fileURLToPath(new URL(`../../../extension/${part}`, import.meta.url)), join(folder, part), { recursive: true });
writeFileSync(join(folder, "package.json"), '{"type": "module"}'); // the extension has none
const load = (name) => import(pathToFileURL(join(folder, name)));
const { voprf } = (await load("vendor/ristretto255_oprf.js")).ristretto255_oprf;
const { blind, InvalidProof } = await load("client/blinding.js");

const bytes = (text) => Uint8Array.from(Buffer.from(text, "hex"));
const hex = (raw) => Buffer.from(raw).toString("hex");
/** Return a source of the random bytes from which the library makes this scalar: that minus one, as 64 bytes. */
const fixed = (scalar) => (length) => {
  const raw = new Uint8Array(length);
  raw.set(bytes(scalar));
  for (let index = 0; ; index += 1) if (raw[index]-- > 0) return raw;
};

const { seed, key_info: info, public_key: publicKey, vectors, replies } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const keys = voprf.deriveKeyPair(bytes(seed), bytes(info));
const computed = vectors.map(({ inputs, blinds, blinded, evaluated, proof, proof_random: random }) => {
  const blindings = inputs.map((input, index) => voprf.blind(bytes(input), fixed(blinds[index])));
  const reply = voprf.blindEvaluateBatch(keys.secretKey, keys.publicKey, blinded.map(bytes), fixed(random));
  const items = inputs.map((input, index) => ({
    input: bytes(input), blind: blindings[index].blind, blinded: bytes(blinded[index]), evaluated: bytes(evaluated[index]),
  }));
  return {
    blinds: blindings.map((one) => hex(one.blind)),
    blinded: blindings.map((one) => hex(one.blinded)),
    evaluated: reply.evaluated.map(hex),
    proof: hex(reply.proof),
    outputs: voprf.finalizeBatch(items, bytes(publicKey), bytes(proof)).map(hex),
  };
});
const hash = "ab".repeat(32);
const errorOf = (fault) => {
  const { blinded, finalize } = blind([hash], publicKey);
  const { evaluated, proof } = voprf.blindEvaluateBatch(keys.secretKey, keys.publicKey, blinded.map(bytes));
  const reply = { evaluated: evaluated.map(hex), proof: hex(proof) };
  try {
    return hex(bytes(finalize(fault(reply))[0])) === hex(voprf.evaluate(keys.secretKey, bytes(hash))) ? null : "another output";
  } catch (error) {
    return error instanceof InvalidProof ? "InvalidProof" : String(error);
  }
};
const other = voprf.deriveKeyPair(bytes(seed), bytes("00"));
const taggedReply = ({ evaluated }) => {
  const { proof } = voprf.blindEvaluateBatch(other.secretKey, other.publicKey, evaluated.map(bytes));
  return { evaluated, proof: hex(proof) };
};
console.log(
  JSON.stringify({
    keys: { secret_key: hex(keys.secretKey), public_key: hex(keys.publicKey) },
    computed,
    faults: {
      none: errorOf((reply) => reply),
      another_key: errorOf(taggedReply),
      identity: errorOf((reply) => ({ ...reply, evaluated: ["00".repeat(32)] })),
      too_many: errorOf((reply) => ({ ...reply, evaluated: [...reply.evaluated, ...reply.evaluated] })),
      no_proof: errorOf((reply) => ({ ...reply, proof: "" })),
    },
  }),
);
