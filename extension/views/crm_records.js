// The line that says, before the price, that the person is in the workspace's CRM already.

import { t } from "../texts.js";
import { crmName, h } from "./components.js";
import { icon } from "./icons.js";

/** @typedef {import("../client/api.js").CrmRecord} CrmRecord */

/** Return a line for each CRM that has the person. @param {CrmRecord[]|undefined} records @returns {HTMLElement[]} */
export const crmRecords = (records = []) => Object.values(Object.groupBy(records, crmName)).map(vendorLine);

/** @param {CrmRecord[]} records of one CRM @returns {HTMLElement} */
function vendorLine(records) {
  const name = crmName(records[0]);
  const isOne = records.length === 1;
  const items = records.map((record) => h(isOne ? "p" : "li", {}, ...parts(record, name, { isOne })));
  const several = [h("p", {}, h("strong", {}, t("crm_several", records.length, name))), h("ul", {}, ...items)];
  const lines = h("div", {}, ...(isOne ? items : several));
  return h("section", { class: "crm-records", "aria-label": t("crm_known", name) }, icon("known"), lines);
}

/** Return what is said of a record, and the link to it. @param {CrmRecord} record @param {string} name @param {{isOne: boolean}} options */
function parts({ is_outdated: isOutdated, kind, owner, has, url }, name, { isOne }) {
  const link = { href: url, target: "_blank", rel: "noopener noreferrer", "aria-label": t("crm_open_in", name) };
  const said = [
    isOutdated && h("span", { class: "badge fair" }, t("crm_outdated", name)),
    !isOutdated && isOne && h("strong", {}, t("crm_known", name)),
    (!isOne || kind === "lead") && t(kind === "lead" ? "crm_lead" : "crm_contact"),
    owner && t("crm_owner", owner),
    has.length > 1 ? t("has_both") : has.map((only) => t(`has_${only}`))[0],
    isHttps(url) && h("a", link, t("crm_open")),
  ].filter(Boolean);
  return said.flatMap((part, index) => (index === 0 ? [part] : [" · ", part]));
}

/** @param {string|null} url */
const isHttps = (url) => url !== null && URL.canParse(url) && new URL(url).protocol === "https:";
