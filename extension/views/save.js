// The form that saves a profile for the workspace with a list, tags and a note.

import { ApiError } from "../client/api.js";
import { addRecentList, loadDraft, loadSettings, saveDraft } from "../storage.js";
import { errorMessage, formatDate, t } from "../texts.js";
import { announce, errorAlert, h } from "./components.js";
import { icon } from "./icons.js";

/** @param {import("../types.js").App} app @param {string} url @param {import("../client/api.js").LookupResult} lookup
 *  @param {import("../active_page.js").ProfileOnPage} profileOnPage
 *  @param {() => void} onSuppressed called if the person turns out to be suppressed @returns {Promise<HTMLElement>} */
export async function saveForm(app, url, lookup, profileOnPage, onSuppressed) {
  const { lists } = await loadSettings();
  let saved = lookup.saved;
  const draft = await loadDraft(url);
  const initial = draft ?? {
    list: saved?.list ?? "",
    tags: (saved?.tags ?? []).join(", "),
    note: saved?.note ?? "",
  };
  const list = h("input", { id: "list", list: "lists", autocomplete: "off" });
  const tags = h("input", { id: "tags", autocomplete: "off" });
  const note = h("textarea", { id: "note", rows: 2 });
  const submit = h("button", { type: "submit" });
  const title = h("span");
  const problem = h("div");
  Object.assign(list, { value: initial.list });
  Object.assign(tags, { value: initial.tags });
  Object.assign(note, { value: initial.note });
  showTitle();
  return h(
    "details",
    { class: "card save", open: saved !== null || draft !== null },
    h("summary", {}, title),
    h(
      "form",
      { onsubmit: submitForm, oninput: () => storeDraft(null) },
      field("list", list),
      h("datalist", { id: "lists" }, ...lists.map((name) => h("option", { value: name }))),
      field("tags", tags),
      field("note", note),
      problem,
      submit,
    ),
  );

  function showTitle() {
    title.replaceChildren(
      ...(saved
        ? [icon("check"), saved.list ? t("saved_in", saved.list) : t("saved_title", formatDate(saved.updated_at))]
        : [icon("saved"), t("save_title")]),
    );
    submit.textContent = t(saved ? "save_again" : "save");
  }

  /** Store the input for the case that the popup closes. @param {string|null} key the Idempotency-Key once it is submitted */
  function storeDraft(key) {
    return saveDraft(url, { list: list.value, tags: tags.value, note: note.value, key });
  }

  /** @param {Event} event */
  async function submitForm(event) {
    event.preventDefault();
    submit.disabled = true; // before the first await, so that a double click submits once
    const key = (await loadDraft(url))?.key ?? crypto.randomUUID();
    await storeDraft(key);
    try {
      const response = await app.client.linkedinSave({ profile: profile(), ...annotations() }, { key });
      saved = response.saved_profile;
      await saveDraft(url, null);
      await addRecentList(saved.list);
      problem.replaceChildren();
      announce(t("saved_now"));
      showTitle();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 401) return app.restart();
      if (error.code === "person_suppressed") return onSuppressed();
      if (error.status !== 0 && error.status < 500) await storeDraft(null); // refused: a retry is a new request
      problem.replaceChildren(errorAlert(errorMessage(error.problem, app.session.origin)));
    } finally {
      submit.disabled = false;
    }
  }

  function profile() {
    const { contact, company } = lookup;
    const known = {
      full_name: contact?.full_name,
      title: contact?.title,
      company: company && { name: company.name, domain: company.domain },
    };
    const fields = Object.entries({ ...known, ...profileOnPage }).filter(([, value]) => value);
    return { linkedin_url: url, ...Object.fromEntries(fields) };
  }

  function annotations() {
    const names = tags.value.split(",").map((/** @type {string} */ tag) => tag.trim());
    return {
      list: list.value.trim() || null,
      tags: names.filter((/** @type {string} */ tag) => tag !== ""),
      note: note.value.trim() || null,
    };
  }
}

/** @param {string} name @param {HTMLElement} input */
function field(name, input) {
  return h("div", { class: "field" }, h("label", { for: name }, t(name)), input);
}
