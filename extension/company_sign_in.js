// The sign-in with a company account, in a window of the browser. It runs in the service worker, because the window
// closes the popup. The session token is never in an address: a code is, which only this extension can exchange.

import { ApiError, Client } from "./client/api.js";
import { SIGN_IN_FORM, saveDraft, saveSignOutCode, startSession } from "./storage.js";

const MESSAGE = "company_sign_in";

/** Sign in at the server, and return the error code; null after a sign-in. It continues if the popup is closed.
 *  @param {string} server @returns {Promise<string|null>} */
export const startCompanySignIn = (server) => chrome.runtime.sendMessage({ type: MESSAGE, server });

/** Answer the messages of `startCompanySignIn`, in the service worker. */
export function listenForCompanySignIn() {
  chrome.runtime.onMessage.addListener((message, sender, respond) => {
    if (message.type !== MESSAGE || sender.origin !== location.origin) return; // a content script has the page's origin
    signIn(message.server).then(respond);
    return true; // it responds later
  });
}

/** Store the session, or the error code for the sign-in form. @param {string} server */
async function signIn(server) {
  try {
    const { access_token: token, token_type: _type, expires_at: _expiresAt, ...session } = await exchange(server);
    await saveDraft(SIGN_IN_FORM, null);
    await startSession(session, server, token);
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    await saveSignOutCode(error.code);
    return error.code;
  }
}

/** @param {string} server */
async function exchange(server) {
  const client = new Client(server);
  const { company } = await client.signInOptions();
  if (!company?.extension_ids.includes(chrome.runtime.id)) throw refusal("company_sign_in_off");
  const [verifier, state] = [randomText(), randomText()];
  const redirectUri = chrome.identity.getRedirectURL("sign-in");
  const query = new URLSearchParams({
    redirect_uri: redirectUri,
    code_challenge: base64url(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier))),
    code_challenge_method: "S256",
    state,
  });
  const response = await openWindow(`${client.server}${company.path}?${query}`);
  if (!response.startsWith(`${redirectUri}?`)) throw refusal("company_sign_in_failed");
  const returned = new URL(response).searchParams;
  if (returned.get("state") !== state) throw refusal("company_sign_in_failed");
  const code = returned.get("code");
  if (code === null) throw refusal(returned.get("error") ?? "company_sign_in_failed");
  const { version } = chrome.runtime.getManifest();
  return client.companyLogin({ code, code_verifier: verifier, client: { name: "extension", version } });
}

/** @param {string} url @returns {Promise<string>} the address to which the server sent the window in the end */
async function openWindow(url) {
  try {
    return (await chrome.identity.launchWebAuthFlow({ url, interactive: true })) ?? "";
  } catch {
    throw refusal("company_sign_in_canceled"); // the user closed the window, or it could not be loaded
  }
}

/** @param {string} code */
const refusal = (code) => new ApiError({ code, status: 403 });

/** Return 256 random bits. */
const randomText = () => base64url(crypto.getRandomValues(new Uint8Array(32)).buffer);

/** @param {ArrayBuffer} bytes */
function base64url(bytes) {
  const text = btoa(String.fromCharCode(...new Uint8Array(bytes)));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
