// Names, job titles and what is neither, by the words of the rules.

/** @param {Words} words @param {ReturnType<typeof createValueParsers>} values */
function createNameParsers(words, { LONG, ADDRESS, clean, lineIn, phoneIn }) {
  const BRACKETED = new RegExp(`[\\s<(\\[:,;–—-]*${ADDRESS.source}[>)\\]]*`, "u");
  const escaped = (/** @type {string} */ text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const setOf = (/** @type {string[]} */ list) => new Set(list.map((word) => word.toLowerCase()));
  const viewProfile = words.view_profile.map((text) => new RegExp(`^${escaped(text).replace("\\{\\}", "(.+)")}$`, "i"));
  const [members, badges, pronouns] = [setOf(words.members), setOf(words.badges), setOf(words.pronouns)];
  const [notNames, particles, roles] = [setOf(words.not_names), setOf(words.particles), setOf(words.roles)];
  const phrases = words.not_names.filter((text) => text.includes(" ")).map((text) => text.toLowerCase());
  const titleWord = wordPattern(words.titles);
  const endBadge = new RegExp(`[\\s,]+(?:${words.badges.filter(isEnding).map(escaped).join("|") || "$^"})$`, "i");

  /** @param {string[]} list */
  function wordPattern(list) {
    const isPart = (/** @type {string} */ word) => word.length > 4 || !/^\p{Script=Latin}+$/u.test(word);
    const parts = list.filter(isPart).map(escaped).join("|");
    const whole = list
      .filter((word) => !isPart(word))
      .map(escaped)
      .join("|");
    return new RegExp(`${parts || "$^"}|(?<!\\p{L})(?:${whole || "$^"})(?!\\p{L})`, "iu");
  }

  /** Return whether a badge may stand after a name without a separator. @param {string} badge */
  function isEnding(badge) {
    return badge.length > 3 || /\d/.test(badge);
  }

  /** Return the name in the first line of a text; an empty one if the site hides it, undefined if there is none.
   *  @param {string} text */
  function nameIn(text) {
    const line = lineIn(text.slice(0, LONG)) ?? "";
    const viewed = viewProfile.map((view) => line.match(view)?.[1]).find((name) => name !== undefined) ?? line;
    const [first] = viewed.replace(BRACKETED, "").split(/\s*[·•|]\s+|\s+[·•|]\s*/);
    const name = withoutBadges(first.replace(/^(?:\(\d+\+?\)|[^\p{L}])+/u, ""));
    if (members.has(name.toLowerCase())) return "";
    const isName =
      /\p{L}/u.test(name) && name.length <= 120 && !badges.has(name.toLowerCase()) && !/[<>{}=\\/]/.test(name);
    return isName ? name : undefined;
  }

  /** Return a name without pronouns, counts, pictures and degrees at its end. @param {string} text */
  function withoutBadges(text) {
    let name = text.replace(/\p{Extended_Pictographic}\ufe0f?/gu, "").trim();
    for (let round = 0; round < 4; round += 1) {
      const end = name.match(/\s*\(([^()]*)\)$/);
      const pronoun = name.match(/[\s,]+(\p{L}+)\/\p{L}+(?:\/\p{L}+)?$/u);
      if (end && isAside(end[1])) name = name.slice(0, end.index);
      else if (pronoun && pronouns.has(pronoun[1].toLowerCase())) name = name.slice(0, pronoun.index);
      else name = name.replace(endBadge, "").replace(/\s+\d+\+?$/, "");
    }
    return name.replace(/[\s,;:–—-]+$/, "");
  }

  /** Return whether what stands in parentheses is no part of the name. @param {string} text */
  function isAside(text) {
    const lower = text.trim().toLowerCase();
    return lower === "" || badges.has(lower) || pronouns.has(lower.split(/\s*[/,]\s*/)[0]) || /^\d+\+?$/.test(lower);
  }

  /** Return whether a text has the form of a person's name. @param {string} text */
  function looksLikeName(text) {
    const line = clean(text).split(",")[0];
    const lower = line.toLowerCase();
    if (notNames.has(lower) || phrases.some((phrase) => lower.includes(phrase)) || titleWord.test(line)) return false;
    if (/^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]{1,5}[\s・]?\p{L}{1,5}$/u.test(line))
      return true;
    const tokens = line.split(" ");
    const isKnown = tokens.every(
      (token) =>
        particles.has(token.toLowerCase()) ||
        /^(?:\p{Ll}{1,3}['’-])?[\p{Lu}\p{Lt}\p{Lo}][\p{L}\p{M}'’.-]*$/u.test(token),
    );
    const named = tokens.filter((token) => !particles.has(token.toLowerCase()));
    return (
      isKnown && tokens.length <= 6 && named.length >= 2 && !named.some((token) => notNames.has(token.toLowerCase()))
    );
  }

  /** Return the name at the start of a line, and a job title after it, as in "Ada Lovelace, Chief Engineer". @param {string} text */
  function nameAndTitle(text) {
    const [, first, rest] = text.match(/^([^\n]{1,120}?)(?:\s*[,:|]\s+|\s+[–—-]\s+)([^\n]+)/) ?? [];
    const isTitle = rest !== undefined && titleWord.test(rest);
    return { name: nameIn(isTitle ? first : text), title: isTitle ? lineIn(rest) : undefined };
  }

  /** @param {{name: string|undefined}} line */
  function isNameOrHidden({ name }) {
    return name !== undefined && (name === "" || looksLikeName(name));
  }

  /** @param {string} line */
  function isTelling(line) {
    const lower = line.toLowerCase();
    const isBadge = /^[·•|]/.test(line) || badges.has(lower) || pronouns.has(lower.replace(/[()]/g, "").split("/")[0]);
    const isContact = line.includes("@") || phoneIn(line) !== undefined || !/\p{L}/u.test(line);
    return !isBadge && !isContact && !notNames.has(lower);
  }

  /** Return whether an address is a person's, not that of an office. @param {string|undefined} email */
  function isPersonal(email) {
    return email !== undefined && !roles.has(email.split("@")[0].replace(/[\d._-]+$/, ""));
  }

  return { viewProfile, titleWord, nameIn, looksLikeName, nameAndTitle, isNameOrHidden, isTelling, isPersonal };
}
