// Icons as inline SVG, so that nothing is loaded.

/** Paths on a grid of 20 by 20. @type {Record<string, string>} */
const ICONS = {
  email: "M2.5 5h15v10h-15zM2.5 5.5l7.5 6 7.5-6",
  phone: "M6 2.5 8.5 7 6.8 8.8a12 12 0 0 0 4.4 4.4L13 11.5l4.5 2.5-1 3.5C9 17.500 2.500 11 2.500 3.500z",
  back: "M12 4l-6 6 6 6",
  history: "M10 3.500a6.500 6.500 0 1 1-6.100 4.200M3.500 3.500v4.500h4.500M10 6.500V10l2.500 2",
  settings: "M3 6h8M15 6h2M3 14h2M9 14h8M13 4v4M7 12v4",
  panel: "M3 4h14v12H3zM12.500 4v12",
  check: "M4 10.500l4 4 8-9",
  search: "M9 3.500a5.500 5.500 0 1 1 0 11 5.500 5.500 0 0 1 0-11M13 13l4 4",
  enrichment: "M10 2.500l1.900 5.600 5.600 1.900-5.600 1.900L10 17.500l-1.900-5.600L2.500 10l5.600-1.900z",
  copy: "M7 7h9.500v9.500H7zM13 7V3.500H3.500V13H7",
  download: "M10 3.500V13M6 9.500l4 4 4-4M4 13.500v3h12v-3",
  people: "M7.500 9.500a3 3 0 1 0 0-6 3 3 0 0 0 0 6M2 16.500c0-3 2-5 5.500-5s5.500 2 5.500 5M13 4a3 3 0 0 1 0 5.500M15 11.800c2 .7 3 2.400 3 4.700",
  again: "M16 6.500a6.500 6.500 0 1 0 .500 5M16.500 3v4h-4",
  push: "M10 13V3.500M6 7.500l4-4 4 4M4 13v3.500h12V13",
  known: "M3 5.500c0-1.500 3-2.500 7-2.500s7 1 7 2.500-3 2.500-7 2.500-7-1-7-2.500v9c0 1.500 3 2.500 7 2.500s7-1 7-2.500v-9M3 10c0 1.500 3 2.500 7 2.500s7-1 7-2.500",
  saved: "M5.500 3h9v14L10 13.500 5.500 17z",
  chevron: "M8 5l5 5-5 5",
  location:
    "M10 17.500c-3.500-4-5-6.500-5-9a5 5 0 0 1 10 0c0 2.500-1.500 5-5 9zM10 10.200a1.700 1.700 0 1 0 0-3.400 1.700 1.700 0 0 0 0 3.400",
  shield: "M10 2.500l6 2.500v4.500c0 4-2.500 6.500-6 8-3.500-1.500-6-4-6-8V5z",
  blocked: "M10 3a7 7 0 1 1 0 14 7 7 0 0 1 0-14M5 5l10 10",
};

/** Return a decorative icon: screen readers skip it. @param {string} name @returns {SVGElement} */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("aria-hidden", "true");
  svg.classList.add("icon");
  const path = document.createElementNS(svg.namespaceURI, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return /** @type {any} */ (svg);
}
