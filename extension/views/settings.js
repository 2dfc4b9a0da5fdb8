// What a person can choose, and the way out.

import { ApiError } from "../client/api.js";
import { changeSettings, forgetPerson, keepSignedIn, settings, signedIn } from "../store.js";
import { credits, hostOf, t } from "../texts.js";
import { avatar, button, h } from "./parts.js";

/** @type {import("../panel.js").View} */
export async function settingsView(app) {
  const { session } = app;
  const { account, workspace } = session;
  const chosen = await settings();
  const stay = h("input", {
    type: "checkbox",
    id: "stay",
    checked: chosen.stay,
    "aria-describedby": "stay-hint",
    onchange: changeStay,
  });
  const prices = ["reveal.email", "reveal.phone"].map((kind) => session.prices[kind] ?? 1);
  const email = credits(prices[0]);
  return h(
    "section",
    {},
    h("h1", {}, t("settings")),
    h(
      "section",
      { class: "card", "aria-label": t("settings_account") },
      h(
        "div",
        { class: "head" },
        avatar(account.name || account.email),
        h("div", { class: "lines" }, h("strong", {}, account.name), h("p", { class: "hint" }, account.email)),
      ),
      h(
        "dl",
        {},
        ...fact("settings_workspace", workspace.name),
        ...fact("settings_server", hostOf(session.origin)),
        ...fact("settings_credits", credits(session.credits.balance)),
        ...fact("settings_prices", t("settings_prices_of", email, credits(prices[1]))),
      ),
      button(t("sign_out"), signOut),
      h("p", { class: "hint" }, t("sign_out_hint")),
    ),
    h(
      "fieldset",
      { class: "card" },
      h("legend", {}, t("settings_ask")),
      choice("hash", t("settings_hash"), t("settings_hash_hint")),
      choice("prefix", t("settings_prefix"), t("settings_prefix_hint")),
    ),
    h(
      "div",
      { class: "card" },
      h("label", { class: "check" }, stay, t("stay")),
      h("p", { class: "hint indented", id: "stay-hint" }, t("settings_stay_hint")),
    ),
  );

  /** @param {string} name @param {string} text */
  function fact(name, text) {
    return [h("dt", {}, t(name)), h("dd", {}, text)];
  }

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
    return h(
      "div",
      {},
      h("label", { class: "check" }, input, text),
      h("p", { class: "hint indented", id: `${id}-hint` }, hint),
    );
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
