"""Job changes shown by saved profiles: an event for the workspace that saved one, and for no other."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from app.domain.findings import FoundCompany, Source, SourceKind
from app.domain.normal.companies.company_names import company_key
from app.domain.records.merging import ALL, sortable
from app.engine.contacts import companies, job_changes
from app.engine.contacts.job_changes import SAVED_PROFILE, Employer, Move
from app.engine.contacts.saved.saved_profiles import SavedProfile
from app.engine.contacts.stored_rows import StoredContact
from app.engine.lookups.contact_data import ContactData
from app.engine.matching.contact_matching import Match
from app.infra.database.session import Session

_FIELDS = ("company_name", "company_domain", "company_linkedin_url")


@dataclass(frozen=True, slots=True)
class NamedEmployer:
    """The company in a saved profile, and when it was read (RFC 3339); empty without a company."""

    employer: Employer
    read_at: str


def named_in(profile: SavedProfile) -> NamedEmployer:
    """Return the company that the saved profile names."""
    stamps = [profile.captured.get(name, "") for name in _FIELDS if getattr(profile, name) is not None]
    employer = Employer(
        name_key=company_key(profile.company_name) if profile.company_name else None,
        domain=profile.company_domain,
        linkedin_url=profile.company_linkedin_url,
    )
    return NamedEmployer(employer, max(stamps, default=""))


def owned_contact(match: Match, stored: ContactData) -> StoredContact | None:
    """Return the contact of the profile that the workspace owns, or None."""
    owned = {contact_id for contact_id, _ in stored.owned.fields}
    people = match.remembered or ((match.contact,) if match.contact else ())
    return next((contact for contact in people if contact.id in owned), None)


def record(
    session: Session,
    contact: StoredContact,
    profile: SavedProfile,
    *,
    previous: NamedEmployer,
    captured_at: datetime,
    now: datetime,
) -> None:
    """Record an event if the saved profile shows the owned contact at another company than was known.

    The known company is the one in the workspace's saved profile before (`previous`) or the stored contact's,
    whichever is newer. A snapshot that is older is no change.
    """
    before = _newest(session, contact, previous)
    if before is None or named_in(profile).read_at != sortable(captured_at):
        return
    current = _resolved(session, profile, captured_at)
    if before.read_at > sortable(captured_at) or current.is_same(before.employer):
        return
    move = Move(
        contact_id=contact.id,
        previous=before.employer,
        current=current,
        source=SAVED_PROFILE,
        as_of=captured_at,
    )
    job_changes.record_for(session, [(profile.workspace_id, move)], now=now)


def _newest(session: Session, contact: StoredContact, previous: NamedEmployer) -> NamedEmployer | None:
    """Return the company that was known, None if none was."""
    known = [previous] if previous.read_at else []
    company = companies.get(session, contact.company_id) if contact.company_id else None
    if company is not None:
        stamp = contact.provenance.get("company_id") or contact.provenance.get(ALL) or {}
        known.append(NamedEmployer(job_changes.employer_of(company), stamp.get("at", "")))
    return max(known, key=lambda named: named.read_at, default=None)


def _resolved(session: Session, profile: SavedProfile, at: datetime) -> Employer:
    """Return the stored company that the saved profile names, or the company as it is named there."""
    named = FoundCompany(
        source=Source(SAVED_PROFILE, SourceKind.IMPORT, at),
        name=profile.company_name,
        domain=profile.company_domain,
        linkedin_url=profile.company_linkedin_url,
    )
    stored = companies.find(session, named)
    return named_in(profile).employer if stored is None else job_changes.employer_of(stored)
