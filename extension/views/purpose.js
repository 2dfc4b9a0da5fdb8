// The choice of what values are needed for, if the server's operator requires that.

import { loadSettings, updateSettings } from "../storage.js";
import { capitalize, t } from "../texts.js";
import { h } from "./components.js";

/**
 * The choice in one card. `element` is hidden until `offer` is called, or from the start if the session says that
 * purposes are required. `stated` returns the part of a request's body.
 * @typedef {{element: HTMLElement, offer: (allowed: string[]) => Promise<void>, stated: () => {purpose?: string}}} PurposeChoice
 */

/** @param {import("../types.js").App} app @param {string} card a name of the card, unique in the view @returns {PurposeChoice} */
export function purposeChoice(app, card) {
  const id = `purpose-${card}`;
  const select = h("select", { id, class: "purpose", onchange: remember });
  const element = h("div", { class: "field", hidden: true }, h("label", { for: id }, t("purpose")), select);
  const { purposes } = app.session;
  if (purposes?.required) offer(purposes.allowed);
  return { element, offer, stated };

  /** Show the purposes that can be stated; the last choice is preselected. @param {string[]} allowed */
  async function offer(allowed) {
    const names = [option("", t("purpose_choose")), ...allowed.map((value) => option(value, nameOf(value)))];
    select.replaceChildren(...names);
    element.hidden = false;
    const { purpose } = await loadSettings();
    if (select.value === "" && allowed.includes(purpose)) select.value = purpose;
  }

  function stated() {
    return select.value === "" ? {} : { purpose: select.value };
  }

  /** Remember the choice, and make the same one in the other cards of the view. */
  async function remember() {
    for (const other of document.querySelectorAll("select.purpose"))
      /** @type {HTMLSelectElement} */ (other).value = select.value;
    await updateSettings({ purpose: select.value });
  }
}

/** @param {string} value @param {string} text */
const option = (value, text) => h("option", { value }, text);

/** @param {string} value */
const nameOf = (value) => capitalize(value.replaceAll("_", " "));
