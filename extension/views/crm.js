// The card that pushes a person to the workspace's CRM.

import { ApiError } from "../client/api.js";
import { may } from "../permissions.js";
import { errorMessage, t } from "../texts.js";
import { announce, button, errorAlert, h, refused } from "./components.js";
import { icon } from "./icons.js";

/** @typedef {import("../client/api.js").CrmConnection} CrmConnection */

const POLL_MILLISECONDS = 1000;
const POLLS = 20;

/** Return the place of the card. It stays empty unless the workspace has connected a CRM.
 *  @returns {HTMLElement} */
export function crmPlace() {
  return h("div", { class: "crm" });
}

/** Show the card in its place. @param {import("../types.js").App} app @param {HTMLElement} place @param {string} contactId */
export async function showCrmCard(app, place, contactId) {
  if (place.hasChildNodes()) return;
  const usable = await usableConnections(app);
  if (usable.length === 0 || place.hasChildNodes()) return;
  place.append(
    h(
      "section",
      { class: "card", "aria-label": t("crm_title") },
      h("h2", {}, icon("push"), t("crm_title")),
      ...(may(app.session, "push")
        ? [...usable.map((connection) => pushButton(app, connection, contactId)), h("p", { class: "hint" }, t("crm_hint"))]
        : [refused("push")]),
    ),
  );
}

/** Return the name of a CRM. @param {string} vendor */
export const crmName = (vendor) => t(`crm_${vendor}`) || vendor; // a newer server may have another CRM

/** Return the connections to which the account may push. @param {import("../types.js").App} app @returns {Promise<CrmConnection[]>} */
export async function usableConnections(app) {
  if (!app.session.auth.scopes.includes("save")) return [];
  try {
    const { connections } = await app.client.crmConnections({ signal: app.signal });
    return connections.filter(({ status }) => status === "connected" || status === "checking");
  } catch (error) {
    if (error instanceof ApiError || app.signal.aborted) return []; // an older server, or not reachable: no card
    throw error;
  }
}

/** @param {import("../types.js").App} app @param {CrmConnection} connection @param {string} contactId */
function pushButton(app, connection, contactId) {
  const name = crmName(connection.vendor);
  const result = h("div", { class: "result" });
  let key = crypto.randomUUID(); // a retry of a click whose response was lost makes no second push
  const push = button(t("crm_push", name), send);
  return h("div", { class: "stack" }, push, result);

  async function send() {
    push.disabled = true;
    result.replaceChildren(h("p", { class: "hint" }, t("crm_waiting", name)));
    try {
      const body = { connection_id: connection.id, contact_ids: [contactId] };
      const { push: accepted } = await app.client.pushToCrm(body, { key, signal: app.signal });
      key = crypto.randomUUID();
      show(await outcome(app, accepted.id));
    } catch (error) {
      if (app.signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 401) return app.restart();
      result.replaceChildren(errorAlert(errorMessage(error.problem, app.session.origin)));
    } finally {
      push.disabled = false;
    }
  }

  /** @param {string|null} outcome */
  function show(outcome) {
    const text = outcome === null ? t("crm_goes_on") : t(`crm_${outcome}`, name);
    result.replaceChildren(h("p", { class: "hint" }, text));
    announce(text);
  }
}

/** Return the outcome of the pushed contact; null if it takes longer than anybody watches.
 *  @param {import("../types.js").App} app @param {string} pushId @returns {Promise<string|null>} */
async function outcome(app, pushId) {
  for (let polls = 0; polls < POLLS; polls += 1) {
    const { items } = await app.client.crmPush(pushId, { signal: app.signal });
    if (items.length > 0 && items[0].outcome !== null) return items[0].outcome;
    await new Promise((resolve) => setTimeout(resolve, POLL_MILLISECONDS));
    app.signal.throwIfAborted();
  }
  return null;
}
