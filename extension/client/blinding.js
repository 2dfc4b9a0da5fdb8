// Learns the outputs of a keyed company filter from the server, which does not learn the hashes: VOPRF(ristretto255,
// SHA-512) of RFC 9497. docs/website-privacy.md describes it. Other clients can copy this file and the one it imports.

import { ristretto255_oprf } from "../vendor/ristretto255_oprf.js";

const { voprf } = ristretto255_oprf;

/** The server's reply was not computed with the key of the file, which is the same for everyone. */
export class InvalidProof extends Error {}

/** Return what is sent for these hashes, and a function that reads the reply: it returns the output for each hash, as 128
 *  hexadecimal digits, or throws InvalidProof.
 *  @param {string[]} hashes of 64 hexadecimal digits @param {string} publicKey of the file, 64 hexadecimal digits */
export function blind(hashes, publicKey) {
  const inputs = hashes.map(bytes);
  const blinded = inputs.map((input) => voprf.blind(input));
  return {
    blinded: blinded.map((one) => digits(one.blinded)),
    /** @param {{evaluated: string[], proof: string}} reply @returns {string[]} */
    finalize({ evaluated, proof }) {
      if (evaluated.length !== inputs.length) throw new InvalidProof("another number of elements");
      const items = inputs.map((input, index) => ({ input, ...blinded[index], evaluated: bytes(evaluated[index]) }));
      try {
        return voprf.finalizeBatch(items, bytes(publicKey), bytes(proof)).map(digits);
      } catch (error) {
        throw new InvalidProof("another key", { cause: error });
      }
    },
  };
}

/** @param {string} text */
const bytes = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** @param {Uint8Array} raw */
const digits = (raw) => [...raw].map((byte) => byte.toString(16).padStart(2, "0")).join("");
