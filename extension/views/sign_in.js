// Signing in: the server, the account, and what the person agrees to.
//
// Chrome asks for the permission to reach the server in a dialog that closes the popup. What was typed, but for the
// password, is kept before that, and the form goes on from there when the popup is opened again.

import { ApiError, Client } from "../client/api.js";
import { changeSettings, draft, keepDraft, keepSignedIn, settings } from "../store.js";
import { hostOf, sentence, t } from "../texts.js";
import { button, failure, h, icon } from "./parts.js";

/** `asked` is the server that Chrome was asked about. @typedef {{server: string, email: string, stay: boolean, asked: string|null}} Typed */

const DRAFT = "sign_in";

/** Show the form; who signs in is shown the rest by whoever follows the session.
 *  @param {string|null} why the code of why nobody is signed in any more */
export async function signInView(why) {
  const chosen = await settings();
  /** @type {Typed} */
  const typed = (await draft(DRAFT)) ?? { server: chosen.server, email: chosen.email, stay: chosen.stay, asked: null };
  const isAllowed = typed.asked !== null && (await chrome.permissions.contains(originsOf(typed.asked)));
  const server = field("server", "url", typed.server, { placeholder: t("server_example"), autocomplete: "url" });
  const email = field("email", "email", typed.email, { autocomplete: "username" });
  const password = field("password", "password", "", { autocomplete: "current-password" });
  const stay = h("input", { type: "checkbox", id: "stay", checked: typed.stay });
  const submit = h("button", { type: "submit", class: "primary" }, t("sign_in"));
  const problem = h("div", {}, refusal());
  const account = h("div", { class: "place" }, server.row, email.row);
  const stayRow = h("label", { class: "check" }, stay, t("stay"));
  const intro = h("p", { class: "hint" }, t("sign_in_intro"));
  const almost = h("div", { class: "place" });
  if (isAllowed) askOnlyForThePassword();
  requestAnimationFrame(() => typed.asked && password.input.focus()); // once it is shown
  return h(
    "form",
    { class: "sign-in", onsubmit: act, oninput: typing, novalidate: true },
    h("div", { class: "brand" }, h("img", { src: "icons/48.png", alt: "" }), h("h1", {}, t("name"))),
    intro,
    problem,
    almost,
    account,
    password.row,
    stayRow,
    submit,
    h(
      "aside",
      { class: "disclosure" },
      h("h2", {}, icon("shield"), t("disclosure_title")),
      h("p", {}, t("disclosure")),
      h("p", {}, t("disclosure_accept")),
    ),
  );

  /** Say why the form is shown, if there is a reason. */
  function refusal() {
    if (typed.asked && !isAllowed) return failure(t("permission_refused", hostOf(typed.asked)));
    return why && !isAllowed && failure(sentence({ code: why, status: 401 }, chosen.server));
  }

  function askOnlyForThePassword() {
    const rest = [intro, account, stayRow];
    rest.forEach((one) => (one.hidden = true));
    const change = button(
      t("change"),
      () => {
        rest.forEach((one) => (one.hidden = false));
        almost.remove();
        server.input.focus();
      },
      { class: "quiet" },
    );
    almost.append(
      h("p", { class: "success", role: "status" }, icon("check"), t("permission_granted", hostOf(typed.asked ?? ""))),
      h("div", { class: "account" }, h("p", {}, h("strong", {}, typed.email)), change),
    );
  }

  /** @param {Event} event */
  function typing(event) {
    if (event.target !== password.input) remember(null);
  }

  /** Keep what was typed, never the password. @param {string|null} asked the server Chrome is about to be asked about */
  function remember(asked) {
    return keepDraft(DRAFT, { server: server.input.value, email: email.input.value, stay: stay.checked, asked });
  }

  /** @param {Event} event */
  async function act(event) {
    event.preventDefault();
    const origin = originOf(server.input.value);
    if (origin === null) return tell(t("server_wrong"), server.input);
    for (const { input } of [email, password]) if (input.value === "") return input.focus();
    submit.disabled = true;
    submit.textContent = `${t("signing_in")}…`;
    await remember(origin); // before the dialog, which closes the popup
    try {
      if (await chrome.permissions.request(originsOf(origin))) await signIn(origin);
      else tell(t("permission_refused", hostOf(origin)), submit);
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
    const who = email.input.value.trim();
    const body = { email: who, password: password.input.value, client: { name, version } };
    const {
      access_token: token,
      token_type: _type,
      expires_at: _end,
      ...session
    } = await new Client(origin).login(body);
    if (typeof token !== "string" || !session.credits) throw new ApiError({ code: "not_this_service", status: 200 });
    await changeSettings({ server: origin, email: who, stay: stay.checked });
    await keepDraft(DRAFT, null);
    await keepSignedIn({ ...session, origin, token });
  }

  /** @param {string} text @param {HTMLElement} where */
  function tell(text, where) {
    problem.replaceChildren(failure(text));
    submit.disabled = false;
    where.focus();
  }
}

/** @param {string} origin what Chrome is asked to allow for this server */
function originsOf(origin) {
  const { protocol, hostname } = new URL(origin);
  return { origins: [`${protocol}//${hostname}/*`] };
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
