// The rows around links and names, and the person of a row.

/** @param {PageAccess} page */
function createRows(page) {
  const { isSite, html, parentOf, find, isVisible, attributeOf, textOf, linesOf } = page;
  const { emailIn, phoneIn, linkIn, nameIn, nameAndTitle, isNameOrHidden, isTelling, titleWord, viewProfile } = page;
  const { compact } = page;
  const LEVELS = 8; // from a link to its row
  const ROW_TEXT = 600; // characters of a row

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

  return { rowsOf, personOfRow, linesAfterName };
}
