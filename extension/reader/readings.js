// What was read of people, and the joining of what was read of the same person.

/** @param {Limits} limits */
function createReadings(limits) {
  /** Return a reading of each, in full as long as a list may have it; the others are only counted.
   *  @template T @param {T[]} list @param {(one: T) => Reading} read @returns {Reading[]} */
  function readingsOf(list, read) {
    const most = 2 * limits.people; // some may be of the same person
    return list.map((one, index) => (index < most ? read(one) : { isMore: true }));
  }

  /** @param {Reading} person */
  function isNobody({ full_name, email, link, isMore }) {
    return !isMore && (full_name === "" || (!full_name && !email && !link));
  }

  /** Join the readings of the same person, and keep as many people as a list may have. @param {Reading[]} readings */
  function merged(readings) {
    /** @type {Map<string, Reading>} */
    const byKey = new Map();
    /** @type {Reading[]} */
    const people = [];
    let left_out = 0;
    for (const reading of readings) {
      const keys = keysOf(reading);
      const same = keys.map((key) => byKey.get(key)).find((other) => other && isSame(other, reading));
      if (same && (same.other_link ?? reading.other_link) !== (reading.other_link ?? same.other_link)) {
        delete same.other_link;
        delete reading.other_link;
      }
      if (same) Object.assign(same, { ...reading, ...same });
      else if (people.length < limits.people && !reading.isMore) people.push(reading);
      else left_out += 1;
      for (const key of keys) if (!byKey.has(key)) byKey.set(key, same ?? reading);
    }
    return { people, left_out };
  }

  /** @param {Reading} person */
  function keysOf({ email, link, full_name }) {
    return [email, link, full_name?.toLowerCase()].filter((key) => key !== undefined);
  }

  /** Return whether nothing contradicts that two readings with a common key are of one person.
   *  @param {Reading} one @param {Reading} other */
  function isSame(one, other) {
    const agree = (/** @type {"email"|"link"} */ field) => !one[field] || !other[field] || one[field] === other[field];
    return one.full_name?.toLowerCase() === other.full_name?.toLowerCase()
      ? agree("email") && agree("link")
      : !one.full_name || !other.full_name;
  }

  /** @param {Record<string, string|undefined>} values */
  function compact(values) {
    return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
  }

  return { readingsOf, isNobody, merged, compact };
}
