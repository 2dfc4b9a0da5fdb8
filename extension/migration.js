// Migrates what version 1.0 stored on disk. What it kept in memory is gone: Chrome clears that on an update.

import { disk } from "./storage.js";

const OLD_ALARM = "questions";
const OLD_PREFIX = "question:";
const NEW_PREFIX = "request:";

/** Rename the keys that version 1.0 used; without effect if there are none. */
export async function migrateStorage() {
  await navigator.locks.request("migration", async () => {
    const stored = await disk.get(null);
    const old = Object.keys(stored).filter((key) => key.startsWith(OLD_PREFIX));
    /** @type {Record<string, any>} */
    const migrated = Object.fromEntries(
      old.map((key) => [NEW_PREFIX + key.slice(OLD_PREFIX.length), migrateRequest(stored[key])]),
    );
    if (stored.settings && "ask" in stored.settings) migrated.settings = migrateSettings(stored.settings);
    if (Object.keys(migrated).length > 0) await disk.set(migrated);
    if (old.length > 0) await disk.remove(old);
    await chrome.alarms.clear(OLD_ALARM);
  });
}

/** @param {any} stored a request that has no final state: only those were on disk @returns {import("./request_store.js").StoredRequest} */
function migrateRequest({ about, made, answer, after, ...kept }) {
  return { ...kept, person: about, createdAt: made, response: answer, retryAt: after };
}

/** @param {any} stored @returns {import("./storage.js").Settings} */
function migrateSettings({ ask, stay, ...kept }) {
  return { ...kept, lookupBy: ask, staySignedIn: stay };
}
