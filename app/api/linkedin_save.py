"""POST /api/ext/linkedin-save: save a LinkedIn profile for the workspace, free of charge."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import ValidationError, fields, post_load

from app.domain.callers import Scope
from app.domain.errors import FieldError, NotAProfileUrl, ValidationFailed
from app.domain.ids import EXAMPLES
from app.domain.normal.companies.employers import given_employer
from app.domain.records.subjects import Subject
from app.engine.contacts.saved import saved_profiles
from app.engine.lookups import lookups, profile_snapshots
from app.engine.lookups.profile_snapshots import Position, ProfileSnapshot, SaveResult
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.web import admission
from app.web.bodies.body import json_response
from app.web.bodies.idempotency_header import REPLAYED, begin, finish
from app.web.operations import documented
from app.web.rate_limits import Policy, limited
from app.web.schemas import annotation_fields
from app.web.schemas.contact_schemas import TIME, AvailableSchema, SavedProfileSchema
from app.web.schemas.fields import (
    NestedObject,
    NonBlankString,
    ResponseSchema,
    SingleLineString,
    StrictSchema,
    UtcTime,
    company_url,
    profile_url,
    website,
)
from app.web.services import services
from app.web.sign_in.auth import bearer, caller

blueprint = APIBlueprint("linkedin_save", __name__, tag="Saved profiles")

CLOCK_SKEW = timedelta(minutes=5)
MIN_YEAR = 2000


def _require_a_recent_year(captured_at: datetime) -> None:
    if captured_at.year < MIN_YEAR:
        raise ValidationError(f"This is before the year {MIN_YEAR}.")


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
        profile: dict[str, Any] = data["profile"]
        profile["full_name"] = Subject(full_name=profile.get("full_name")).with_plain_names().full_name
        company: dict[str, Any] = profile.pop("company", None) or {}
        annotations = {name: data[key] for key, name in profile_snapshots.ANNOTATIONS.items() if key in data}
        if "tags" in annotations:
            annotations["tags"] = list(dict.fromkeys(annotations["tags"] or ()))
        return ProfileSnapshot(
            linkedin_url=profile.pop("linkedin_url"),
            captured_at=data.get("captured_at"),
            fields=profile | {f"company_{name}": value for name, value in company.items()},
            annotations=annotations,
        )


class ChangeSchema(ResponseSchema):
    """A field changed by this save."""

    field = fields.String(metadata={"example": "company.name"})
    old = fields.Raw(allow_none=True, metadata={"example": "Acme Engines"})
    new = fields.Raw(allow_none=True, metadata={"example": "Babbage & Co"})


class PositionSchema(ResponseSchema):
    """A title and a company."""

    title = fields.String(allow_none=True, metadata={"example": "Chief Engineer"})
    company = fields.String(allow_none=True, metadata={"example": "Acme Engines"})


class JobChangeSchema(ResponseSchema):
    """Whether the company or the title differs from the previous save."""

    detected = fields.Boolean(metadata={"example": True})
    from_ = fields.Nested(PositionSchema, data_key="from", allow_none=True)
    to = fields.Nested(PositionSchema, allow_none=True)


class LinkedinSaveResponseSchema(ResponseSchema):
    """The saved profile, the changed fields, and what is available for the contact."""

    saved_profile = fields.Nested(SavedProfileSchema)
    created = fields.Boolean(metadata={"example": False})
    changes = fields.List(fields.Nested(ChangeSchema))
    job_change = fields.Nested(JobChangeSchema)
    contact_id = fields.String(allow_none=True, metadata={"example": EXAMPLES["con"]})
    available = fields.List(fields.Nested(AvailableSchema))


KNOWN_CONTACT: dict[int | str, dict[str, str | dict[str, dict[str, Any]]]] = {
    200: {
        "description": "The profile was already saved.",
        "content": {"application/json": {"schema": LinkedinSaveResponseSchema}},
    }
}


@blueprint.post("/api/ext/linkedin-save")
@documented(NotAProfileUrl, takes_idempotency_key=True)
@blueprint.auth_required(bearer, roles=[Scope.SAVE])
@limited(Policy.WRITE)
@blueprint.input(LinkedinSaveSchema, arg_name="body")
@blueprint.output(LinkedinSaveResponseSchema, status_code=201, description="The profile is new.")
@blueprint.doc(responses=KNOWN_CONTACT)
def linkedin_save(body: ProfileSnapshot) -> Response:
    """Save a profile.

    There is one saved profile per workspace and profile URL. The newest `captured_at` wins, field by field,
    and repeating a save is harmless. A saved profile is visible to its workspace only.
    """
    with admission.transaction() as session:
        now = database_clock.value(session)
        _require_past(body.captured_at, now)
        reference = begin(session, now=now)
        existing = saved_profiles.get(session, caller().workspace_id, reference) if reference else None
        if existing is not None:
            return json_response(_to_json(session, SaveResult(existing)), 200, REPLAYED)
        saved = profile_snapshots.save(
            session,
            workspace_id=caller().workspace_id,
            account_id=caller().account_id,
            snapshot=body,
            now=now,
        )
        finish(session, saved.profile.id)
        return json_response(_to_json(session, saved), 201 if saved.created else 200)


def _to_json(session: Session, saved: SaveResult) -> dict[str, Any]:
    subjects = [saved.profile.subject]
    (match,) = lookups.look_up(session, caller().workspace_id, subjects, prices=services().settings.prices)
    contact = match["contact"]
    return {
        "saved_profile": saved_profiles.saved_object(saved.profile),
        "created": saved.created,
        "changes": [
            {"field": change.field, "old": change.old, "new": change.new} for change in saved.changes
        ],
        "job_change": {
            "detected": saved.previous_position is not None,
            "from": None if saved.previous_position is None else _position(saved.previous_position),
            "to": None if saved.previous_position is None else _position(saved.position),
        },
        "contact_id": None if contact is None else contact["id"],
        "available": match["available"],
    }


def _position(position: Position) -> dict[str, str | None]:
    return {"title": position.title, "company": position.company or position.domain}


def _require_past(captured_at: datetime | None, now: datetime) -> None:
    if captured_at is not None and captured_at > now + CLOCK_SKEW:
        error = FieldError("/captured_at", "This is more than 5 minutes in the future.")
        raise ValidationFailed(errors=(error,))
