"""The record of a person's company in the CRM: found or created, or the reason why there is none to link."""

from __future__ import annotations

from collections.abc import Callable

from app.features.crm.turn.writing import FORBIDDEN
from app.features.crm.vendors.errors import AccessRefused, Duplicate, Rejected
from app.features.crm.vendors.exchange import Send
from app.features.crm.vendors.notes import Note, NoteCode
from app.features.crm.vendors.person import Employer
from app.features.crm.vendors.vendor import Crm


def company_id(
    crm: Crm, send: Send, employer: Employer, *, dry_run: bool, before_writing: Callable[[], None]
) -> str | Note:
    """Return the id of the company's record, or a note; its name in a dry run that would create it."""
    found = crm.find_company(send, employer)
    if found is not None:
        return found
    if crm.is_company_in_trash(send, employer):
        return Note(NoteCode.COMPANY_IN_TRASH)
    if dry_run:
        return employer.name or employer.domain or ""
    before_writing()
    return _created(crm, send, employer)


def _created(crm: Crm, send: Send, employer: Employer) -> str | Note:
    """Create the company, and return its id; a note if the CRM does not create it."""
    try:
        return crm.create_company(send, employer)
    except Duplicate as duplicate:
        existing = duplicate.record_id or crm.find_company(send, employer)
        return existing or Note(NoteCode.COMPANY_REFUSED)
    except Rejected:
        return Note(NoteCode.COMPANY_REFUSED)
    except AccessRefused as refusal:
        if refusal.reason != FORBIDDEN:
            raise
        return Note(NoteCode.COMPANY_REFUSED)
