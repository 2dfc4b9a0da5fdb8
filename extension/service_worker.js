// Goes on with what was asked after the popup was closed. It keeps no state of its own: Chrome ends it after
// thirty seconds without work, and an alarm starts it again.

import { ALARM, driveOnce } from "./questions.js";

chrome.storage.local.setAccessLevel({ accessLevel: "TRUSTED_CONTEXTS" });

chrome.alarms.onAlarm.addListener((alarm) => {
  if (alarm.name === ALARM) return driveOnce();
});
chrome.runtime.onStartup.addListener(driveOnce);
chrome.runtime.onInstalled.addListener(driveOnce); // an update drops the alarm
