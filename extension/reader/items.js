// Reads people by the selectors of a rule.

/** @param {PageAccess} page @param {ReturnType<typeof createRows>} rows
 *  @param {ReturnType<typeof createLinkReaders>} links */
function createItemReader(page, { linesAfterName }, { readProfileLinks }) {
  const { find, allowed, ancestorsOf, isVisible, attributeOf, textOf, valueOf } = page;
  const { lineIn, emailIn, phoneIn, linkIn, isProfile, nameIn, readingsOf, compact } = page;

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

  return { readItems };
}
