// The button that saves a revealed person as a vCard.

import { ApiError } from "../client/api.js";
import { may } from "../permissions.js";
import { errorMessage, t } from "../texts.js";
import { announce, button, h, refused } from "./components.js";

/** Add the button to the card of a contact, once. @param {import("../types.js").App} app @param {HTMLElement} card @param {import("../client/api.js").Contact} contact */
export function addVcard(app, card, contact) {
  if (card.querySelector(".vcard")) return;
  if (!may(app.session, "export")) {
    card.append(h("div", { class: "vcard" }, refused("export")));
    return;
  }
  const failure = h("p", { class: "hint" });
  card.append(button(t("vcard"), download, { class: "vcard secondary" }), failure);

  async function download() {
    try {
      const bytes = await app.client.vcard(contact.id, { signal: app.signal });
      const url = URL.createObjectURL(new Blob([bytes], { type: "text/vcard" }));
      const name = (contact.full_name ?? "").replace(/[^\p{L}\p{N} .-]/gu, "").trim();
      h("a", { href: url, download: `${name || "contact"}.vcf` }).click();
      setTimeout(() => URL.revokeObjectURL(url), 60_000); // the download has begun by then
      failure.textContent = "";
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      failure.textContent = errorMessage(error, app.session.origin);
      announce(failure.textContent);
    }
  }
}
