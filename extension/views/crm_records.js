// The line that says, before the price, that the person is in the workspace's CRM already.

import { t } from "../texts.js";
import { crmName, h } from "./components.js";
import { icon } from "./icons.js";

/** @typedef {import("../client/api.js").CrmRecord} CrmRecord */

/** Return a line for each CRM that has the person. @param {CrmRecord[]|undefined} records @returns {HTMLElement[]} */
export function crmRecords(records = []) {
  const vendors = [...new Set(records.map(({ vendor }) => vendor))];
  return vendors.map((vendor) => vendorLine(records.filter((record) => record.vendor === vendor)));
}

/** @param {CrmRecord[]} records of one CRM @returns {HTMLElement} */
function vendorLine(records) {
  const [first] = records;
  const name = crmName(first);
  const isOne = records.length === 1;
  const several = [
    h("p", {}, h("strong", {}, t("crm_several", records.length, name))),
    h("ul", {}, ...records.map((record) => h("li", {}, ...parts(record, name, { isOne })))),
  ];
  return h(
    "section",
    { class: "crm-records", "aria-label": t("crm_known", name) },
    icon("known"),
    h("div", {}, ...(isOne ? [h("p", {}, ...parts(first, name, { isOne }))] : several)),
  );
}

/** Return what is said of a record, separated by dots, and the link that opens it in a tab of its own.
 *  @param {CrmRecord} record @param {string} name @param {{isOne: boolean}} options */
function parts({ is_outdated: isOutdated, kind, owner, has, url }, name, { isOne }) {
  const [only] = has;
  const kindText = t(kind === "lead" ? "crm_lead" : "crm_contact");
  const said = [
    isOutdated && h("span", { class: "badge fair" }, t("crm_outdated", name)),
    !isOutdated && isOne && h("strong", {}, t("crm_known", name)),
    (!isOne || kind === "lead") && kindText,
    owner && t("crm_owner", owner),
    has.length > 1 ? t("has_both") : only && t(`has_${only}`),
  ].filter(Boolean);
  const isSafe = url !== null && URL.canParse(url) && new URL(url).protocol === "https:";
  const properties = { href: url, target: "_blank", rel: "noopener noreferrer", "aria-label": t("crm_open_in", name) };
  const link = isSafe && h("a", properties, t("crm_open"));
  return [...said, ...(link ? [link] : [])].flatMap((part, index) => (index === 0 ? [part] : [" · ", part]));
}
