// Runs pending requests while no popup or panel is open. It keeps no state in variables: Chrome ends it after thirty
// idle seconds, and an alarm starts it again.

import { listenForCompanySignIn } from "./company_sign_in.js";
import { ALARM, runPending } from "./requests.js";

chrome.storage.local.setAccessLevel({ accessLevel: "TRUSTED_CONTEXTS" });

chrome.alarms.onAlarm.addListener((alarm) => {
  if (alarm.name === ALARM) return runPending();
});
listenForCompanySignIn();
chrome.runtime.onStartup.addListener(runPending);
chrome.runtime.onInstalled.addListener(runPending); // sets the alarm again: an update removes it
