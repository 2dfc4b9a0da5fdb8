// Reads the people of a page. Only the files of this folder run in the page, in an isolated world that shares no JavaScript
// with it: first all of them, then `readPeopleInPage`. Each has one function and no other name, so they can run again.

// The types of all files of this folder: files without imports share them, too.
/** @typedef {import("./types.js").Rule} Rule */
/** @typedef {import("./types.js").Words} Words */
/** @typedef {import("./types.js").Limits} Limits */
/** @typedef {import("./types.js").Reading} Reading */
/** @typedef {import("./types.js").Box} Box */
/** @typedef {import("./types.js").PageAccess} PageAccess */

/** Return the people of the page by the rules, which are those of a site, or the generic ones.
 *  @param {Rule[]} rules @param {Words} words @param {Limits} limits */
function readPeopleInPage(rules, words, limits) {
  const isSite = rules.some((rule) => "hosts" in rule);
  const values = createValueParsers();
  const names = createNameParsers(words, values);
  const elements = createElements(limits, values);
  const readings = createReadings(limits);
  const page = { isSite, limits, ...values, ...names, ...elements, ...readings };
  const rows = createRows(page);
  const links = createLinkReaders(page, rows);
  const { readItems } = createItemReader(page, rows, links);
  const { readJsonLd } = createJsonLdReader(page);
  const { html, allowed, valueOf, emailIn, merged, isNobody } = page;
  /** @type {Record<string, (root: Element, rule: Rule) => Reading[]>} */
  const readers = {
    items: readItems,
    "json-ld": readJsonLd,
    "contact-links": links.readContactLinks,
    "profile-links": links.readProfileLinks,
    team: links.readTeam,
    addresses: links.readAddresses,
  };
  return readPage();

  /** Return the people of the first rule of a site that finds any, or those of all generic rules. */
  function readPage() {
    const address = location.href;
    const none = { kind: "none", rule: "", people: [], left_out: 0, address };
    for (const rule of isSite ? rules : []) {
      const found = merged(peopleOf(rule));
      if (found.people.length > 0) return { ...found, kind: kindOf(rule, found.people), rule: rule.name, address };
    }
    const { rule, ...found } = isSite ? { ...none, rule: "" } : readByGenericRules();
    return found.people.length < 2 ? none : { ...found, kind: "list", rule, address };
  }

  /** Return the people of all generic rules together; addresses alone count only if there is nobody else. */
  function readByGenericRules() {
    /** @type {Reading[]} */
    const all = [];
    let name = "";
    let more = 0;
    for (const rule of rules) {
      if (rule.read === "addresses" && all.length > 1) continue;
      const found = peopleOf(rule);
      const read = found.filter(({ isMore }) => !isMore);
      if (read.length > 0 && name === "") name = rule.name;
      all.push(...read);
      more = Math.max(more, found.length - read.length); // several rules count the same people
    }
    const { people, left_out } = merged(all);
    return { people, left_out: left_out + more, rule: name };
  }

  /** @param {Rule} rule @param {Reading[]} people */
  function kindOf(rule, people) {
    const isOne = rule.kind === "person" && (rule.read !== "addresses" || people.length === 1);
    return isOne ? "person" : "list";
  }

  /** @param {Rule} rule @returns {Reading[]} */
  function peopleOf(rule) {
    try {
      const root = rootOf(rule);
      const people = root ? readers[rule.read ?? "items"](root, rule) : [];
      const own = ownAddresses(rule);
      return people.filter((person) => !isNobody(person) && !own.has(person.email ?? ""));
    } catch {
      return []; // the page has replaced something that the rule uses
    }
  }

  /** Return the element that the rule limits the search to: the last visible one, which is the newest of a conversation.
   *  @param {Rule} rule */
  function rootOf(rule) {
    if (!rule.within) return html;
    for (const selector of rule.within) {
      const last = allowed(html, rule, [selector]).pop();
      if (last) return last;
    }
    return null;
  }

  /** @param {Rule} rule */
  function ownAddresses({ own = [] }) {
    const texts = own.map((source) => valueOf(html, [source], emailIn));
    return new Set(texts.filter((text) => text !== undefined));
  }
}
