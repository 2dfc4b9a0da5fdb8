// What the account may do, as the session says it. An older server says nothing: then it decides when it is asked.

/** @typedef {"export"|"reveal_phones"|"push"|"see_costs"|"start_uploads"} Permission */

/** @param {{auth: {permissions?: string[]}}} session @param {Permission} permission */
export function may(session, permission) {
  return session.auth.permissions?.includes(permission) ?? true;
}
