// The link that dials a number, in the form that the admin of the workspace chose.

const DEFAULT = "tel:{number}";
const UNSAFE = /^\s*(?:javascript|data|vbscript|file|blob|filesystem|about|chrome|http):/i;

let form = DEFAULT;

/** Use this form from now on; one that could do anything but dial is not used. @param {string} [chosen] */
export function setDialLink(chosen = DEFAULT) {
  form = UNSAFE.test(chosen) || !/\{(?:number|digits)\}/.test(chosen) ? DEFAULT : chosen;
}

/** @param {string} e164 */
export function dialUrl(e164) {
  const isEncoded = form.startsWith("https:") || form.split("{")[0].includes("?");
  const number = isEncoded ? encodeURIComponent(e164) : e164;
  return form.replace("{number}", number).replace("{digits}", e164.replace(/^\+/, ""));
}
