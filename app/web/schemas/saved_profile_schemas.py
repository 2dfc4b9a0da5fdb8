"""The request that saves a profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from marshmallow import ValidationError, post_load

from app.domain.messages import Message
from app.domain.normal.companies.employers import given_employer
from app.domain.records.subjects import Subject
from app.engine.lookups import profile_snapshots
from app.engine.lookups.profile_snapshots import ProfileSnapshot
from app.web.schemas import annotation_fields
from app.web.schemas.contact_schemas import TIME
from app.web.schemas.fields import (
    NestedObject,
    NonBlankString,
    SingleLineString,
    StrictSchema,
    UtcTime,
    company_url,
    profile_url,
    website,
)

MIN_YEAR = 2000


def _require_a_recent_year(captured_at: datetime) -> None:
    if captured_at.year < MIN_YEAR:
        raise ValidationError(Message("This is before the year {min_year}.", min_year=str(MIN_YEAR)))


class ProfileCompanySchema(StrictSchema):
    """The company named in a profile."""

    name = NonBlankString(allow_none=True, metadata={"example": "Acme Engines"})
    domain = website(allow_none=True)
    linkedin_url = company_url(allow_none=True)

    @post_load(pass_original=True)
    def _employer(self, data: dict[str, Any], given: Mapping[str, Any], **_options: Any) -> dict[str, Any]:
        if data.get("domain"):
            data["domain"] = given_employer(given["domain"], data.get("name")).domain
        return data


class ProfileSchema(StrictSchema):
    """A profile as the client read it; absent and null fields were not visible."""

    linkedin_url = profile_url(required=True)
    full_name = NonBlankString(allow_none=True, metadata={"example": "Ada Lovelace"})
    headline = NonBlankString(allow_none=True, metadata={"example": "Building engines that think"})
    title = NonBlankString(allow_none=True, metadata={"example": "Chief Engineer"})
    location = NonBlankString(allow_none=True, metadata={"example": "London, United Kingdom"})
    company = NestedObject(ProfileCompanySchema, allow_none=True)


class LinkedinSaveSchema(StrictSchema):
    """A profile and its annotations; list, tags and note replace the stored ones."""

    profile = NestedObject(ProfileSchema, required=True)
    list = SingleLineString(allow_none=True, metadata={"example": "Prospects"})
    tags = annotation_fields.tags()
    note = annotation_fields.note()
    captured_at = UtcTime(
        allow_none=True,
        validate=_require_a_recent_year,
        metadata={"example": TIME, "description": "When the profile was read; now by default."},
    )

    @post_load
    def _snapshot(self, data: dict[str, Any], **_options: Any) -> ProfileSnapshot:
        annotations = {name: data[key] for key, name in profile_snapshots.ANNOTATIONS.items() if key in data}
        if "tags" in annotations:
            annotations["tags"] = list(dict.fromkeys(annotations["tags"] or ()))
        snapshot = snapshot_of(data["profile"])
        return replace(snapshot, captured_at=data.get("captured_at"), annotations=annotations)


def snapshot_of(profile: dict[str, Any]) -> ProfileSnapshot:
    """Return the snapshot of a loaded profile, without annotations."""
    name = Subject(full_name=profile.get("full_name")).with_plain_names().full_name
    company: dict[str, Any] = profile.get("company") or {}
    plain = {key: value for key, value in profile.items() if key not in {"linkedin_url", "company"}}
    return ProfileSnapshot(
        linkedin_url=profile["linkedin_url"],
        captured_at=None,
        fields=plain | {"full_name": name} | {f"company_{key}": value for key, value in company.items()},
    )
