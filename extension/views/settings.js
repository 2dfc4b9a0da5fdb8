// Settings and sign-out.

import { ApiError } from "../client/api.js";
import { loadPolicy } from "../policy.js";
import { clearUserData, loadSession, loadSettings, saveSession, updateSettings } from "../storage.js";
import { formatCredits, grantText, hostOf, t } from "../texts.js";
import { avatar, button, h } from "./components.js";

/** @param {import("../types.js").App} app */
export async function settingsView(app) {
  const { session } = app;
  const { account, workspace } = session;
  const settings = await loadSettings();
  const { prefixLookupOnly } = await loadPolicy();
  const staySignedIn = h("input", {
    type: "checkbox",
    id: "stay-signed-in",
    checked: settings.staySignedIn,
    "aria-describedby": "stay-signed-in-hint",
    onchange: updateStaySignedIn,
  });
  const prices = ["reveal.email", "reveal.phone"].map((kind) => session.prices[kind] ?? 1);
  const pricesText = t("settings_prices_of", formatCredits(prices[0]), formatCredits(prices[1]));
  const next = grantText(session.credits.next_grant);
  return h(
    "section",
    {},
    h("h1", {}, t("settings")),
    h(
      "section",
      { class: "card", "aria-label": t("settings_account") },
      h(
        "div",
        { class: "card-header" },
        avatar(account.name || account.email),
        h("div", { class: "lines" }, h("strong", {}, account.name), h("p", { class: "hint" }, account.email)),
      ),
      h(
        "dl",
        {},
        ...fact("settings_workspace", workspace.name),
        ...fact("settings_server", hostOf(session.origin)),
        ...(session.credits.balance === null ? [] : fact("settings_credits", formatCredits(session.credits.balance))),
        ...(next === null ? [] : fact("settings_next_credits", next)),
        ...fact("settings_prices", pricesText),
      ),
      button(t("sign_out"), signOut),
      h("p", { class: "hint" }, t("sign_out_hint")),
    ),
    h(
      "fieldset",
      { class: "card" },
      h("legend", {}, t("settings_lookup_by")),
      choice("filter", t("settings_filter"), t("settings_filter_hint")),
      choice("prefix", t("settings_prefix"), t("settings_prefix_hint")),
      choice("hash", t("settings_hash"), t("settings_hash_hint")),
      prefixLookupOnly && h("p", { class: "hint" }, t("policy_enforced")),
    ),
    h(
      "div",
      { class: "card" },
      h("label", { class: "check" }, staySignedIn, t("stay_signed_in")),
      h("p", { class: "hint indented", id: "stay-signed-in-hint" }, t("stay_signed_in_hint")),
    ),
  );

  /** @param {string} name @param {string} text */
  function fact(name, text) {
    return [h("dt", {}, t(name)), h("dd", {}, text)];
  }

  /** @param {"filter"|"prefix"|"hash"} lookupBy @param {string} text @param {string} hint */
  function choice(lookupBy, text, hint) {
    const id = `lookup-by-${lookupBy}`;
    const input = h("input", {
      type: "radio",
      name: "lookup-by",
      id,
      value: lookupBy,
      checked: settings.lookupBy === lookupBy,
      disabled: prefixLookupOnly && lookupBy === "hash",
      "aria-describedby": `${id}-hint`,
      onchange: () => updateSettings({ lookupBy }),
    });
    return h(
      "div",
      {},
      h("label", { class: "check" }, input, text),
      h("p", { class: "hint indented", id: `${id}-hint` }, hint),
    );
  }

  async function updateStaySignedIn() {
    await updateSettings({ staySignedIn: staySignedIn.checked });
    const current = await loadSession();
    if (current) await saveSession(current); // on disk or not, as chosen
  }

  async function signOut() {
    try {
      await app.client.logout();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error; // even if the server is unreachable, the token is deleted here
    }
    await clearUserData();
  }
}
