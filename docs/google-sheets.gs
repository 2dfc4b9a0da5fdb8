/**
 * Fills the columns "E-mail", "Status" and "Credits" of the active sheet, for rows that have no e-mail yet.
 *
 * In Google Sheets: Extensions > Apps Script, paste this file, and set the two script properties (Project Settings)
 * CONTACT_LOOKUP_URL, such as https://lookup.example.com, and CONTACT_LOOKUP_KEY, an API key with a spending cap.
 * The header row names what is known: "Name", "Company", "Website", "LinkedIn".
 */

const FIELDS = { Name: "full_name", Company: "company_name", Website: "company_domain", LinkedIn: "linkedin_url" };
const RESULTS = ["E-mail", "Status", "Credits"];
const MAX_SECONDS = 300; // Google ends a script after six minutes
const MAX_POLLS = 10;

function onOpen() {
  SpreadsheetApp.getUi().createMenu("Contact lookup").addItem("Reveal e-mails", "revealEmails").addToUi();
}

function revealEmails() {
  const sheet = SpreadsheetApp.getActiveSheet();
  const started = Date.now();
  const rows = sheet.getDataRange().getValues();
  const columns = resultColumns(sheet, rows[0]);
  for (let row = 1; row < rows.length; row++) {
    if (Date.now() - started > MAX_SECONDS * 1000) return; // call it again: it continues at the first empty row
    const subject = subjectOf(rows[0], rows[row]);
    if (rows[row][columns[0] - 1] || rows[row][columns[1] - 1] || Object.keys(subject).length === 0) continue;
    const result = reveal(subject);
    RESULTS.forEach((_, index) => sheet.getRange(row + 1, columns[index]).setValue(result.cells[index]));
    if (result.stop) return;
  }
}

/** Return the numbers of the result columns; missing ones are added at the right. */
function resultColumns(sheet, header) {
  let last = header.length;
  return RESULTS.map((name) => {
    const found = header.indexOf(name);
    if (found >= 0) return found + 1;
    last += 1;
    sheet.getRange(1, last).setValue(name);
    return last;
  });
}

function subjectOf(header, cells) {
  const subject = {};
  header.forEach((name, index) => {
    const value = String(cells[index]).trim();
    if (FIELDS[name] && value) subject[FIELDS[name]] = value;
  });
  return subject;
}

/** Return the cells of a person; `stop` if no further call can succeed. */
function reveal(subject) {
  let response = send("/api/ext/reveal/email", { subject });
  for (let poll = 0; response.status === 202 && poll < MAX_POLLS; poll++) {
    response = send(`/api/ext/jobs?id=${response.body.job.id}`);
  }
  if (response.status >= 400) {
    return { cells: ["", response.body.detail, ""], stop: [401, 402, 403, 429].includes(response.status) };
  }
  const emails = response.body.result ? response.body.result.emails : [];
  const email = emails.length ? emails[0].email : "";
  const state = email ? emails[0].status : response.body.job.outcome || response.body.job.status;
  return { cells: [email, state, response.body.credits.charged], stop: false };
}

function send(path, body) {
  const properties = PropertiesService.getScriptProperties();
  const response = UrlFetchApp.fetch(properties.getProperty("CONTACT_LOOKUP_URL") + path, {
    method: body ? "post" : "get",
    contentType: "application/json",
    headers: { Authorization: `Bearer ${properties.getProperty("CONTACT_LOOKUP_KEY")}`, Prefer: "wait=20" },
    muteHttpExceptions: true,
    ...(body ? { payload: JSON.stringify(body) } : {}),
  });
  return { status: response.getResponseCode(), body: JSON.parse(response.getContentText()) };
}
