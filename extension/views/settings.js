// What a person can choose, and the way out.

import { ApiError } from "../client/api.js";
import { changeSettings, forgetPerson, keepSignedIn, settings, signedIn } from "../store.js";
import { hostOf, t } from "../texts.js";
import { button, h } from "./parts.js";

/** @type {import("../panel.js").View} */
export async function settingsView(app) {
  const { session } = app;
  const chosen = await settings();
  const { prefix_length: digits } = session.hash_lookup;
  const stay = h("input", {
    type: "checkbox",
    id: "stay",
    checked: chosen.stay,
    "aria-describedby": "stay-hint",
    onchange: changeStay,
  });
  return h(
    "section",
    {},
    h("h1", {}, t("settings")),
    h("p", {}, t("settings_account", session.account.email, session.workspace.name)),
    h("p", { class: "hint" }, t("settings_server", hostOf(session.origin))),
    h(
      "fieldset",
      {},
      h("legend", {}, t("settings_ask")),
      choice("hash", t("settings_hash"), t("settings_hash_hint")),
      choice("prefix", t("settings_prefix", digits), t("settings_prefix_hint")),
    ),
    h("label", { class: "check" }, stay, t("stay")),
    h("p", { class: "hint", id: "stay-hint" }, t("settings_stay_hint")),
    button(t("sign_out"), signOut),
    h("p", { class: "hint" }, t("sign_out_hint")),
  );

  /** @param {"hash"|"prefix"} ask @param {string} text @param {string} hint */
  function choice(ask, text, hint) {
    const id = `ask-${ask}`;
    const input = h("input", {
      type: "radio",
      name: "ask",
      id,
      value: ask,
      checked: chosen.ask === ask,
      "aria-describedby": `${id}-hint`,
      onchange: () => changeSettings({ ask }),
    });
    return h("div", {}, h("label", { class: "check" }, input, text), h("p", { class: "hint", id: `${id}-hint` }, hint));
  }

  async function changeStay() {
    await changeSettings({ stay: stay.checked });
    const now = await signedIn();
    if (now) await keepSignedIn(now);
  }

  async function signOut() {
    try {
      await app.client.logout();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error; // the server may be away: the token is forgotten here all the same
    }
    await forgetPerson();
  }
}
