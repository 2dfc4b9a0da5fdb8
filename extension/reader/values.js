// The values in texts of a page: lines, addresses, phone numbers and links.

/** Return what finds a value in a text. */
function createValueParsers() {
  const SHORT = 200; // characters of a line that is kept
  const LONG = 2_000; // characters that are searched for an address
  const PROFILE = /^\/(?:in|pub)\/(?!(?:me|unavailable)(?:\/|$))[^/]+/;
  const MEMBER = /^\/(?:sales\/(?:lead|people)|talent\/profile|recruiter\/profile)\/[^/]+/;
  const ADDRESS = /[\p{L}\p{N}._%+'-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/u;

  /** Return a text without control characters, directions and surplus spaces. @param {string} text */
  function clean(text) {
    const invisible =
      /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
    return text
      .replace(invisible, "")
      .replace(/[\p{Cc}\p{Z}]+/gu, " ")
      .normalize("NFC")
      .trim();
  }

  /** @param {string} text */
  function lineIn(text) {
    const line = clean(text.split("\n").find((one) => clean(one) !== "") ?? "");
    return line === "" || line.length > SHORT ? undefined : line;
  }

  /** @param {string} text */
  function emailIn(text) {
    const start = text.slice(0, LONG).replace(/^mailto:/i, "");
    return clean(unescaped(start))
      .match(ADDRESS)?.[0]
      .replace(/^[.'%+-]+/, "")
      .toLowerCase();
  }

  /** @param {string} text */
  function phoneIn(text) {
    const phone = clean(
      unescaped(
        text
          .slice(0, SHORT)
          .replace(/^(?:tel|callto):/i, "")
          .split(";")[0],
      ),
    );
    const digits = phone.replace(/\D/g, "").length;
    return /^\+?[\d\s()./-]{5,39}$/.test(phone) && digits >= 5 && digits <= 17 ? phone : undefined;
  }

  /** @param {string} text */
  function unescaped(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  }

  /** Return the address of a profile, or of a lead or candidate, without its parameters. @param {string} text */
  function linkIn(text) {
    if (text === "" || text.length > LONG || !URL.canParse(text, location.href)) return undefined;
    const { protocol, hostname, origin, pathname } = new URL(text, location.href);
    const isLinkedin = /^https?:$/.test(protocol) && /(?:^|\.)linkedin\.com$/.test(hostname);
    return isLinkedin && (PROFILE.test(pathname) || MEMBER.test(pathname))
      ? origin + pathname.replace(/\/$/, "")
      : undefined;
  }

  /** @param {string} link */
  function isProfile(link) {
    return PROFILE.test(new URL(link).pathname);
  }

  return { LONG, ADDRESS, clean, lineIn, emailIn, phoneIn, linkIn, isProfile };
}
