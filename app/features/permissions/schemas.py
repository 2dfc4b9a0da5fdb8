"""The requests and responses of permissions."""

from __future__ import annotations

from typing import Any

from marshmallow import ValidationError, fields, post_load, validate

from app.domain.ids import EXAMPLES
from app.domain.messages import Message
from app.domain.permissions import ACTS, Permission
from app.engine.accounts.accounts import Role
from app.web.schemas.fields import ResponseSchema, StrictSchema

DEFAULT = "Null: what the members of the workspace may."


def _flag(permission: Permission, *, nullable: bool) -> fields.Boolean:
    act = f"Whether one may {ACTS[permission]}."
    return fields.Boolean(
        truthy={True},
        falsy={False},
        allow_none=nullable,
        metadata={"example": False, "description": f"{act} {DEFAULT}" if nullable else act},
    )


class _ChangesSchema(StrictSchema):
    """At least one permission, by name."""

    @post_load
    def _by_permission(self, data: dict[str, Any], **_options: Any) -> dict[Permission, bool | None]:
        if not data:
            message = Message("Name at least one of {names}.", names=", ".join(Permission))
            raise ValidationError(message)
        return {Permission(name): value for name, value in data.items()}


class MemberPermissionsSchema(_ChangesSchema):
    """What members may do by default; permissions that are not named stay as they are."""

    export = _flag(Permission.EXPORT, nullable=False)
    reveal_phones = _flag(Permission.REVEAL_PHONES, nullable=False)
    push = _flag(Permission.PUSH, nullable=False)
    see_costs = _flag(Permission.SEE_COSTS, nullable=False)
    start_uploads = _flag(Permission.START_UPLOADS, nullable=False)


class AccountPermissionsSchema(_ChangesSchema):
    """What an account may do; permissions that are not named stay as they are."""

    export = _flag(Permission.EXPORT, nullable=True)
    reveal_phones = _flag(Permission.REVEAL_PHONES, nullable=True)
    push = _flag(Permission.PUSH, nullable=True)
    see_costs = _flag(Permission.SEE_COSTS, nullable=True)
    start_uploads = _flag(Permission.START_UPLOADS, nullable=True)


class PermissionsSchema(ResponseSchema):
    """Each permission, and whether it is given."""

    export = fields.Boolean(required=True)
    reveal_phones = fields.Boolean(required=True)
    push = fields.Boolean(required=True)
    see_costs = fields.Boolean(required=True)
    start_uploads = fields.Boolean(required=True)


class SeatSchema(ResponseSchema):
    """An account, and what it may do; an admin may do all."""

    id = fields.String(required=True, metadata={"example": EXAMPLES["acc"]})
    email = fields.String(required=True, metadata={"example": "ada@acme.example"})
    name = fields.String(required=True, metadata={"example": "Ada Lovelace"})
    role = fields.String(required=True, validate=validate.OneOf(list(Role)))
    own = fields.Dict(
        keys=fields.String(validate=validate.OneOf(list(Permission))),
        values=fields.Boolean(),
        required=True,
        metadata={
            "example": {"export": False},
            "description": "What is set for the account, whatever members may.",
        },
    )
    permissions = fields.Nested(PermissionsSchema, required=True)


class SeatsSchema(ResponseSchema):
    """What members may do by default, and what each account may do."""

    members = fields.Nested(PermissionsSchema, required=True)
    accounts = fields.List(fields.Nested(SeatSchema), required=True)
