"""Job changes with the names of people and companies, read when they are shown: events store only ids."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from app.engine.contacts import job_changes
from app.engine.contacts.bulk import rows_in
from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.engine.contacts.job_changes import SAVED_PROFILE
from app.engine.contacts.saved.saved_profiles import SavedProfile
from app.engine.lookups import contact_data
from app.infra.database.session import Session


@dataclass(frozen=True, slots=True)
class JobChange:
    """A job change; `name` is None for a person without a name and for a suppressed one.

    `previous` and `current` are the companies, each with `company_id`, `name` and `domain`.
    """

    contact_id: str
    name: str | None
    previous: dict[str, str | None]
    current: dict[str, str | None]
    source: str
    as_of: str
    detected_at: str

    def to_public(self) -> dict[str, Any]:
        """Return the change of a contact without the person."""
        return {
            "from": self.previous,
            "to": self.current,
            "source": self.source,
            "as_of": self.as_of,
            "detected_at": self.detected_at,
        }


def latest_of(session: Session, workspace_id: str, contact_ids: Collection[str]) -> dict[str, JobChange]:
    """Return the workspace's latest job change of each of these contacts, by contact id."""
    found = job_changes.latest_of(session, workspace_id, contact_ids)
    return {change.contact_id: change for change in describe(session, workspace_id, list(found.values()))}


def describe(session: Session, workspace_id: str, changes: Sequence[Mapping[str, Any]]) -> list[JobChange]:
    """Return the job changes in the data of these events with names, in a few queries; in the same order."""
    if not changes:
        return []
    ids = {change["contact_id"] for change in changes}
    contacts = {
        contact.id: contact for contact in session.scalars(select(Contact).where(Contact.id.in_(ids)))
    }
    data = contact_data.load(session, workspace_id, contacts.values())
    company_ids = [change[side]["company_id"] for change in changes for side in ("from", "to")]
    query = select(Company.id, Company.name)
    names = {row.id: row.name for row in rows_in(session, query, Company.__table__.c.id, company_ids)}
    saved = _saved_companies(session, workspace_id, contacts.values())
    described = []
    for change in changes:
        contact = contacts.get(change["contact_id"])
        is_shown = contact is not None and not data.is_suppressed(contact)
        to_name = saved.get(change["contact_id"]) if change["source"] == SAVED_PROFILE else None
        described.append(
            JobChange(
                contact_id=change["contact_id"],
                name=contact.full_name if contact is not None and is_shown else None,
                previous=_company(change["from"], names),
                current=_company(change["to"], names, otherwise=to_name if is_shown else None),
                source=change["source"],
                as_of=change["as_of"],
                detected_at=change["detected_at"],
            )
        )
    return described


def _company(
    side: Mapping[str, str | None], names: Mapping[str, str | None], *, otherwise: str | None = None
) -> dict[str, str | None]:
    name = names.get(side["company_id"] or "") or (otherwise if side["company_id"] is None else None)
    return {"company_id": side["company_id"], "name": name, "domain": side["domain"]}


def _saved_companies(
    session: Session, workspace_id: str, contacts: Collection[Contact]
) -> dict[str, str | None]:
    """Return the company's name in the workspace's saved profile of each contact, by contact id."""
    by_url = {contact.linkedin_url: contact.id for contact in contacts if contact.linkedin_url}
    query = select(SavedProfile.linkedin_url, SavedProfile.company_name).where(
        SavedProfile.workspace_id == workspace_id
    )
    rows = rows_in(session, query, SavedProfile.__table__.c.linkedin_url, by_url)
    return {by_url[row.linkedin_url]: row.company_name for row in rows}
