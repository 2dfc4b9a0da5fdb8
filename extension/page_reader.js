// Reads the people of a page. Only this function runs in the page, in an isolated world that shares no JavaScript with it.

/** `read` says how the page is read, by default by the selectors. docs/page-lists.md explains the fields.
 *  @typedef {{name: string, kind?: "list"|"person", within?: string[], item?: string[], except?: string[], own?: string[],
 *    read?: "items"|"json-ld"|"contact-links"|"profile-links"|"team"|"addresses", fields?: Record<string, string[]>,
 *    lines?: string[]}} Rule */
/** @typedef {Rule & {hosts: string[], paths?: string[]}} SiteRule */
/** @typedef {"view_profile"|"members"|"badges"|"pronouns"|"titles"|"not_names"|"particles"|"roles"} WordList */
/** @typedef {Record<WordList, string[]>} Words */
/** @typedef {{version: number, off: string[], apps: string[], sites: SiteRule[], generic: Rule[], words: Words}} PageRules */
/** @typedef {{people: number, elements: number, milliseconds: number, text: number}} Limits */
/** What is read of a person; `link` is a profile, a lead or a candidate, and `other_link` certainly the same person's of the
 *  other kind. `isMore` is one who is only counted.
 *  @typedef {{full_name?: string, title?: string, company_name?: string, location?: string, email?: string, phone?: string,
 *    link?: string, other_link?: string, isMore?: boolean}} Reading */
/** The part of the page in which something can be seen, in pixels of the viewport.
 *  @typedef {{left: number, top: number, right: number, bottom: number}} Box */

/** Return the people of the page by the rules, which are those of a site, or the generic ones. It uses nothing of this
 *  module, as it is sent to the page as text.
 *  @param {Rule[]} rules @param {Words} words @param {Limits} limits */
