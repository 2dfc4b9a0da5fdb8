// Reads people of JSON-LD.

/** @param {PageAccess} page */
function createJsonLdReader(page) {
  const { limits, html, find, isVisible, attributeOf, linesOf, compact } = page;
  const { LONG, lineIn, emailIn, phoneIn, linkIn, nameIn } = page;
  /** @type {string|null} */
  let pageText = null;

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

  return { readJsonLd };
}
