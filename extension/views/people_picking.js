// Who of a list is shown and picked: one box for all, a filter, and rows that keys move between.

import { isPickable, stateOf, valuesOf } from "../people/listed_people.js";
import { t } from "../texts.js";
import { h } from "./components.js";

/** @typedef {import("../people/people_list.js").PeopleList} PeopleList */
/** @typedef {import("../people/listed_people.js").ListedPerson} ListedPerson */
/** @typedef {import("./person_row.js").PersonRow} PersonRow */

/** The filters, by the name of their text. @type {Map<string, (listed: ListedPerson) => boolean>} */
const FILTERS = new Map(
  /** @type {[string, (listed: ListedPerson) => boolean][]} */ ([
    ["filter_all", () => true],
    ["filter_new", (listed) => ["known", "unknown"].includes(stateOf(listed))],
    ["filter_with_email", hasEmail],
    ["filter_own", (listed) => ["owned", "own_record"].includes(stateOf(listed))],
  ]),
);

/** Return the line above the rows. @param {import("../types.js").App} app @param {PeopleList} list @param {PersonRow[]} rows */
export function peoplePicking(app, list, rows) {
  const all = h("input", { type: "checkbox", onchange: pickAll });
  const count = h("span", { class: "count" });
  const filter = h("select", { "aria-label": t("filter"), onchange: applyFilter });
  /** @type {number|null} */
  let lastIndex = null;
  filter.append(...[...FILTERS.keys()].map((name) => h("option", { value: name })));
  list.onChange(update, app.signal);
  rows.forEach(listenTo);
  update();
  return h("div", { class: "picking" }, h("label", {}, all, count), filter);

  function shown() {
    return rows.filter(({ element }) => !element.hidden);
  }

  function pickAll() {
    list.pick(
      shown().map(({ listed }) => listed),
      all.checked,
    );
  }

  function applyFilter() {
    for (const { listed, element } of rows) element.hidden = !passes(filter.value, listed);
    update();
  }

  function update() {
    const pickable = shown().filter(({ listed }) => isPickable(listed));
    const picked = pickable.filter(({ listed }) => listed.isPicked).length;
    all.checked = picked > 0 && picked === pickable.length;
    all.indeterminate = picked > 0 && picked < pickable.length;
    all.disabled = pickable.length === 0;
    count.textContent = list.picked.length > 0 ? t("picked_of", list.picked.length, rows.length) : t("pick_all");
    for (const option of filter.options)
      option.textContent = t(option.value, rows.filter(({ listed }) => passes(option.value, listed)).length);
  }

  /** Pick with a click, and everybody between two clicks with the Shift key. @param {PersonRow} row @param {number} index */
  function listenTo(row, index) {
    row.checkbox.addEventListener("click", (event) => {
      const from = event.shiftKey && lastIndex !== null ? lastIndex : index;
      const range = rows
        .slice(Math.min(from, index), Math.max(from, index) + 1)
        .filter(({ element }) => !element.hidden);
      lastIndex = index;
      list.pick(
        range.map(({ listed }) => listed),
        row.checkbox.checked,
      );
    });
    row.checkbox.addEventListener("keydown", (event) => moveFocus(event, row));
  }

  /** Move between the boxes with the arrow keys. @param {KeyboardEvent} event @param {PersonRow} row */
  function moveFocus(event, row) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    const boxes = shown()
      .map(({ checkbox }) => checkbox)
      .filter((box) => !box.disabled);
    boxes[boxes.indexOf(row.checkbox) + step]?.focus();
    event.preventDefault(); // of scrolling
  }
}

/** @param {string} filter @param {ListedPerson} listed */
const passes = (filter, listed) => FILTERS.get(filter)?.(listed) ?? true;

/** @param {ListedPerson} listed */
function hasEmail(listed) {
  const isKnown = listed.lookup?.available.some((value) => value.field === "email") ?? false;
  return isKnown || valuesOf(listed, "email").length > 0;
}
