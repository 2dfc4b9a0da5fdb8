// Opens the company of a website among the sealed ones of a keyed prefix, with no dependency but the browser's HKDF and
// AES-GCM. docs/website-privacy.md describes them; app/domain/data/company_card_vectors.json has test vectors. Other
// clients can copy this file.

/** @typedef {import("./api.js").Company} Company */

const ID_DIGITS = 32;
const NONCE_BYTES = 12;
const INFO = "company card";

/** Return the company that the output opens, or null if none of the matches is its.
 *  @param {string} output of the hash, 128 hexadecimal digits (blinding.js) @param {string} publicKey of the file
 *  @param {{prefix: string, matches: {suffix: string, sealed?: string}[]}} response @returns {Promise<Company|null>} */
export async function openCard(output, publicKey, { prefix, matches }) {
  const id = output.slice(0, ID_DIGITS);
  const sealed = matches.find(({ suffix }) => prefix + suffix === id)?.sealed;
  if (!sealed) return null;
  try {
    const bytes = Uint8Array.from(atob(sealed), (character) => character.charCodeAt(0));
    const cipher = { name: "AES-GCM", iv: bytes.subarray(0, NONCE_BYTES), additionalData: fromHex(publicKey + id) };
    const card = await crypto.subtle.decrypt(cipher, await keyOf(output), bytes.subarray(NONCE_BYTES));
    return JSON.parse(new TextDecoder().decode(card));
  } catch (error) {
    if (error instanceof DOMException) return null; // sealed with another key, or changed
    throw error;
  }
}

/** @param {string} output */
async function keyOf(output) {
  const secret = await crypto.subtle.importKey("raw", fromHex(output), "HKDF", false, ["deriveKey"]);
  const derivation = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: new TextEncoder().encode(INFO) };
  return crypto.subtle.deriveKey(derivation, secret, { name: "AES-GCM", length: 256 }, false, ["decrypt"]);
}

/** @param {string} text */
const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
