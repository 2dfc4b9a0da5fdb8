// Reads the signed file of known websites and company pages, with no dependency but the browser's Ed25519.
// docs/website-privacy.md describes the file; app/domain/data/company_filter_vectors.json has test vectors. Other
// clients can copy this file.

const MAGIC = "CLF1";
const OPRF_MAGIC = "CLF2";
const HEADER_BYTES = 36;
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
const U64 = (1n << 64n) - 1n;

/** The file is malformed, or was not signed with this key. */
export class InvalidFilter extends Error {}

/** Return the filter of a file. @param {ArrayBuffer} file @param {string} publicKey 32 bytes in base64
 *  @returns {Promise<CompanyFilter>} @throws {InvalidFilter} */
export async function readCompanyFilter(file, publicKey) {
  if (file.byteLength < HEADER_BYTES + SIGNATURE_BYTES) throw new InvalidFilter("too short");
  const end = file.byteLength - SIGNATURE_BYTES;
  const signed = new Uint8Array(file, 0, end);
  const key = await importKey(publicKey);
  const isValid = await crypto.subtle.verify("Ed25519", key, new Uint8Array(file, end), signed);
  if (!isValid) throw new InvalidFilter("another signature");
  const filter = new CompanyFilter(new DataView(file, 0, end));
  if (![MAGIC, OPRF_MAGIC].includes(filter.magic) || filter.byteLength !== end)
    throw new InvalidFilter("another format");
  return filter;
}

/** @param {string} publicKey @throws {InvalidFilter} */
async function importKey(publicKey) {
  try {
    const raw = Uint8Array.from(atob(publicKey), (character) => character.charCodeAt(0));
    return await crypto.subtle.importKey("raw", raw, "Ed25519", false, ["verify"]);
  } catch (error) {
    throw new InvalidFilter("not a public key", { cause: error });
  }
}

/** A binary fuse filter (Graf and Lemire, 2022): it has every known hash, and one in 2^bits of all others. With an
 *  `oprfKey`, it has the outputs for the hashes (blinding.js) instead of the hashes. */
export class CompanyFilter {
  /** @param {DataView} view the file without its signature */
  constructor(view) {
    this.view = view;
    this.magic = String.fromCharCode(...[0, 1, 2, 3].map((position) => view.getUint8(position)));
    this.bits = view.getUint8(4);
    /** Rises with every file of the server. */
    this.version = Number(view.getBigUint64(8, true));
    this.entries = view.getUint32(16, true);
    this.seed = view.getBigUint64(20, true);
    this.segmentLength = view.getUint32(28, true);
    this.segmentCount = view.getUint32(32, true);
    this.start = HEADER_BYTES + (this.magic === OPRF_MAGIC ? KEY_BYTES : 0);
  }

  /** The length of the file without its signature. */
  get byteLength() {
    return this.start + ((this.segmentCount + 2) * this.segmentLength * this.bits) / 8;
  }

  /** The public key that blinded hashes are evaluated with, as 64 hexadecimal digits; null if the filter has hashes. */
  get oprfKey() {
    const key = new Uint8Array(this.view.buffer, this.view.byteOffset + HEADER_BYTES, this.start - HEADER_BYTES);
    return key.length === 0 ? null : [...key].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  /** Return whether a website or company page may be known. @param {string} hash its SHA-256, 64 hexadecimal digits, or
   *  its output */
  has(hash) {
    const digest = mix((BigInt(`0x${hash.slice(0, 16)}`) + this.seed) & U64);
    const mask = BigInt(this.segmentLength - 1);
    const first = Number((digest * BigInt(this.segmentCount * this.segmentLength)) >> 64n);
    const second = (first + this.segmentLength) ^ Number((digest >> 18n) & mask);
    const third = (first + 2 * this.segmentLength) ^ Number(digest & mask);
    const fingerprint = Number((digest ^ (digest >> 32n)) & ((1n << BigInt(this.bits)) - 1n));
    return (this.#at(first) ^ this.#at(second) ^ this.#at(third)) === fingerprint;
  }

  /** @param {number} position */
  #at(position) {
    return this.bits === 8
      ? this.view.getUint8(this.start + position)
      : this.view.getUint16(this.start + 2 * position, true);
  }
}

/** Return a 64-bit hash: the finalizer of MurmurHash3. @param {bigint} key */
function mix(key) {
  key = ((key ^ (key >> 33n)) * 0xff51afd7ed558ccdn) & U64;
  key = ((key ^ (key >> 33n)) * 0xc4ceb9fe1a85ec53n) & U64;
  return key ^ (key >> 33n);
}
