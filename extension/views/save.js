// Saving a profile for the workspace, with a list, tags and a note.

import { ApiError } from "../client/api.js";
import { draft, keepDraft, rememberList, settings } from "../store.js";
import { day, sentence, t } from "../texts.js";
import { announce, failure, h, icon } from "./parts.js";

/** @typedef {import("../panel.js").App} App */
/** @typedef {import("../client/api.js").Card} Card */

/** @param {App} app @param {string} url @param {Card} card @param {import("../tab.js").Profile} read
 *  @param {() => void} suppressed called if the person may not be saved @returns {Promise<HTMLElement>} */
export async function saveForm(app, url, card, read, suppressed) {
  const { lists } = await settings();
  let saved = card.saved;
  const typed = (await draft(url)) ?? {
    list: saved?.list ?? "",
    tags: (saved?.tags ?? []).join(", "),
    note: saved?.note ?? "",
    key: null,
  };
  const list = h("input", { id: "list", list: "lists", autocomplete: "off" });
  const tags = h("input", { id: "tags", autocomplete: "off" });
  const note = h("textarea", { id: "note", rows: 2 });
  const submit = h("button", { type: "submit" });
  const title = h("span");
  const problem = h("div");
  Object.assign(list, { value: typed.list });
  Object.assign(tags, { value: typed.tags });
  Object.assign(note, { value: typed.note });
  name();
  return h(
    "details",
    { class: "card save", open: saved !== null || (await draft(url)) !== null },
    h("summary", {}, title),
    h(
      "form",
      { onsubmit: act, oninput: () => remember(null) },
      field("list", list),
      h("datalist", { id: "lists" }, ...lists.map((one) => h("option", { value: one }))),
      field("tags", tags),
      field("note", note),
      problem,
      submit,
    ),
  );

  function name() {
    title.replaceChildren(
      ...(saved
        ? [icon("check"), saved.list ? t("saved_in", saved.list) : t("saved_title", day(saved.updated_at))]
        : [icon("saved"), t("save_title")]),
    );
    submit.textContent = t(saved ? "save_again" : "save");
  }

  /** Keep what was typed, should the popup close. @param {string|null} key of the click that sends it */
  function remember(key) {
    return keepDraft(url, { list: list.value, tags: tags.value, note: note.value, key });
  }

  /** @param {Event} event */
  async function act(event) {
    event.preventDefault();
    submit.disabled = true; // before anything is awaited, for whoever clicks twice
    const key = (await draft(url))?.key ?? crypto.randomUUID();
    await remember(key);
    try {
      const answer = await app.client.linkedinSave({ profile: profile(), ...marks() }, { key });
      saved = answer.saved_profile;
      await keepDraft(url, null);
      await rememberList(saved.list);
      problem.replaceChildren();
      announce(t("saved_now"));
      name();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 401) return app.restart();
      if (error.code === "person_suppressed") return suppressed();
      if (error.status !== 0 && error.status < 500) await remember(null); // another try is another question
      problem.replaceChildren(failure(sentence(error.problem, app.session.origin)));
    } finally {
      submit.disabled = false;
    }
  }

  function profile() {
    const { contact, company } = card;
    const known = {
      full_name: contact?.full_name,
      title: contact?.title,
      company: company && { name: company.name, domain: company.domain },
    };
    const told = Object.entries({ ...known, ...read }).filter(([, value]) => value);
    return { linkedin_url: url, ...Object.fromEntries(told) };
  }

  function marks() {
    const all = tags.value.split(",").map((/** @type {string} */ one) => one.trim());
    return {
      list: list.value.trim() || null,
      tags: all.filter((/** @type {string} */ one) => one !== ""),
      note: note.value.trim() || null,
    };
  }
}

/** @param {string} name @param {HTMLElement} input */
function field(name, input) {
  return h("div", { class: "field" }, h("label", { for: name }, t(name)), input);
}
