"""The record of a person's company in the CRM: found or created, or the reason why there is none to link."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.features.crm.turn.writing import FORBIDDEN
from app.features.crm.vendors.errors import AccessRefused, Duplicate, Rejected
from app.features.crm.vendors.exchange import Send
from app.features.crm.vendors.notes import Note, NoteCode
from app.features.crm.vendors.person import CompanyRecord, Employer
from app.features.crm.vendors.vendor import Crm


@dataclass(frozen=True, slots=True)
class Link:
    """The id of the company's record, or a note; `candidates` are the records to choose from, if any."""

    company: str | Note
    candidates: Sequence[CompanyRecord] = ()


def link(
    crm: Crm,
    send: Send,
    employer: Employer,
    current: str,
    *,
    dry_run: bool,
    before_writing: Callable[[], None],
) -> Link:
    """Return the company's record; its name in a dry run that would create it.

    `current` is the id that an earlier push linked: it stays if it still fits.
    """
    found = crm.find_companies(send, employer)
    if current in {one.id for one in found}:
        return Link(current)
    if found:
        return Link(found[0].id, found if len(found) > 1 else ())
    if crm.is_company_in_trash(send, employer):
        return Link(Note(NoteCode.COMPANY_IN_TRASH))
    if dry_run:
        return Link(employer.name or employer.domain or "")
    before_writing()
    return Link(_created(crm, send, employer))


def _created(crm: Crm, send: Send, employer: Employer) -> str | Note:
    """Create the company, and return its id; a note if the CRM does not create it."""
    try:
        return crm.create_company(send, employer)
    except Duplicate as duplicate:
        if duplicate.record_id:
            return duplicate.record_id
        again = crm.find_companies(send, employer)
        return again[0].id if again else Note(NoteCode.COMPANY_REFUSED)
    except Rejected:
        return Note(NoteCode.COMPANY_REFUSED)
    except AccessRefused as refusal:
        if refusal.reason != FORBIDDEN:
            raise
        return Note(NoteCode.COMPANY_REFUSED)
