// Finding a person whose page is not open: by profile address, by e-mail, or by name and company.

import { emailAddress, profileUrl, publicHost } from "../client/forms.js";
import { t } from "../texts.js";
import { h, icon } from "./parts.js";
import { personView } from "./person.js";

/** @typedef {import("../client/api.js").Subject} Subject */

/** @param {import("../panel.js").App} app */
export function searchForm(app) {
  const wrong = h("p", { class: "wrong", id: "search-wrong", role: "alert" });
  const input = h("input", {
    type: "search",
    id: "search",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: t("search_hint"),
    "aria-label": t("search"),
    "aria-describedby": "search-wrong",
  });
  const find = h(
    "button",
    { type: "submit", class: "icon-button", "aria-label": t("find"), title: t("find") },
    icon("search"),
  );
  return h("form", { class: "search", role: "search", novalidate: true, onsubmit: submit }, input, find, wrong);

  /** @param {Event} event */
  function submit(event) {
    event.preventDefault();
    const subject = subjectOf(input.value);
    input.setAttribute("aria-invalid", String(subject === null));
    wrong.textContent = subject === null ? t("search_wrong") : "";
    if (subject) app.open(personView(subject));
    else input.focus();
  }
}

/** @param {string} text @returns {Subject|null} */
export function subjectOf(text) {
  const profile = profileUrl(text);
  if (profile) return { linkedin_url: profile };
  const email = emailAddress(text);
  if (email) return { email };
  const at = text.indexOf(",");
  const name = text.slice(0, Math.max(at, 0)).trim();
  const company = text.slice(at + 1).trim();
  if (name === "" || company === "") return null;
  const host = /\s/.test(company) ? null : publicHost(company);
  return { full_name: name, ...(host ? { company_domain: host } : { company_name: company }) };
}
