// What was asked elsewhere: answers that wait to be seen, and questions under way, wherever the person is now.

import { all, isOver, listen } from "../questions.js";
import { named, t } from "../texts.js";
import { h, row } from "./parts.js";
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
    const rows = elsewhere.map((question) =>
      row({
        name: question.about.label,
        second: t("history_state", named("kind", question.name.split(" ")[0].replace(".", "_")), state(question)),
        open: () => app.open(personView(question.about.subject)),
      }),
    );
    place.replaceChildren(...(rows.length > 0 ? [h("h2", {}, t("waiting")), h("ul", { class: "list" }, ...rows)] : []));
  }
}

/** @param {Question} question */
function state(question) {
  if (!isOver(question)) return t("state_open");
  return named("state", question.answer?.job.outcome ?? question.answer?.job.status ?? "failed");
}
