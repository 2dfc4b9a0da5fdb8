// Where the content of elements can be seen or scrolled to.

/** @param {HTMLElement} html @param {(node: Node) => Element|null} parentOf */
function createBoxes(html, parentOf) {
  const NOWHERE = { left: 0, top: 0, right: 0, bottom: 0 };
  /** @type {Map<Element, Box>} */
  const boxes = new Map();

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

  return { boxOf, overlaps };
}
