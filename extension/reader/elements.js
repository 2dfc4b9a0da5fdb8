// The visible elements of the page and their texts, as long as there is time for them.

/** @param {Limits} limits @param {ReturnType<typeof createValueParsers>} values */
function createElements(limits, { LONG, clean }) {
  const { createTreeWalker, createRange } = Document.prototype; // the page may name an element like them
  const range = createRange.call(document);
  let elementsLeft = limits.elements;
  const html = /** @type {HTMLElement} */ (getter(Document.prototype, "documentElement").call(document));
  html.getBoundingClientRect(); // the layout, if the page has just changed, takes none of the time
  const until = performance.now() + limits.milliseconds;
  const getParent = getter(Node.prototype, "parentElement"); // a form may have an input of this name
  const { boxOf, overlaps } = createBoxes(html, parentOf);

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

  /** @param {Element} element */
  function ancestorsOf(element) {
    const outer = [];
    for (let one = parentOf(element); one && outer.length < 50; one = parentOf(one)) outer.push(one);
    return outer;
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

  /** Return the visible elements that the rule does not except. @param {Element} root @param {Rule} rule @param {string[]} selectors */
  function allowed(root, { except = [] }, selectors) {
    const found = selectors.flatMap((selector) => find(root, selector));
    const isExcepted = (/** @type {Element} */ element) => except.some((selector) => closest(element, selector));
    const isInTime = () => performance.now() < until - limits.milliseconds / 2; // the rest is for reading them
    return found.filter((element) => isInTime() && isVisible(element) && !isExcepted(element));
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

  return {
    html,
    createTreeWalker,
    isSpent,
    parentOf,
    ancestorsOf,
    find,
    allowed,
    attributeOf,
    textOf,
    valueOf,
    linesOf,
    isVisible,
    isShown,
  };
}
