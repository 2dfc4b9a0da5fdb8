"""Saves stored contacts by their id: under their profile, or, if none is known, under the contact."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import and_, or_, select

from app.domain.ids import new_id
from app.engine.contacts.contacts import Contact
from app.engine.contacts.saved.saved_profiles import SavedProfile
from app.infra.database.db import insert
from app.infra.database.session import Session


def find(session: Session, workspace_id: str, contacts: Sequence[Contact]) -> dict[str, SavedProfile]:
    """Return the workspace's saved rows of these contacts by contact id, locked in the order of their ids.

    A contact that was saved twice, before its profile became known and after, has the row of its profile.
    """
    by_url = {contact.linkedin_url: contact.id for contact in contacts if contact.linkedin_url}
    query = (
        select(SavedProfile)
        .where(
            SavedProfile.workspace_id == workspace_id,
            or_(
                SavedProfile.linkedin_url.in_(by_url),
                SavedProfile.contact_id.in_([contact.id for contact in contacts]),
            ),
        )
        .order_by(SavedProfile.id)
        .with_for_update()
    )
    rows = session.scalars(query, execution_options={"populate_existing": True}).all()
    by_contact = {row.contact_id: row for row in rows if row.contact_id}
    return by_contact | {by_url[row.linkedin_url]: row for row in rows if row.linkedin_url}


def save(
    session: Session, workspace_id: str, account_id: str, contacts: Sequence[Contact], *, now: datetime
) -> dict[str, SavedProfile]:
    """Save the contacts that are not saved yet; return the saved rows of all by contact id.

    The caller has locked the resolution of contacts, and checked that none is suppressed.
    """
    saved = find(session, workspace_id, contacts)
    rows: list[dict[str, Any]] = [
        {
            "id": new_id("prf"),
            "workspace_id": workspace_id,
            "linkedin_url": contact.linkedin_url,
            "contact_id": None if contact.linkedin_url else contact.id,
            "tags": [],
            "saved_by": account_id,
            "captured": {},
            "created_at": now,
            "updated_at": now,
        }
        for contact in contacts
        if contact.id not in saved
    ]
    if not rows:
        return saved
    session.execute(insert(session, SavedProfile).on_conflict_do_nothing(), rows)
    return find(session, workspace_id, contacts)


def by_id(session: Session, workspace_id: str, ids: Collection[str]) -> dict[str, SavedProfile]:
    """Return the workspace's saved rows with these ids by id, locked in the order of their ids."""
    is_own = and_(SavedProfile.workspace_id == workspace_id, SavedProfile.id.in_(ids))
    query = select(SavedProfile).where(is_own).order_by(SavedProfile.id).with_for_update()
    rows = session.scalars(query, execution_options={"populate_existing": True})
    return {row.id: row for row in rows}
