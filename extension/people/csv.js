// A list of people as a file for a spreadsheet (RFC 4180).

import { valuesOf } from "./listed_people.js";
import { t } from "../texts.js";

const COLUMNS = ["name", "title", "company", "profile", "email", "phone"];
const FORMULA = /^[=@\t\r]|^[+-](?![\d\s().-]*$)/; // what a spreadsheet would compute; a number is none

/** Return the file. @param {import("./listed_people.js").ListedPerson[]} people */
export function csvOf(people) {
  const header = COLUMNS.map((name) => t(`column_${name}`));
  return [header, ...people.map(rowOf)].map((cells) => `${cells.map(cell).join(",")}\r\n`).join("");
}

/** @param {import("./listed_people.js").ListedPerson} listed */
function rowOf(listed) {
  const { person, subject, lookup } = listed;
  const emails = valuesOf(listed, "email").map((value) => value.email);
  const phones = valuesOf(listed, "phone").map((value) => value.e164);
  return [
    person.full_name ?? lookup?.contact?.full_name,
    person.title ?? lookup?.contact?.title,
    person.company_name ?? lookup?.company?.name,
    subject?.linkedin_url,
    emails[0],
    phones[0],
  ];
}

/** @param {string|null|undefined} text */
function cell(text) {
  const plain = (text ?? "").replace(FORMULA, "'$&");
  return /[",\r\n']/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
