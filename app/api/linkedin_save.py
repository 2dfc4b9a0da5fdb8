"""POST /api/ext/linkedin-save: save a LinkedIn profile for the workspace, free of charge."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields

from app.domain.callers import Scope
from app.domain.errors import NotAProfileUrl
from app.domain.ids import EXAMPLES
from app.engine.contacts.saved import saved_profiles
from app.engine.lookups import lookups
from app.engine.lookups.profile_snapshots import Position, ProfileSnapshot, SaveResult
from app.infra.database.session import Session
from app.web import admission
from app.web.bodies.body import json_response
from app.web.bodies.idempotency_header import REPLAYED
from app.web.operations import Operation
from app.web.owned import profile_saves
from app.web.rate_limits import Policy, limited
from app.web.schemas.contact_schemas import AvailableSchema, SavedProfileSchema
from app.web.schemas.fields import ResponseSchema
from app.web.schemas.saved_profile_schemas import LinkedinSaveSchema
from app.web.services import services
from app.web.sign_in.admins import acts_as_admin
from app.web.sign_in.auth import bearer, caller

blueprint = APIBlueprint("linkedin_save", __name__, tag="Saved profiles")


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
@Operation(errors=(NotAProfileUrl,), takes_idempotency_key=True)
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
        saved, replayed = profile_saves.save(session, body)
        shown = _to_json(session, saved)
    return json_response(shown, 201 if saved.created else 200, REPLAYED if replayed else None)


def _to_json(session: Session, saved: SaveResult) -> dict[str, Any]:
    subjects = [saved.profile.subject]
    (match,) = lookups.look_up(
        session,
        caller().workspace_id,
        subjects,
        prices=services().settings.prices,
        as_admin=acts_as_admin(session, caller()),
    )
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
