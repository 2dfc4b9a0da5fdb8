// The sign-in form.
//
// Chrome asks for permission to connect to the server in a dialog that closes the popup. So the input is stored before
// that, except for the password, and the form continues from there when the popup is opened again.

import { ApiError, Client } from "../client/api.js";
import { loadDraft, loadSettings, saveDraft, saveSession, updateSettings } from "../storage.js";
import { errorMessage, hostOf, t } from "../texts.js";
import { button, errorAlert, h } from "./components.js";
import { icon } from "./icons.js";

/** `requestedServer` is the server whose permission was requested. @typedef {{server: string, email: string, staySignedIn: boolean, requestedServer: string|null}} Draft */

const FORM = "sign_in";

/** Return the form. It stores the new session; the panel reacts to that.
 *  @param {string|null} signOutCode the error code that ended the last session */
export async function signInView(signOutCode) {
  const settings = await loadSettings();
  /** @type {Draft} */
  const draft = (await loadDraft(FORM)) ?? { ...settings, requestedServer: null };
  const { requestedServer } = draft;
  const isAllowed = requestedServer !== null && (await chrome.permissions.contains(originsOf(requestedServer)));
  const server = field("server", "url", draft.server, { placeholder: t("server_example"), autocomplete: "url" });
  const email = field("email", "email", draft.email, { autocomplete: "username" });
  const password = field("password", "password", "", { autocomplete: "current-password" });
  const staySignedIn = h("input", { type: "checkbox", id: "stay-signed-in", checked: draft.staySignedIn });
  const submit = h("button", { type: "submit", class: "primary" }, t("sign_in"));
  const problem = h("div", {}, initialProblem());
  const account = h("div", { class: "stack" }, server.row, email.row);
  const staySignedInRow = h("label", { class: "check" }, staySignedIn, t("stay_signed_in"));
  const intro = h("p", { class: "hint" }, t("sign_in_intro"));
  const granted = h("div", { class: "stack" });
  if (isAllowed) showOnlyPassword();
  requestAnimationFrame(() => requestedServer && password.input.focus()); // once the form is in the document
  return h(
    "form",
    { class: "sign-in", onsubmit: submitForm, oninput: onInput, novalidate: true },
    h("div", { class: "brand" }, h("img", { src: "icons/48.png", alt: "" }), h("h1", {}, t("name"))),
    intro,
    problem,
    granted,
    account,
    password.row,
    staySignedInRow,
    submit,
    h(
      "aside",
      { class: "disclosure" },
      h("h2", {}, icon("shield"), t("disclosure_title")),
      h("p", {}, t("disclosure")),
      h("p", {}, t("disclosure_accept")),
    ),
  );

  /** Return why the user has to sign in again, if there is a reason. */
  function initialProblem() {
    if (isAllowed) return null;
    if (requestedServer) return errorAlert(t("permission_denied", hostOf(requestedServer)));
    return signOutCode && errorAlert(errorMessage({ code: signOutCode, status: 401 }, settings.server));
  }

  function showOnlyPassword() {
    const otherRows = [intro, account, staySignedInRow];
    otherRows.forEach((row) => (row.hidden = true));
    const change = button(
      t("change"),
      () => {
        otherRows.forEach((row) => (row.hidden = false));
        granted.remove();
        server.input.focus();
      },
      { class: "secondary" },
    );
    granted.append(
      h(
        "p",
        { class: "success", role: "status" },
        icon("check"),
        t("permission_granted", hostOf(requestedServer ?? "")),
      ),
      h("div", { class: "account" }, h("p", {}, h("strong", {}, draft.email)), change),
    );
  }

  /** @param {Event} event */
  function onInput(event) {
    if (event.target !== password.input) storeDraft(null);
  }

  /** Store the input without the password. @param {string|null} requested the server whose permission is about to be requested */
  function storeDraft(requested) {
    const input = { server: server.input.value, email: email.input.value, staySignedIn: staySignedIn.checked };
    return saveDraft(FORM, { ...input, requestedServer: requested });
  }

  /** @param {Event} event */
  async function submitForm(event) {
    event.preventDefault();
    const origin = originOf(server.input.value);
    if (origin === null) return showError(t("invalid_server"), server.input);
    for (const { input } of [email, password]) if (input.value === "") return input.focus();
    submit.disabled = true;
    submit.textContent = `${t("signing_in")}…`;
    await storeDraft(origin); // before the dialog, which closes the popup
    try {
      if (await chrome.permissions.request(originsOf(origin))) await signIn(origin);
      else showError(t("permission_denied", hostOf(origin)), submit);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      showError(errorMessage(error.problem, origin), error.status === 401 ? password.input : submit);
    } finally {
      submit.disabled = false;
      submit.textContent = t("sign_in");
    }
  }

  /** @param {string} origin */
  async function signIn(origin) {
    const client = { name: "extension", version: chrome.runtime.getManifest().version };
    const account = { email: email.input.value.trim(), password: password.input.value };
    const {
      access_token: token,
      token_type: _type,
      expires_at: _expiresAt,
      ...session
    } = await new Client(origin).login({ ...account, client });
    if (typeof token !== "string" || !session.credits) throw new ApiError({ code: "not_this_service", status: 200 });
    await updateSettings({ server: origin, email: account.email, staySignedIn: staySignedIn.checked });
    await saveDraft(FORM, null);
    await saveSession({ ...session, origin, token });
  }

  /** @param {string} text @param {HTMLElement} control the one to focus */
  function showError(text, control) {
    problem.replaceChildren(errorAlert(text));
    submit.disabled = false;
    control.focus();
  }
}

/** @param {string} origin @returns {chrome.permissions.Permissions} the permission to connect to the server */
function originsOf(origin) {
  const { protocol, hostname } = new URL(origin);
  return { origins: [`${protocol}//${hostname}/*`] };
}

/** Return the base URL of the server; null if it is not a URL that a token may be sent to.
 *  @param {string} input @returns {string|null} */
function originOf(input) {
  const text = input.trim();
  const url = /^[a-z]+:\/\//i.test(text) ? text : `https://${text}`;
  if (text === "" || !URL.canParse(url)) return null;
  const { protocol, hostname, origin, pathname } = new URL(url);
  const isLoopback = hostname === "127.0.0.1" || hostname === "localhost";
  if (protocol !== "https:" && !(protocol === "http:" && isLoopback)) return null;
  return origin + pathname.replace(/\/+$/, "");
}

/** @param {string} name @param {string} type @param {string} value @param {Record<string, any>} properties */
function field(name, type, value, properties) {
  const input = h("input", { id: name, name, type, required: true, spellcheck: "false", ...properties });
  input.value = value;
  return { input, row: h("div", { class: "field" }, h("label", { for: name }, t(name)), input) };
}
