// Signing in: the server, the account, and what the person agrees to.

import { ApiError, Client } from "../client/api.js";
import { changeSettings, keepSignedIn, settings } from "../store.js";
import { hostOf, sentence, t } from "../texts.js";
import { failure, h } from "./parts.js";

/** Show the form; who signs in is shown the rest by whoever follows the session.
 *  @param {string|null} why the code of why nobody is signed in any more */
export async function signInView(why) {
  const chosen = await settings();
  const server = field("server", "url", chosen.server, { placeholder: t("server_example"), autocomplete: "url" });
  const email = field("email", "email", chosen.email, { autocomplete: "username" });
  const password = field("password", "password", "", { autocomplete: "current-password" });
  const stay = h("input", { type: "checkbox", id: "stay", checked: chosen.stay });
  const submit = h("button", { type: "submit", class: "primary" }, t("sign_in"));
  const problem = h("div", {}, why ? failure(sentence({ code: why, status: 401 }, chosen.server)) : null);
  return h(
    "form",
    { class: "sign-in", onsubmit: act, novalidate: true },
    h("h1", {}, t("name")),
    h("p", {}, t("sign_in_intro")),
    problem,
    ...[server, email, password].map(({ row }) => row),
    h("label", { class: "check" }, stay, t("stay")),
    h(
      "aside",
      { class: "disclosure" },
      h("h2", {}, t("disclosure_title")),
      h("p", {}, t("disclosure")),
      h("p", {}, t("disclosure_accept")),
    ),
    submit,
  );

  /** @param {Event} event */
  async function act(event) {
    event.preventDefault();
    const origin = originOf(server.input.value);
    if (origin === null) return tell(t("server_wrong"), server.input);
    for (const { input } of [email, password]) if (input.value === "") return input.focus();
    // Asked for before anything is awaited, as Chrome allows it only then; the popup may close over the question.
    const allowed = chrome.permissions.request({
      origins: [`${new URL(origin).protocol}//${new URL(origin).hostname}/*`],
    });
    changeSettings({ server: origin, email: email.input.value.trim(), stay: stay.checked });
    submit.disabled = true;
    submit.textContent = `${t("signing_in")}…`;
    try {
      if (!(await allowed)) tell(t("permission_refused", hostOf(origin)), submit);
      else await signIn(origin);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      tell(sentence(error.problem, origin), error.status === 401 ? password.input : submit);
    } finally {
      submit.disabled = false;
      submit.textContent = t("sign_in");
    }
  }

  /** @param {string} origin */
  async function signIn(origin) {
    const { name, version } = { name: "extension", version: chrome.runtime.getManifest().version };
    const body = { email: email.input.value.trim(), password: password.input.value, client: { name, version } };
    const {
      access_token: token,
      token_type: _type,
      expires_at: _end,
      ...session
    } = await new Client(origin).login(body);
    if (typeof token !== "string" || !session.credits) throw new ApiError({ code: "not_this_service", status: 200 });
    await keepSignedIn({ ...session, origin, token });
  }

  /** @param {string} text @param {HTMLElement} where */
  function tell(text, where) {
    problem.replaceChildren(failure(text));
    submit.disabled = false;
    where.focus();
  }
}

/** Give the address that requests begin with; null if it is none that a token may be sent to.
 *  @param {string} typed @returns {string|null} */
export function originOf(typed) {
  const text = typed.trim();
  const address = /^[a-z]+:\/\//i.test(text) ? text : `https://${text}`;
  if (text === "" || !URL.canParse(address)) return null;
  const { protocol, hostname, origin, pathname } = new URL(address);
  const isHere = hostname === "127.0.0.1" || hostname === "localhost";
  if (protocol !== "https:" && !(protocol === "http:" && isHere)) return null;
  return origin + pathname.replace(/\/+$/, "");
}

/** @param {string} name @param {string} type @param {string} value @param {Record<string, any>} more */
function field(name, type, value, more) {
  const input = h("input", { id: name, name, type, required: true, spellcheck: "false", ...more });
  input.value = value;
  return { input, row: h("div", { class: "field" }, h("label", { for: name }, t(name)), input) };
}