export function readInPage(rules, words, limits) {
  const SHORT = 200; // characters of a line that is kept
  const LONG = 2_000; // characters that are searched for an address
  const LEVELS = 8; // from a link to its row
  const ROW_TEXT = 600; // characters of a row
  const MEMBERS = 3; // that a team has at least
  const PROFILE = /^\/(?:in|pub)\/(?!(?:me|unavailable)(?:\/|$))[^/]+/;
  const MEMBER = /^\/(?:sales\/(?:lead|people)|talent\/profile|recruiter\/profile)\/[^/]+/;
  const ADDRESS = /[\p{L}\p{N}._%+'-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/u;
  const BRACKETED = new RegExp(`[\\s<(\\[:,;–—-]*${ADDRESS.source}[>)\\]]*`, "u");
  const NOWHERE = { left: 0, top: 0, right: 0, bottom: 0 };
  const escaped = (/** @type {string} */ text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const setOf = (/** @type {string[]} */ list) => new Set(list.map((word) => word.toLowerCase()));
  const viewProfile = words.view_profile.map((text) => new RegExp(`^${escaped(text).replace("\\{\\}", "(.+)")}$`, "i"));
  const [members, badges, pronouns] = [setOf(words.members), setOf(words.badges), setOf(words.pronouns)];
  const [notNames, particles, roles] = [setOf(words.not_names), setOf(words.particles), setOf(words.roles)];
  const phrases = words.not_names.filter((text) => text.includes(" ")).map((text) => text.toLowerCase());
  const titleWord = wordPattern(words.titles);
  const endBadge = new RegExp(`[\\s,]+(?:${words.badges.filter(isEnding).map(escaped).join("|") || "$^"})$`, "i");
  const isSite = rules.some((rule) => "hosts" in rule);
  const { createTreeWalker, createRange } = Document.prototype; // the page may name an element like them
  const range = createRange.call(document);
  let elementsLeft = limits.elements;
  const html = /** @type {HTMLElement} */ (getter(Document.prototype, "documentElement").call(document));
  html.getBoundingClientRect(); // the layout, if the page has just changed, takes none of the time
  const until = performance.now() + limits.milliseconds;
  const getParent = getter(Node.prototype, "parentElement"); // a form may have an input of this name
  /** @type {Map<Element, Box>} */
  const boxes = new Map();
  /** @type {Map<Element, string|undefined>} */
  const addresses = new Map();
  /** @type {string|null} */
  let pageText = null;
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
      const people = root ? readers()[rule.read ?? "items"](root, rule) : [];
      const own = ownAddresses(rule);
      return people.filter((person) => !isNobody(person) && !own.has(person.email ?? ""));
    } catch {
      return []; // the page has replaced something that the rule uses
    }
  }

  /** @returns {Record<string, (root: Element, rule: Rule) => Reading[]>} */
  function readers() {
    return {
      items: readItems,
      "json-ld": readJsonLd,
      "contact-links": readContactLinks,
      "profile-links": readProfileLinks,
      team: readTeam,
      addresses: readAddresses,
    };
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

  /** Return a reading of each, in full as long as a list may have it; the others are only counted.
   *  @template T @param {T[]} list @param {(one: T) => Reading} read @returns {Reading[]} */
  function readingsOf(list, read) {
    const most = 2 * limits.people; // some may be of the same person
    return list.map((one, index) => (index < most ? read(one) : { isMore: true }));
  }

  /** @param {Reading} person */
  function isNobody({ full_name, email, link, isMore }) {
    return !isMore && (full_name === "" || (!full_name && !email && !link));
  }

  /** Join the readings of the same person, and keep as many people as a list may have. @param {Reading[]} readings */
  function merged(readings) {
    /** @type {Map<string, Reading>} */
    const byKey = new Map();
    /** @type {Reading[]} */
    const people = [];
    let left_out = 0;
    for (const reading of readings) {
      const keys = keysOf(reading);
      const same = keys.map((key) => byKey.get(key)).find((other) => other && isSame(other, reading));
      if (same && (same.other_link ?? reading.other_link) !== (reading.other_link ?? same.other_link)) {
        delete same.other_link;
        delete reading.other_link;
      }
      if (same) Object.assign(same, { ...reading, ...same });
      else if (people.length < limits.people && !reading.isMore) people.push(reading);
      else left_out += 1;
      for (const key of keys) if (!byKey.has(key)) byKey.set(key, same ?? reading);
    }
    return { people, left_out };
  }

  /** @param {Reading} person */
  function keysOf({ email, link, full_name }) {
    return [email, link, full_name?.toLowerCase()].filter((key) => key !== undefined);
  }

  /** Return whether nothing contradicts that two readings with a common key are of one person.
   *  @param {Reading} one @param {Reading} other */
  function isSame(one, other) {
    const agree = (/** @type {"email"|"link"} */ field) => !one[field] || !other[field] || one[field] === other[field];
    return one.full_name?.toLowerCase() === other.full_name?.toLowerCase()
      ? agree("email") && agree("link")
      : !one.full_name || !other.full_name;
  }

  // ---- By selectors

  /** @param {Element} root @param {Rule} rule */
  function readItems(root, rule) {
    const items = rule.item ? itemsIn(root, rule) : [root];
    const people = withoutShared(readingsOf(items, (item) => personIn(item, rule)));
    const isList = rule.item && rule.kind === "list";
    return people.length === 0 && isList ? readProfileLinks(root, rule) : people;
  }

  /** Return the visible elements of people, without those in one another. @param {Element} root @param {Rule} rule */
  function itemsIn(root, rule) {
    const [chosen, around] = [new Set(), new Set()];
    for (const item of allowed(root, rule, rule.item ?? [])) {
      const outer = ancestorsOf(item);
      if (around.has(item) || outer.some((element) => chosen.has(element))) continue;
      chosen.add(item);
      outer.forEach((element) => around.add(element));
    }
    return [...chosen];
  }

  /** Return the visible elements that the rule does not except. @param {Element} root @param {Rule} rule @param {string[]} selectors */
  function allowed(root, { except = [] }, selectors) {
    const found = selectors.flatMap((selector) => find(root, selector));
    const isExcepted = (/** @type {Element} */ element) => except.some((selector) => closest(element, selector));
    const isInTime = () => performance.now() < until - limits.milliseconds / 2; // the rest is for reading them
    return found.filter((element) => isInTime() && isVisible(element) && !isExcepted(element));
  }

  /** @param {Element} element */
  function ancestorsOf(element) {
    const outer = [];
    for (let one = parentOf(element); one && outer.length < 50; one = parentOf(one)) outer.push(one);
    return outer;
  }

  /** @param {Element} item @param {Rule} rule @returns {Reading} */
  function personIn(item, { fields = {}, lines = [] }) {
    /** @type {Reading} */
    const person = compact({
      full_name: valueOf(item, fields.full_name, nameIn),
      title: valueOf(item, fields.title, lineIn),
      company_name: valueOf(item, fields.company_name, lineIn),
      location: valueOf(item, fields.location, lineIn),
      email: valueOf(item, fields.email, emailIn),
      phone: valueOf(item, fields.phone, phoneIn),
      link: valueOf(item, fields.link, linkIn),
    });
    Object.assign(person, compact({ other_link: otherLink(item, fields.other_link, person) }));
    const missing = lines.filter((label) => !(label in person));
    if (missing.length === 0) return person;
    const rest = linesAfterName(item, person).filter((line) => !Object.values(person).includes(line));
    return { ...person, ...compact(Object.fromEntries(missing.map((label, index) => [label, rest[index]]))) };
  }

  /** Return the person's link of the other kind: beside that of a lead, the profile, and the other way round. Rows show links
   *  of others as well, such as shared connections, so it counts only if there is one of each kind, and the profile names
   *  the person. @param {Element} item @param {string[]|undefined} sources @param {Reading} person */
  function otherLink(item, sources, { full_name, link }) {
    if (!sources || !full_name || !link) return undefined;
    const anchors = find(item, "a[href]").slice(0, 200).filter(isVisible);
    const targetOf = (/** @type {Element} */ anchor) => linkIn(attributeOf(anchor, "href"));
    const found = [link, ...anchors.map(targetOf), sources.includes("page") ? linkIn(location.href) : undefined];
    /** @type {Map<string, string>} */
    const targets = new Map(); // by what comes before the search that led to a lead: /sales/lead/<id>,NAME_SEARCH,<token>
    for (const target of found) if (target) targets.set(target.split(",")[0], target);
    targets.delete(link.split(",")[0]);
    const [other, ...more] = targets.values();
    const profile = [link, other].find((target) => target && isProfile(target));
    if (!other || more.length > 0 || isProfile(other) === isProfile(link)) return undefined;
    const names = anchors.filter((anchor) => targetOf(anchor) === profile).map(labelOf);
    return names.some((label) => isOf(label, profile ?? "", full_name)) ? other : undefined;
  }

  /** @param {string} link */
  function isProfile(link) {
    return PROFILE.test(new URL(link).pathname);
  }

  /** @param {Element} anchor */
  function labelOf(anchor) {
    return ["aria-label", "title"]
      .map((name) => anchor.getAttribute(name) ?? "")
      .concat(textOf(anchor))
      .join("\n");
  }

  /** Return whether the link to a profile is of the person: its text has the name, or is nothing but LinkedIn's, and its
   *  address has the name.
   *  @param {string} label @param {string} profile @param {string} name */
  function isOf(label, profile, name) {
    if (label.toLowerCase().includes(name.toLowerCase())) return true;
    const plain = (/** @type {string} */ text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
    const slug = plain(decodeURIComponent(profile)).split("/in/")[1] ?? "";
    const words = plain(name)
      .split(/[^\p{L}\p{N}]+/u)
      .filter(Boolean);
    const isGeneric = label.length <= 60 && /^\s*$|linkedin/i.test(label);
    return isGeneric && words.length > 1 && words.every((word) => slug.split("-").includes(word));
  }

  /** Drop a second link that several people have, because it is nobody's. @param {Reading[]} people */
  function withoutShared(people) {
    const links = people.flatMap(({ link, other_link: other }) => [link, other]);
    for (const person of people)
      if (links.filter((link) => link === person.other_link).length > 1) delete person.other_link;
    return people;
  }

  /** Return the first value that one of the sources has: `selector`, `selector @attribute`, `.` for the element itself, or
   *  `page` for the address of the page.
   *  @param {Element} item @param {string[]|undefined} sources @param {(text: string) => string|undefined} parse */
  function valueOf(item, sources, parse) {
    for (const source of sources ?? []) {
      if (source === "page") return parse(location.href);
      const [, selector, attribute] = source.match(/^(.*?)\s*(?:@([\w-]+))?$/) ?? [];
      const elements = selector === "" || selector === "." ? [item] : find(item, selector);
      for (const element of elements.slice(0, 20)) {
        const value = isVisible(element)
          ? parse(attribute ? attributeOf(element, attribute) : textOf(element))
          : undefined;
        if (value !== undefined) return value;
      }
    }
    return undefined;
  }

  /** @param {Element} element @param {string} name */
  function attributeOf(element, name) {
    return name === "href" && element instanceof HTMLAnchorElement ? element.href : (element.getAttribute(name) ?? "");
  }

  /** @param {Element} element */
  function textOf(element) {
    const isField =
      element instanceof HTMLTextAreaElement || (element instanceof HTMLInputElement && element.type !== "password");
    return isField ? element.value : linesOf(element).join("\n");
  }

  // ---- By links and structure

  /** @param {Element} root @param {Rule} rule @returns {Reading[]} */
  function readContactLinks(root, rule) {
    const emailOf = (/** @type {Element} */ link) => emailIn(attributeOf(link, "href"));
    const phoneOf = (/** @type {Element} */ link) => phoneIn(attributeOf(link, "href"));
    const links = allowed(root, rule, ["a[href^='mailto:' i],a[href^='tel:' i]"]);
    const mails = rowsOf(
      links.filter((link) => isPersonal(emailOf(link))),
      emailOf,
    );
    const around = new Set(mails.map(({ row }) => row));
    const calls = links.filter((link) => phoneOf(link) && !ancestorsOf(link).some((element) => around.has(element)));
    const people = readingsOf([...mails, ...rowsOf(calls, phoneOf)], ({ row, link }) => personOfRow(row, link));
    return people.filter(({ full_name, isMore }) => full_name || isMore);
  }

  /** @param {Element} root @param {Rule} rule @returns {Reading[]} */
  function readProfileLinks(root, rule) {
    const paths = ["/in/", "/pub/", "/sales/lead/", "/sales/people/", "/talent/profile/", "/recruiter/profile/"];
    const links = allowed(root, rule, [paths.map((path) => `a[href*='${path}']`).join()]);
    const targetOf = (/** @type {Element} */ link) => linkIn(attributeOf(link, "href"));
    const rows = rowsOf(links.filter(targetOf), targetOf);
    return readingsOf(rows, ({ row, link }) => (isEmptied(link) ? {} : personOfRow(row, link)));
  }

  /** Return whether a link has text, none of which is visible, and no picture. @param {Element} link */
  function isEmptied(link) {
    return link.textContent?.trim() !== "" && linesOf(link).length === 0 && find(link, "img,svg").length === 0;
  }

  /** Return the people of repeated elements, each with a name in the same kind of element and some with a job title.
   *  @param {Element} root */
  function readTeam(root) {
    const selector = "h1,h2,h3,h4,h5,h6,strong,b,dt,a,p,span,div,td,li,figcaption";
    const names = find(root, selector)
      .filter(isNameElement)
      .slice(0, 10 * limits.people)
      .filter(isVisible);
    /** @type {Map<string, Element[]>} */
    const groups = new Map();
    for (const element of names) {
      const column = element instanceof HTMLTableCellElement ? element.cellIndex : "";
      const kind = `${element.tagName}${column}.${element.className}`;
      groups.set(kind, [...(groups.get(kind) ?? []), element]);
    }
    /** @type {Set<Element>} */
    const taken = new Set();
    return [...groups.values()].filter(({ length }) => length >= MEMBERS).flatMap((group) => teamOf(group, taken));
  }

  /** Return the people with these names; none if they have no job titles, or their rows are of other people already.
   *  @param {Element[]} names @param {Set<Element>} taken */
  function teamOf(names, taken) {
    const isFree = (/** @type {{row: Element}} */ { row }) => ![row, ...ancestorsOf(row)].some((one) => taken.has(one));
    const rows = rowsOf(names, (element) => nameIn(element.textContent ?? "")).filter(isFree);
    const people = readingsOf(rows, ({ row, link }) => personOfRow(row, link));
    const read = people.filter(({ isMore }) => !isMore);
    const titled = read.filter(({ title }) => title && titleWord.test(title)).length;
    if (titled < MEMBERS || 2 * titled < read.length) return [];
    rows.forEach(({ row }) => taken.add(row));
    return people;
  }

  /** Return whether an element has nothing but a name. @param {Element} element */
  function isNameElement(element) {
    const text = element.textContent ?? "";
    const isLeaf = element.childElementCount === 0 || /^(?:H\d|STRONG|B|DT)$/.test(element.tagName);
    return isLeaf && text.length <= 80 && looksLikeName(nameIn(text) ?? "");
  }

  /** Return the people of visible addresses. @param {Element} root @param {Rule} rule @returns {Reading[]} */
  function readAddresses(root, rule) {
    const labelled = allowed(root, rule, ["[title*='@'],[aria-label*='@'],[email],[data-email],a[href^='mailto:' i]"]);
    const elements = [...new Set([...labelled, ...textsWithAddress(root)])].filter((one) => isPersonal(addressOf(one)));
    elements.sort((one, other) => (one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1));
    const rows = rowsOf(elements, addressOf);
    return readingsOf(rows, ({ row, link }) => ({ ...personOfRow(row, link), email: addressOf(link) }));
  }

  /** @param {Element} element */
  function addressOf(element) {
    if (!addresses.has(element)) addresses.set(element, addressIn(element));
    return addresses.get(element);
  }

  /** @param {Element} element */
  function addressIn(element) {
    const labels = ["email", "data-email", "title", "aria-label", "href"].map((name) => attributeOf(element, name));
    const label = labels.find((text) => text.includes("@"));
    return emailIn(label ?? textOf(element));
  }

  /** Return the elements whose own text has an address. @param {Element} root */
  function textsWithAddress(root) {
    const found = [];
    const walker = createTreeWalker.call(document, root, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node && !isSpent(); node = walker.nextNode()) {
      const { data, parentElement } = /** @type {Text} */ (node);
      if (data.includes("@") && ADDRESS.test(data.slice(0, LONG)) && parentElement && isShown(node))
        found.push(parentElement);
    }
    return found;
  }

  /** Return whether an address is a person's, not that of an office. @param {string|undefined} email */
  function isPersonal(email) {
    return email !== undefined && !roles.has(email.split("@")[0].replace(/[\d._-]+$/, ""));
  }

  /** Return the row of each link: the largest element around it with no link to anything else. Links to the same thing that
   *  follow one another are one. @param {Element[]} links @param {(link: Element) => string|undefined} targetOf */
  function rowsOf(links, targetOf) {
    /** @type {{link: Element, last: Element, target: string|undefined}[]} */
    const groups = [];
    for (const link of links) {
      const target = targetOf(link);
      const previous = groups[groups.length - 1];
      if (previous && previous.target === target) previous.last = link;
      else groups.push({ link, last: link, target });
    }
    return groups.map(({ link, last }, index) => ({
      link,
      row: rowOf(link, last, [groups[index - 1]?.last, groups[index + 1]?.link]),
    }));
  }

  /** @param {Element} link @param {Element} last @param {(Element|undefined)[]} others */
  function rowOf(link, last, others) {
    let row = link;
    for (let level = 0; level < LEVELS; level += 1) {
      const parent = parentOf(row);
      if (!parent || parent === html || others.some((other) => other && parent.contains(other))) break;
      if ((parent.textContent?.length ?? 0) > ROW_TEXT) break;
      row = parent;
    }
    return row.contains(last) ? row : link;
  }

  /** Return the person of a row: the name of the link, or the first one in the row, and the line after it.
   *  @param {Element} row @param {Element} link @returns {Reading} */
  function personOfRow(row, link) {
    const named = nameAndTitle(textOf(link));
    const first = isNameOrHidden(named) ? named : linesOf(row).map(nameAndTitle).find(isNameOrHidden);
    const { name, title } = first ?? (isSite ? named : {});
    const person = compact({
      full_name: name,
      email: linkedValue(row, link, "a[href^='mailto:' i]", emailIn),
      phone: linkedValue(row, link, "a[href^='tel:' i]", phoneIn),
      link: linkedValue(row, link, "a[href*='linkedin.com/'],a[href^='/']", linkIn),
    });
    const lines = name || isSite ? linesAfterName(row, person) : [];
    const titled = isSite ? undefined : lines.find((line) => titleWord.test(line));
    return { ...person, ...compact({ title: title ?? titled ?? lines[0], location: isSite ? lines[1] : undefined }) };
  }

  /** Return the value of the link, or else the only one of the row's links: of several, it is not known whose they are.
   *  @param {Element} row @param {Element} link @param {string} selector @param {(text: string) => string|undefined} parse */
  function linkedValue(row, link, selector, parse) {
    const valueIn = (/** @type {Element} */ element) => parse(attributeOf(element, "href"));
    const values = new Set(find(row, selector).slice(0, 100).filter(isVisible).map(valueIn));
    values.delete(undefined);
    return valueIn(link) ?? (values.size === 1 ? [...values][0] : undefined);
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

  /** Return the lines that say something about the person. @param {Element} row @param {Reading} person */
  function linesAfterName(row, { full_name }) {
    const lines = linesOf(row);
    const start = full_name ? lines.findIndex((line) => line.includes(full_name)) : -1;
    const isOther = (/** @type {string} */ line) =>
      nameIn(line) !== full_name && !viewProfile.some((view) => view.test(line));
    const next = row.nextElementSibling;
    const rest = lines.slice(start + 1);
    const following = rest.length === 0 && next && next.tagName !== row.tagName ? linesOf(next).slice(0, 2) : [];
    return [...rest, ...following].filter((line) => isTelling(line) && isOther(line));
  }

  /** @param {string} line */
  function isTelling(line) {
    const lower = line.toLowerCase();
    const isBadge = /^[·•|]/.test(line) || badges.has(lower) || pronouns.has(lower.replace(/[()]/g, "").split("/")[0]);
    const isContact = line.includes("@") || phoneIn(line) !== undefined || !/\p{L}/u.test(line);
    return !isBadge && !isContact && !notNames.has(lower);
  }

  // ---- By JSON-LD

  /** Return the people of JSON-LD whose name the page shows, with what else of them it shows. @returns {Reading[]} */
  function readJsonLd() {
    const scripts = find(html, "script[type='application/ld+json']").slice(0, 20);
    return scripts
      .flatMap((script) => peopleOfJson(script.textContent ?? ""))
      .filter(({ full_name }) => isOnPage(full_name));
  }

  /** @param {string} text @returns {Reading[]} */
  function peopleOfJson(text) {
    if (text.length > limits.text || !/"Person"/.test(text)) return [];
    const people = [];
    const queue = [parsed(text)];
    for (let next = 0; next < queue.length && next < limits.elements && people.length < 2 * limits.people; next += 1) {
      const value = queue[next];
      if (value === null || typeof value !== "object") continue;
      if ([valueIn(value, "@type")].flat().includes("Person")) people.push(personOfJson(value));
      queue.push(...Object.values(value).slice(0, limits.elements - queue.length));
    }
    return people;
  }

  /** @param {string} text */
  function parsed(text) {
    try {
      return JSON.parse(text);
    } catch {
      return null;
    }
  }

  /** @param {any} value @param {string} name */
  function valueIn(value, name) {
    return value !== null && typeof value === "object" && Object.hasOwn(value, name) ? value[name] : undefined;
  }

  /** @param {any} value @returns {Reading} */
  function personOfJson(value) {
    const shown = (/** @type {any} */ text, /** @type {(text: string) => string|undefined} */ parse) =>
      [text]
        .flat()
        .map((one) => (typeof one === "string" ? parse(one.slice(0, LONG)) : undefined))
        .find(isOnPage);
    const names = [valueIn(value, "givenName"), valueIn(value, "familyName")].join(" ");
    const company = [valueIn(value, "worksFor")].flat()[0];
    return compact({
      full_name: shown(valueIn(value, "name") ?? names, nameIn),
      title: shown(valueIn(value, "jobTitle"), lineIn),
      company_name: shown(valueIn(company, "name") ?? company, lineIn),
      email: shown(valueIn(value, "email"), emailIn),
      phone: shown(valueIn(value, "telephone"), phoneIn),
      link: shown([valueIn(value, "sameAs"), valueIn(value, "url")].flat(), linkIn),
    });
  }

  /** Return whether the page shows a text, or links to it. @param {string|undefined} text */
  function isOnPage(text) {
    pageText ??= visibleTextAndLinks();
    return text !== undefined && text !== "" && pageText.includes(text.toLowerCase());
  }

  function visibleTextAndLinks() {
    const links = find(html, "a[href]").filter(isVisible);
    const targets = links.map((link) => linkIn(attributeOf(link, "href")) ?? attributeOf(link, "href"));
    return [...linesOf(html, 5_000), ...targets].join("\n").toLowerCase();
  }

  // ---- Texts

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

  /** @param {string} text */
  function emailIn(text) {
    const start = text.slice(0, LONG).replace(/^mailto:/i, "");
    return clean(unescaped(start))
      .match(ADDRESS)?.[0]
      .replace(/^[.'%+-]+/, "")
      .toLowerCase();
  }

  /** @param {string} text */
  function unescaped(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
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

  /** Return the address of a profile, or of a lead or candidate, without its parameters. @param {string} text */
  function linkIn(text) {
    if (text === "" || text.length > LONG || !URL.canParse(text, location.href)) return undefined;
    const { protocol, hostname, origin, pathname } = new URL(text, location.href);
    const isLinkedin = /^https?:$/.test(protocol) && /(?:^|\.)linkedin\.com$/.test(hostname);
    return isLinkedin && (PROFILE.test(pathname) || MEMBER.test(pathname))
      ? origin + pathname.replace(/\/$/, "")
      : undefined;
  }

  /** @param {Record<string, string|undefined>} values */
  function compact(values) {
    return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
  }

  // ---- What is visible

  /** Return whether the time or the number of elements is used up; counts one element. */
  function isSpent() {
    elementsLeft -= 1;
    return elementsLeft < 0 || performance.now() > until;
  }

  /** Return what reads a property, whatever the page has named like it. @param {object} prototype @param {string} name
   *  @returns {(this: Node) => any} */
  function getter(prototype, name) {
    return /** @type {any} */ (Object.getOwnPropertyDescriptor(prototype, name)).get;
  }

  /** @param {Node} node @returns {Element|null} */
  function parentOf(node) {
    return getParent.call(node);
  }

  /** Return the elements of a selector; none if the browser does not know it. @param {Element} root @param {string} selector
   *  @returns {Element[]} */
  function find(root, selector) {
    try {
      return Array.prototype.slice.call(root.querySelectorAll(selector), 0, limits.elements);
    } catch {
      return [];
    }
  }

  /** @param {Element} element @param {string} selector */
  function closest(element, selector) {
    try {
      return element.closest(selector);
    } catch {
      return null;
    }
  }

  /** Return the visible lines of an element. Text of buttons counts only if there is no other.
   *  @param {Element} element @param {number} [most] */
  function linesOf(element, most = 60) {
    const lines = rawLines(element, most, true);
    return lines.length > 0 ? lines : rawLines(element, most, false);
  }

  /** @param {Element} element @param {number} most @param {boolean} withoutButtons */
  function rawLines(element, most, withoutButtons) {
    const lines = [""];
    /** @type {Element|null} */
    let block = null;
    const walker = createTreeWalker.call(document, element, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    for (let node = walker.nextNode(); node && lines.length <= most && !isSpent(); node = walker.nextNode()) {
      if (node instanceof Element) {
        if (node.tagName === "BR") block = null;
        continue;
      }
      const text = /** @type {Text} */ (node);
      const isBlank = text.data.trim() === "";
      if (!isBlank && ((withoutButtons && isInButton(text, element)) || !isShown(text))) continue;
      /** @type {Element|null} */
      const own = isBlank ? block : blockOf(text.parentElement);
      if (own !== block) lines.push("");
      block = own;
      lines[lines.length - 1] += text.data.slice(0, LONG);
    }
    return lines.map(clean).filter((line) => line !== "");
  }

  /** @param {Text} text @param {Element} element */
  function isInButton({ parentElement }, element) {
    const button = parentElement?.closest("button,[role='button'],select,option");
    return button && button !== element && element.contains(button);
  }

  /** @param {Element|null} element */
  function blockOf(element) {
    let block = element;
    for (
      let outer = element;
      outer && /^(?:inline|contents)$/.test(getComputedStyle(outer).display);
      outer = parentOf(outer)
    )
      block = parentOf(outer);
    return block;
  }

  /** Return whether an element is in the layout, and part of it can be seen or scrolled to. @param {Element} element */
  function isVisible(element) {
    if (isSpent() || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
    range.selectNodeContents(element);
    const inner = range.getBoundingClientRect();
    const isEmpty = inner.width === 0 && inner.height === 0; // an input has no content
    return overlaps(isEmpty ? element.getBoundingClientRect() : inner, boxOf(element));
  }

  /** Return whether a text can be seen. @param {Node} text */
  function isShown(text) {
    const parent = text.parentElement;
    if (!parent?.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
    const { color, fontSize, backgroundClip } = getComputedStyle(parent);
    const isTransparent = /^rgba\(.*, 0\)$|\/ 0\)$/.test(color) && !backgroundClip.includes("text");
    range.selectNode(text);
    return !isTransparent && parseFloat(fontSize) >= 3 && overlaps(range.getBoundingClientRect(), boxOf(parent));
  }

  /** @param {Box} one @param {Box} other */
  function overlaps(one, other) {
    const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
    return width > 2 && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 2;
  }

  /** Return where the content of an element can be seen or scrolled to. @param {Element} element @returns {Box} */
  function boxOf(element) {
    const known = boxes.get(element);
    if (known) return known;
    const parent = parentOf(element);
    const box = parent
      ? contentBox(element, boxOf(parent))
      : reachable(element, { left: 0, top: 0, right: innerWidth, bottom: innerHeight });
    boxes.set(element, box);
    return box;
  }

  /** @param {Element} element @param {Box} outer where the element itself can be seen */
  function contentBox(element, outer) {
    const style = getComputedStyle(element);
    const isHidden = Number(style.opacity) < 0.1 || /opacity\(0(?:%?\)|\.0)/.test(style.filter) || isClippedAway(style);
    if (isHidden || outer === NOWHERE) return NOWHERE;
    const overflow = `${style.overflowX} ${style.overflowY}`;
    if (element.tagName === "BODY" || overflow === "visible visible") return outer;
    const box = element.getBoundingClientRect();
    if (!overlaps(box, outer)) return NOWHERE;
    return /auto|scroll/.test(overflow) ? reachable(element, box) : intersection(box, outer);
  }

  /** @param {CSSStyleDeclaration} style */
  function isClippedAway({ clip, clipPath }) {
    const [top, right, bottom, left] = clip.match(/-?[\d.]+/g)?.map(Number) ?? [0, 9, 9, 0];
    const isNothing =
      /inset\((?:[5-9]\d|100)(?:\.\d+)?%|circle\(0|ellipse\(0|polygon\(0(?:px)? 0(?:px)?(?:, 0(?:px)? 0(?:px)?)*\)/.test(
        clipPath,
      );
    return isNothing || (clip.startsWith("rect") && (right - left < 3 || bottom - top < 3));
  }

  /** Return what can be scrolled to: nothing before the start of the content. @param {Element} element @param {Box} box @returns {Box} */
  function reachable(element, box) {
    const isRtl = getComputedStyle(element).direction === "rtl";
    const [x, y] = element !== html ? [element.scrollLeft, element.scrollTop] : [scrollX, scrollY];
    const sides = isRtl ? { left: -Infinity, right: box.right - x } : { left: box.left - x, right: Infinity };
    return { ...sides, top: box.top - y, bottom: Infinity };
  }

  /** @param {Box} one @param {Box} other @returns {Box} */
  function intersection(one, other) {
    const [left, top] = [Math.max(one.left, other.left), Math.max(one.top, other.top)];
    return { left, top, right: Math.min(one.right, other.right), bottom: Math.min(one.bottom, other.bottom) };
  }
}
