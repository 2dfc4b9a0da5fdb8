// Requests about other people than the one shown: in progress, or finished and not shown yet.

import { peopleOf } from "../people/requests.js";
import { isFinished, listRequests, onRequestChange } from "../request_store.js";
import { t, valueText } from "../texts.js";
import { h, listRow } from "./components.js";
import { peopleView } from "./people.js";
import { searchView } from "./people_search.js";
import { personView } from "./person.js";

/** @param {import("../types.js").App} app @returns {HTMLElement} empty if there are none */
export function otherRequests(app) {
  const section = h("section", { class: "other-requests", "aria-label": t("other_requests") });
  let shown = "";
  onRequestChange(null, show, app.signal);
  show();
  return section;

  async function show() {
    const requests = (await listRequests()).filter(({ name, isSeen }) => !isSeen && !app.shownRequests.has(name));
    const states = JSON.stringify(requests.map((request) => [request.key, stateText(request)]));
    if (app.signal.aborted || states === shown) return; // a row that is replaced while it is pressed gets no click
    shown = states;
    const rows = requests.map((request) =>
      listRow({
        name: request.person.label,
        details: t("history_state", valueText("kind", kindOf(request)), stateText(request)),
        open: () => app.open(viewOf(request)),
      }),
    );
    section.replaceChildren(
      ...(rows.length > 0 ? [h("h2", {}, t("other_requests")), h("ul", { class: "list" }, ...rows)] : []),
    );
  }
}

/** Return the kind as texts name it. @param {import("../request_store.js").StoredRequest} request */
function kindOf({ name, method, person }) {
  const isList = method === "enrichmentRequest" && person.subject === null;
  return isList ? "enrichment" : name.split(" ")[0].replace(".", "_");
}

/** @param {import("../request_store.js").StoredRequest} request */
function viewOf(request) {
  const { subject } = request.person;
  if (request.method === "peopleSearch") return searchView(request.name);
  return subject ? personView(subject) : peopleView({ people: peopleOf(request), left_out: 0 });
}

/** @param {import("../request_store.js").StoredRequest} request */
function stateText(request) {
  if (!isFinished(request)) return t("state_open");
  if (request.push) return t("state_pushed");
  return valueText("state", request.response?.job.outcome ?? request.response?.job.status ?? "failed");
}
