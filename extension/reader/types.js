// Types of the rules by which pages are read, and of what is read.

/** `read` says how the page is read, by default by the selectors. docs/page-lists.md explains the fields.
 *  @typedef {{name: string, kind?: "list"|"person", within?: string[], item?: string[], except?: string[], own?: string[],
 *    read?: "items"|"json-ld"|"contact-links"|"profile-links"|"team"|"addresses", fields?: Record<string, string[]>,
 *    lines?: string[]}} Rule */
/** @typedef {Rule & {hosts: string[], paths?: string[]}} SiteRule */
/** @typedef {"view_profile"|"members"|"badges"|"pronouns"|"titles"|"not_names"|"particles"|"roles"} WordList */
/** @typedef {Record<WordList, string[]>} Words */
/** @typedef {{version: number, off: string[], apps: string[], sites: SiteRule[], generic: Rule[], words: Words}} PageRules */
/** @typedef {{people: number, elements: number, milliseconds: number, text: number}} Limits */
/** What is read of a person; `link` is a profile, a lead or a candidate, and `other_link` certainly the same person's of the
 *  other kind. `isMore` is one who is only counted.
 *  @typedef {{full_name?: string, title?: string, company_name?: string, location?: string, email?: string, phone?: string,
 *    link?: string, other_link?: string, isMore?: boolean}} Reading */
/** The part of the page in which something can be seen, in pixels of the viewport.
 *  @typedef {{left: number, top: number, right: number, bottom: number}} Box */
/** The elements and texts of the page, as all ways to read people use them.
 *  @typedef {{isSite: boolean, limits: Limits} & ReturnType<typeof createValueParsers>
 *    & ReturnType<typeof createNameParsers> & ReturnType<typeof createElements> & ReturnType<typeof createReadings>} PageAccess */

export {};
