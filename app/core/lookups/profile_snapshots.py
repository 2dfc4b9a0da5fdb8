"""Captures: a profile as it was read at one moment, merged into what the workspace saved before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.core.contacts.bulk import lock_resolution
from app.core.contacts.saved_profiles import SavedProfile
from app.core.lookups import disclosure
from app.domain.errors import PersonSuppressed
from app.domain.ids import new_id
from app.domain.normal import names
from app.domain.records.subjects import Subject
from app.infra.clock import rfc3339
from app.infra.db import insert

# Every field that is merged, with the name that callers know it by.
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
    """What was read from a profile: some of FIELDS, and list_name, tags or note, if given, as `marks`."""

    linkedin_url: str
    captured_at: datetime | None
    fields: Mapping[str, str | None] = field(default_factory=dict)
    annotations: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field that a capture changed."""

    field: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class Position:
    """Where somebody works, and as what."""

    title: str | None
    company: str | None
    domain: str | None

    def differs_from(self, other: Position) -> bool:
        """Tell whether the job is another one, as far as both are known, but for case and legal forms."""
        if _differ(self.title, other.title, names.name_key):
            return True
        if self.company and other.company:
            return _differ(self.company, other.company, names.company_key)
        return _differ(self.domain, other.domain, str)


@dataclass(frozen=True, slots=True)
class SaveResult:
    """A saved profile after a capture, what that changed, and the job before it, if that was another."""

    profile: SavedProfile
    created: bool = False
    changes: tuple[FieldChange, ...] = ()
    previous_position: Position | None = None

    @property
    def position(self) -> Position:
        """The job as it is known now."""
        return _position(self.profile)


def save(
    session: Session, *, workspace_id: str, account_id: str, capture: ProfileSnapshot, now: datetime
) -> SaveResult:
    """Merge the capture into the workspace's row of this profile, adding the row if it is the first.

    Field by field the newest capture wins; what it does not know stays. A mark given as null is taken off.

    Raises:
        PersonSuppressed: the profile, or the contact that has it, is on the suppression list.

    """
    lock_resolution(session)  # nobody is erased between the look at the list and the writing
    subject = Subject(linkedin_url=capture.linkedin_url)
    match, held = disclosure.find(session, workspace_id, subject)
    if held.is_suppressed(match.contact, subject):
        raise PersonSuppressed
    capture = replace(capture, captured_at=capture.captured_at or now)
    created = _insert(session, workspace_id, account_id, capture, now)
    profile = session.scalars(
        select(SavedProfile)
        .where(SavedProfile.workspace_id == workspace_id, SavedProfile.linkedin_url == capture.linkedin_url)
        .with_for_update()
        .execution_options(populate_existing=True)
    ).one()
    before = _position(profile)
    changes = (*_merge(profile, capture), *_apply_annotations(profile, capture))
    if changes:
        profile.updated_at = now
    session.flush()
    if created:
        return SaveResult(profile, created=True)
    was = before if _position(profile).differs_from(before) else None
    return SaveResult(profile, changes=changes, previous_position=was)


def _insert(
    session: Session, workspace_id: str, account_id: str, capture: ProfileSnapshot, now: datetime
) -> bool:
    """Add an empty row; False if the profile is known, also if another request adds it at this moment."""
    row = session.execute(
        insert(session, SavedProfile)
        .values(
            id=new_id("prf"),
            workspace_id=workspace_id,
            linkedin_url=capture.linkedin_url,
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


def _merge(profile: SavedProfile, capture: ProfileSnapshot) -> list[FieldChange]:
    read = {name: value for name, value in capture.fields.items() if value is not None}
    stamp = rfc3339(capture.captured_at) or ""
    newer = {name: value for name, value in read.items() if stamp >= profile.captured.get(name, "")}
    values: dict[str, str | None] = dict(newer)
    if _differ(profile.company_name, newer.get("company_name"), names.company_key):
        # The old company's website must not stand beside the new one's name.
        values = (
            dict.fromkeys((name for name in _OF_COMPANY if stamp >= profile.captured.get(name, "")), None)
            | values
        )
    profile.captured = profile.captured | dict.fromkeys(values, stamp)
    return _set(profile, values, FIELDS)


def _apply_annotations(profile: SavedProfile, capture: ProfileSnapshot) -> list[FieldChange]:
    """Put on the list, tags and note that were given, null included, unless newer ones are there."""
    stamp = rfc3339(capture.captured_at) or ""
    newer = {
        name: value for name, value in capture.annotations.items() if stamp >= profile.captured.get(name, "")
    }
    profile.captured = profile.captured | dict.fromkeys(newer, stamp)
    return _set(profile, newer, {name: public for public, name in ANNOTATIONS.items()})


def _set(profile: SavedProfile, values: Mapping[str, Any], shown_as: Mapping[str, str]) -> list[FieldChange]:
    changes = [
        FieldChange(public, getattr(profile, name), values[name])
        for name, public in shown_as.items()
        if name in values and getattr(profile, name) != values[name]
    ]
    for name, value in values.items():
        setattr(profile, name, value)
    return changes


def _differ(one: str | None, other: str | None, key: Callable[[str], str]) -> bool:
    return one is not None and other is not None and key(one) != key(other)


def _position(profile: SavedProfile) -> Position:
    return Position(profile.title, profile.company_name, profile.company_domain)
