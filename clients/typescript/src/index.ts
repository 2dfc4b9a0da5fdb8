import createClient, { type Client } from "openapi-fetch";

import type { paths } from "./schema.js";

export type { components, paths } from "./schema.js";

/** The client of one service: `GET`, `POST` and `DELETE`, each typed by its path. */
export type ContactLookup = Client<paths>;

/** Return a client that sends this session token or API key; without one it can only sign in. */
export function contactLookup(baseUrl: string, token?: string): ContactLookup {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return createClient<paths>({ baseUrl, headers });
}
