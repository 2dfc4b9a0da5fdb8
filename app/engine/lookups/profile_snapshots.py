"""Profile snapshots: a profile as read at one time, merged into the workspace's saved profile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import or_, select

from app.domain.errors import PersonSuppressed
from app.domain.ids import new_id
from app.domain.normal.companies.company_names import company_key
from app.domain.normal.names import name_keys
from app.domain.records.subjects import Subject
from app.engine.contacts.bulk import lock_resolution
from app.engine.contacts.saved import contact_lists, saved_profile_urls
from app.engine.contacts.saved.saved_profiles import SavedProfile
from app.engine.contacts.stored_rows import StoredContact
from app.engine.lookups import known_people, profile_job_changes
from app.infra.clock import rfc3339
from app.infra.database.db import insert
from app.infra.database.session import Session

# Each merged field with its public name.
FIELDS = {
    "full_name": "full_name",
    "headline": "headline",
    "title": "title",
    "location": "location",
    "company_name": "company.name",
    "company_domain": "company.domain",
    "company_linkedin_url": "company.linkedin_url",
}
_OF_COMPANY = ("company_domain", "company_linkedin_url")
ANNOTATIONS = {"list": "list_name", "tags": "tags", "note": "note"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileSnapshot:
    """The values read from a profile: some of FIELDS, and the given ANNOTATIONS (list_name, tags, note)."""

    linkedin_url: str
    captured_at: datetime | None
    fields: Mapping[str, str | None] = field(default_factory=dict)
    annotations: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field changed by a snapshot."""

    field: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class Position:
    """A person's job title and employer."""

    title: str | None
    company: str | None
    domain: str | None

    def differs_from(self, other: Position) -> bool:
        """Return whether a value known in both positions differs, ignoring case and legal forms."""
        if _differ(self.title, other.title, name_keys.name_key):
            return True
        if self.company and other.company:
            return _differ(self.company, other.company, company_key)
        return _differ(self.domain, other.domain, str)


@dataclass(frozen=True, slots=True)
class SaveResult:
    """A saved profile after a snapshot, the changes, and the previous position if it differs."""

    profile: SavedProfile
    created: bool = False
    changes: tuple[FieldChange, ...] = ()
    previous_position: Position | None = None

    @property
    def position(self) -> Position:
        """The current position."""
        return _position(self.profile)


def save(
    session: Session, *, workspace_id: str, account_id: str, snapshot: ProfileSnapshot, now: datetime
) -> SaveResult:
    """Merge the snapshot into the workspace's saved profile, or insert a new one.

    For each field the newest snapshot wins; missing fields keep their value. A null annotation is removed.
    """
    lock_resolution(session)  # no erasure between the suppression check and the insert
    subject = Subject(linkedin_url=snapshot.linkedin_url)
    match, stored = known_people.find(session, workspace_id, subject)
    if stored.is_suppressed(match.contact, subject):
        raise PersonSuppressed
    captured_at = snapshot.captured_at or now
    url = _shown_url(match.contact, snapshot.linkedin_url)
    snapshot = replace(snapshot, linkedin_url=url, captured_at=captured_at)
    created = _insert(session, workspace_id, account_id, snapshot, now)
    profile = _locked(session, workspace_id, snapshot.linkedin_url, match.contact, now=now)
    before, list_before = _position(profile), profile.list_name
    previous_employer = profile_job_changes.named_in(profile)
    changes = (*_merge(profile, snapshot), *_apply_annotations(profile, snapshot))
    if changes:
        profile.updated_at = now
    session.flush()
    if profile.list_name != list_before:
        contact_lists.follow_save(session, profile, list_before, now=now)
    contact = profile_job_changes.owned_contact(match, stored)
    if contact is not None:
        profile_job_changes.record(
            session, contact, profile, previous=previous_employer, captured_at=captured_at, now=now
        )
    if created:
        return SaveResult(profile, created=True)
    previous = before if _position(profile).differs_from(before) else None
    return SaveResult(profile, changes=changes, previous_position=previous)


def _shown_url(contact: StoredContact | None, url: str) -> str:
    """Return the profile URL with the chosen name if the given one has an id of the same member."""
    is_further = contact is not None and contact.member_url == url
    return contact.linkedin_url or url if contact is not None and is_further else url


def _insert(
    session: Session, workspace_id: str, account_id: str, snapshot: ProfileSnapshot, now: datetime
) -> bool:
    """Insert an empty row; return False if the profile exists, even if inserted concurrently."""
    row = session.execute(
        insert(session, SavedProfile)
        .values(
            id=new_id("prf"),
            workspace_id=workspace_id,
            linkedin_url=snapshot.linkedin_url,
            tags=[],
            saved_by=account_id,
            captured={},
            created_at=now,
            updated_at=now,
        )
        .on_conflict_do_nothing()
        .returning(SavedProfile.id)
    ).first()
    return row is not None


def _locked(
    session: Session, workspace_id: str, linkedin_url: str, contact: StoredContact | None, *, now: datetime
) -> SavedProfile:
    """Return the locked profile with this URL, merged with the row of the same contact saved without one."""
    is_contact = [SavedProfile.contact_id == contact.id] if contact else []
    rows = session.scalars(
        select(SavedProfile)
        .where(
            SavedProfile.workspace_id == workspace_id,
            or_(SavedProfile.linkedin_url == linkedin_url, *is_contact),
        )
        .order_by(SavedProfile.id)
        .with_for_update()
        .execution_options(populate_existing=True)
    ).all()
    (profile,) = (row for row in rows if row.linkedin_url == linkedin_url)
    for row in rows:
        if row is not profile:
            saved_profile_urls.merge(session, row, profile, now=now)
    return profile


def _merge(profile: SavedProfile, snapshot: ProfileSnapshot) -> list[FieldChange]:
    fields = {name: value for name, value in snapshot.fields.items() if value is not None}
    stamp = rfc3339(snapshot.captured_at) or ""
    newer = {name: value for name, value in fields.items() if stamp >= profile.captured.get(name, "")}
    values: dict[str, str | None] = dict(newer)
    if _differ(profile.company_name, newer.get("company_name"), company_key):
        # The old company's website must not be combined with the new company's name.
        values = (
            dict.fromkeys((name for name in _OF_COMPANY if stamp >= profile.captured.get(name, "")), None)
            | values
        )
    profile.captured = profile.captured | dict.fromkeys(values, stamp)
    return _set(profile, values, FIELDS)


def _apply_annotations(profile: SavedProfile, snapshot: ProfileSnapshot) -> list[FieldChange]:
    """Apply the given list, tags and note, null included, unless the stored ones are newer."""
    stamp = rfc3339(snapshot.captured_at) or ""
    newer = {
        name: value for name, value in snapshot.annotations.items() if stamp >= profile.captured.get(name, "")
    }
    profile.captured = profile.captured | dict.fromkeys(newer, stamp)
    return _set(profile, newer, {name: public for public, name in ANNOTATIONS.items()})


def _set(
    profile: SavedProfile, values: Mapping[str, Any], public_names: Mapping[str, str]
) -> list[FieldChange]:
    changes = [
        FieldChange(public, getattr(profile, name), values[name])
        for name, public in public_names.items()
        if name in values and getattr(profile, name) != values[name]
    ]
    for name, value in values.items():
        setattr(profile, name, value)
    return changes


def _differ(first: str | None, second: str | None, key: Callable[[str], str]) -> bool:
    return first is not None and second is not None and key(first) != key(second)


def _position(profile: SavedProfile) -> Position:
    return Position(profile.title, profile.company_name, profile.company_domain)
