// Reads people by links, by repeated names, and by addresses.

/** @param {PageAccess} page @param {ReturnType<typeof createRows>} rows */
function createLinkReaders(page, { rowsOf, personOfRow }) {
  const { limits, createTreeWalker, isSpent, find, allowed, ancestorsOf, isVisible, isShown } = page;
  const { attributeOf, textOf, linesOf, readingsOf, LONG, ADDRESS, emailIn, phoneIn, linkIn } = page;
  const { nameIn, looksLikeName, isPersonal, titleWord } = page;
  const MEMBERS = 3; // that a team has at least
  /** @type {Map<Element, string|undefined>} */
  const addresses = new Map();

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

  return { readContactLinks, readProfileLinks, readTeam, readAddresses };
}
