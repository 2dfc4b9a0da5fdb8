// What was asked elsewhere: answers that wait to be seen, and questions under way, wherever the person is now.

import { all, isOver, listen } from "../questions.js";
import { named, t } from "../texts.js";
import { h } from "./parts.js";
import { personView } from "./person.js";

/** @typedef {import("../panel.js").App} App */
/** @typedef {import("../questions.js").Question} Question */

/** @param {App} app @returns {HTMLElement} empty while there is nothing */
export function waiting(app) {
  const place = h("section", { class: "waiting", "aria-label": t("waiting") });
  let shown = "";
  listen(null, show, app.signal);
  show();
  return place;

  async function show() {
    const elsewhere = (await all()).filter((question) => !app.shows.has(question.name));
    const news = JSON.stringify(elsewhere.map((question) => [question.key, state(question)]));
    if (app.signal.aborted || news === shown) return; // a row that is replaced while it is pressed hears no click
    shown = news;
    const rows = elsewhere.map((question) => h("li", {}, row(question)));
    place.replaceChildren(
      ...(rows.length > 0 ? [h("h2", {}, t("waiting")), h("ul", { class: "leads" }, ...rows)] : []),
    );
  }

  /** @param {Question} question */
  function row({ name, about, ...question }) {
    const kind = name.split(" ")[0].replace(".", "_");
    return h(
      "button",
      { type: "button", class: "lead", onclick: () => app.open(personView(about.subject)) },
      h("strong", {}, about.label),
      h("span", {}, `${named("kind", kind)}: ${state(/** @type {Question} */ (question))}`),
    );
  }
}

/** @param {Question} question */
function state(question) {
  if (!isOver(question)) return t("state_open");
  return named("state", question.answer?.job.outcome ?? question.answer?.job.status ?? "failed");
}
