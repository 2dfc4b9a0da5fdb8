// The sign-in form.
//
// Chrome asks for permission to connect to the server in a dialog that closes the popup. So the input is stored before
// that, except for the password, and the form continues from there when the popup is opened again.

import { ApiError, Client } from "../client/api.js";
import { startCompanySignIn } from "../company_sign_in.js";
import { baseUrlOf, loadPolicy } from "../policy.js";
import { SIGN_IN_FORM, loadDraft, loadSettings, saveDraft, startSession, updateSettings } from "../storage.js";
import { errorMessage, hostOf, t } from "../texts.js";
import { button, errorAlert, h } from "./components.js";
import { icon } from "./icons.js";

/** `requestedServer` is the server whose permission was requested, for a company account if `byCompany`.
 *  @typedef {{server: string, email: string, staySignedIn: boolean, requestedServer: string|null, byCompany: boolean}} Draft */

const TOTP_CODES = ["totp_required", "invalid_totp"];

/** Return the form. It stores the new session; the panel reacts to that.
 *  @param {string|null} signOutCode the error code that ended the last session */
export async function signInView(signOutCode) {
  const [settings, policy] = await Promise.all([loadSettings(), loadPolicy()]);
  /** @type {Draft} */
  const draft = { requestedServer: null, byCompany: false, ...((await loadDraft(SIGN_IN_FORM)) ?? settings) };
  if (policy.server !== null) draft.server = policy.server;
  const { requestedServer } = draft;
  const isAllowed = requestedServer !== null && (await chrome.permissions.contains(originsOf(requestedServer)));
  const server = field("server", "url", draft.server, {
    placeholder: t("server_example"),
    autocomplete: "url",
    readOnly: policy.server !== null,
  });
  if (policy.server !== null) server.row.append(h("p", { class: "hint" }, t("policy_enforced")));
  const email = field("email", "email", draft.email, { autocomplete: "username" });
  const password = field("password", "password", "", { autocomplete: "current-password" });
  const totp = field("totp", "text", "", { autocomplete: "one-time-code", maxLength: 32 });
  totp.row.append(h("p", { class: "hint" }, t("totp_hint")));
  totp.row.hidden = true; // until the server asks for it
  const staySignedIn = h("input", { type: "checkbox", id: "stay-signed-in", checked: draft.staySignedIn });
  const submit = h("button", { type: "submit", class: "primary" }, t("sign_in"));
  const problem = h("div", {}, initialProblem());
  const company = button("", continueWithCompany, { class: "secondary" });
  const account = h("div", { class: "stack" }, server.row, email.row);
  const staySignedInRow = h("label", { class: "check" }, staySignedIn, t("stay_signed_in"));
  const intro = h("p", { class: "hint" }, t("sign_in_intro"));
  const granted = h("div", { class: "stack" });
  /** @type {Parameters<typeof showWays>} */
  let shownWays = [{ password: true, company: null }, t("company_account")]; // until the server says more
  showWays(...shownWays);
  if (isAllowed) showOnlyLastStep();
  loadWays();
  const lastStep = draft.byCompany ? company : password.input;
  requestAnimationFrame(() => requestedServer && lastStep.focus()); // once the form is in the document
  return h(
    "form",
    { class: "sign-in", onsubmit: submitForm, oninput: onInput, novalidate: true },
    h("div", { class: "brand" }, h("img", { src: "icons/48.png", alt: "" }), h("h1", {}, t("name"))),
    intro,
    problem,
    granted,
    account,
    password.row,
    totp.row,
    staySignedInRow,
    submit,
    company,
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
    if (signOutCode && draft.byCompany)
      return errorAlert(errorMessage({ code: signOutCode, status: 401 }, draft.server));
    if (isAllowed) return null;
    if (requestedServer) return errorAlert(t("permission_denied", hostOf(requestedServer)));
    return signOutCode && errorAlert(errorMessage({ code: signOutCode, status: 401 }, settings.server));
  }

  /** Show the ways to sign in that the server offers and the policy allows.
   *  @param {import("../client/api.js").SignInOptions} ways @param {string|null} companyName null if it is not offered */
  function showWays(ways, companyName) {
    shownWays = [ways, companyName];
    const hasPasswords = ways.password && !policy.companySignInOnly;
    for (const control of [email.row, password.row, submit]) control.hidden = !hasPasswords;
    company.hidden = companyName === null;
    company.className = hasPasswords ? "secondary" : "primary";
    company.textContent = t("company_continue", companyName ?? "");
  }

  /** Ask the server how one can sign in, once Chrome may connect to it. A failure shows when signing in. */
  async function loadWays() {
    const origin = baseUrlOf(draft.server);
    if (origin === null || !(await chrome.permissions.contains(originsOf(origin)))) return;
    const ways = await new Client(origin).signInOptions().catch(() => null);
    if (ways === null) return;
    const isOffered = ways.company?.extension_ids.includes(chrome.runtime.id);
    showWays(ways, isOffered ? (ways.company?.name ?? null) : null);
    if (isAllowed) showOnlyLastStep();
  }

  /** Hide what was entered before Chrome's dialog. */
  function showOnlyLastStep() {
    const otherRows = draft.byCompany
      ? [intro, account, staySignedInRow, password.row, submit]
      : [intro, account, staySignedInRow, company];
    granted.replaceChildren();
    otherRows.forEach((row) => (row.hidden = true));
    const change = button(
      t("change"),
      () => {
        otherRows.forEach((row) => (row.hidden = false));
        draft.requestedServer = null;
        showWays(...shownWays);
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
        t(draft.byCompany ? "permission_granted_company" : "permission_granted", hostOf(requestedServer ?? "")),
      ),
      h("div", { class: "account" }, h("p", {}, h("strong", {}, draft.byCompany ? "" : draft.email)), change),
    );
  }

  /** @param {Event} event */
  function onInput(event) {
    if (event.target !== password.input && event.target !== totp.input) storeDraft(null);
  }

  /** Store the input without the password. @param {string|null} requested the server whose permission is about to be requested */
  function storeDraft(requested, byCompany = false) {
    const input = { server: server.input.value, email: email.input.value, staySignedIn: staySignedIn.checked };
    return saveDraft(SIGN_IN_FORM, { ...input, requestedServer: requested, byCompany });
  }

  /** Sign in with a company account, in a window that closes the popup. */
  async function continueWithCompany() {
    const origin = baseUrlOf(server.input.value);
    if (origin === null) return showError(t("invalid_server"), server.input);
    await storeDraft(origin, true); // before the dialog, which closes the popup
    if (!(await chrome.permissions.request(originsOf(origin))))
      return showError(t("permission_denied", hostOf(origin)), company);
    await updateSettings({ server: origin, staySignedIn: staySignedIn.checked });
    problem.replaceChildren(h("p", { class: "hint", role: "status" }, `${t("company_waiting")}…`));
    const code = await startCompanySignIn(origin);
    if (code !== null) showError(errorMessage({ code, status: 401 }, origin), company);
  }

  /** @param {Event} event */
  async function submitForm(event) {
    event.preventDefault();
    const origin = baseUrlOf(server.input.value);
    if (origin === null) return showError(t("invalid_server"), server.input);
    for (const { input } of [email, password, ...(totp.row.hidden ? [] : [totp])])
      if (input.value === "") return input.focus();
    submit.disabled = true;
    submit.textContent = `${t("signing_in")}…`;
    await storeDraft(origin); // before the dialog, which closes the popup
    try {
      if (await chrome.permissions.request(originsOf(origin))) await signIn(origin);
      else showError(t("permission_denied", hostOf(origin)), submit);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === "totp_required") totp.row.hidden = false;
      const wrong = TOTP_CODES.includes(error.code) ? totp.input : password.input;
      showError(errorMessage(error.problem, origin), error.status === 401 ? wrong : submit);
    } finally {
      submit.disabled = false;
      submit.textContent = t("sign_in");
    }
  }

  /** @param {string} origin */
  async function signIn(origin) {
    const client = { name: "extension", version: chrome.runtime.getManifest().version };
    const account = { email: email.input.value.trim(), password: password.input.value };
    const code = totp.row.hidden ? {} : { totp: totp.input.value.trim() };
    const {
      access_token: token,
      token_type: _type,
      expires_at: _expiresAt,
      ...session
    } = await new Client(origin).login({ ...account, ...code, client });
    if (typeof token !== "string" || !session.credits) throw new ApiError({ code: "not_this_service", status: 200 });
    await updateSettings({ server: origin, email: account.email, staySignedIn: staySignedIn.checked });
    await saveDraft(SIGN_IN_FORM, null);
    await startSession(session, origin, token);
  }

  /** @param {string} text @param {HTMLElement} control the one to focus */
  function showError(text, control) {
    problem.replaceChildren(errorAlert(text));
    submit.disabled = false;
    for (const { input } of [server, email, password, totp])
      input.setAttribute("aria-invalid", String(input === control));
    control.focus();
  }
}

/** @param {string} origin @returns {chrome.permissions.Permissions} the permission to connect to the server */
function originsOf(origin) {
  const { protocol, hostname } = new URL(origin);
  return { origins: [`${protocol}//${hostname}/*`] };
}

/** @param {string} name @param {string} type @param {string} value @param {Record<string, any>} properties */
function field(name, type, value, properties) {
  const input = h("input", { id: name, name, type, required: true, spellcheck: "false", ...properties });
  input.value = value;
  return { input, row: h("div", { class: "field" }, h("label", { for: name }, t(name)), input) };
}
