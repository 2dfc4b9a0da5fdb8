// Checks what a server has signed, with no dependency but the browser's Ed25519. Other clients can copy this file.

/** Return whether the bytes were signed with the key. @param {Uint8Array<ArrayBuffer>} bytes @param {string} signature in base64
 *  @param {string} publicKey 32 bytes in base64 @returns {Promise<boolean>} also false if one of them is malformed */
export async function verifySignature(bytes, signature, publicKey) {
  try {
    const key = await crypto.subtle.importKey("raw", fromBase64(publicKey), "Ed25519", false, ["verify"]);
    return await crypto.subtle.verify("Ed25519", key, fromBase64(signature), bytes);
  } catch {
    return false;
  }
}

/** @param {string} text @throws {DOMException} it is not base64 */
const fromBase64 = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
