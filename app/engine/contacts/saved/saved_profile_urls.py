"""Saved profiles follow the contact: one URL for the two under which a person may have been saved."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import select

from app.engine.contacts.bulk import rows_in
from app.engine.contacts.saved import contact_lists
from app.engine.contacts.saved.contact_lists import ListMember
from app.engine.contacts.saved.saved_profiles import SavedProfile
from app.infra.database.session import Session

_UNITS = (
    ("full_name",),
    ("headline",),
    ("title",),
    ("location",),
    ("company_name", "company_domain", "company_linkedin_url"),
)
"""The fields that are taken together from one row."""


def follow(session: Session, renamed: Mapping[str, str], *, now: datetime) -> None:
    """Change the URLs of saved profiles; a row of the new URL in the same workspace takes in the other.

    The caller holds the lock for entity resolution.
    """
    columns = SavedProfile.__table__.c
    ids = [row.id for row in rows_in(session, select(columns.id), columns.linkedin_url, renamed)]
    for profile_id in sorted(ids):
        profile = session.get_one(SavedProfile, profile_id, populate_existing=True, with_for_update=True)
        url = renamed[profile.linkedin_url or ""]
        own = SavedProfile.workspace_id == profile.workspace_id
        twin = session.scalar(select(SavedProfile).where(own, SavedProfile.linkedin_url == url))
        if twin is None:
            profile.linkedin_url, profile.updated_at = url, now
        else:
            merge(session, profile, twin, now=now)
    session.flush()


def merge(session: Session, old: SavedProfile, profile: SavedProfile, *, now: datetime) -> None:
    """Move to the profile what it lacks of another row of the person, and its lists; delete that row."""
    lists = session.scalars(select(ListMember.list_id).where(ListMember.profile_id == old.id)).all()
    for list_id in lists:
        contact_lists.add_members(session, list_id, [profile.id], now=now)
    for names in _UNITS:
        if all(getattr(profile, name) is None for name in names):
            for name in names:
                setattr(profile, name, getattr(old, name))
    profile.captured = old.captured | profile.captured
    profile.tags = list(dict.fromkeys([*profile.tags, *old.tags]))
    profile.note = profile.note or old.note
    profile.updated_at = now
    session.delete(old)
    session.flush()
