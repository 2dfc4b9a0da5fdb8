// The list that the parts of its view share: its people, what is chosen, and who is told of a change.

import { isPickable } from "./listed_people.js";
import { loadDraft, saveDraft } from "../storage.js";

/** @typedef {import("./listed_people.js").ListedPerson} ListedPerson */

const DRAFT = "people";

export class PeopleList {
  /** @param {ListedPerson[]} people */
  constructor(people) {
    this.people = people;
    this.byKey = new Map(people.map((listed) => [listed.key, listed]));
    /** @type {import("./listed_people.js").Choice} */
    this.choice = { fields: ["email"], skip: "in_source" };
    /** @type {Set<(people: ListedPerson[]) => void>} */
    this.listeners = new Set();
  }

  get picked() {
    return this.people.filter((listed) => listed.isPicked && isPickable(listed));
  }

  /** Call back with the people who have changed, until the signal is aborted.
   *  @param {(people: ListedPerson[]) => void} callback @param {AbortSignal} signal */
  onChange(callback, signal) {
    this.listeners.add(callback);
    signal.addEventListener("abort", () => this.listeners.delete(callback));
  }

  /** @param {ListedPerson[]} people who have changed */
  changed(people) {
    for (const callback of this.listeners) callback(people);
  }

  /** Pick people or not, and remember who is picked: a popup closes easily.
   *  @param {ListedPerson[]} people @param {boolean} isPicked */
  pick(people, isPicked) {
    const changed = people.filter((listed) => isPickable(listed) && listed.isPicked !== isPicked);
    for (const listed of changed) listed.isPicked = isPicked;
    this.changed(changed);
    saveDraft(
      DRAFT,
      this.picked.map(({ key }) => key),
    );
  }

  /** Pick the people who were picked before the popup closed. */
  async restorePicks() {
    const keys = new Set((await loadDraft(DRAFT)) ?? []);
    for (const listed of this.people) listed.isPicked ||= keys.has(listed.key);
  }

  /** @param {Partial<import("./listed_people.js").Choice>} change */
  choose(change) {
    Object.assign(this.choice, change);
    this.changed(this.people);
  }
}
