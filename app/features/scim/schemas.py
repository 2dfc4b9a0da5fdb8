"""The requests and responses with which admins set up provisioning."""

from __future__ import annotations

from marshmallow import fields, validate

from app.domain.ids import EXAMPLES
from app.domain.permissions import Permission
from app.engine.accounts.accounts import Role
from app.web.schemas.fields import ResponseSchema, StrictSchema

_ROLE = "The role of the members, or null if the group says nothing about roles."
_PERMISSIONS = "What the members may do, or null if the group says nothing about it."


class GroupMappingSchema(StrictSchema):
    """What the members of a group get."""

    role = fields.Enum(
        Role,
        by_value=True,
        required=True,
        allow_none=True,
        metadata={"example": "member", "description": _ROLE},
    )
    permissions = fields.List(
        fields.Enum(Permission, by_value=True),
        required=True,
        allow_none=True,
        metadata={"example": ["export"], "description": _PERMISSIONS},
    )


class ScimGroupSchema(ResponseSchema):
    """A group of the identity provider."""

    id = fields.String(required=True, metadata={"example": "scg_0crnqk4e1k9jv0d2m4f6h8bf"})
    name = fields.String(required=True, metadata={"example": "Sales"})
    members = fields.Integer(required=True, metadata={"example": 12})
    role = fields.String(required=True, allow_none=True, validate=validate.OneOf(list(Role)))
    permissions = fields.List(
        fields.String(validate=validate.OneOf(list(Permission))), required=True, allow_none=True
    )


class ScimTokenMakerSchema(ResponseSchema):
    """The account that made a token."""

    id = fields.String(required=True, metadata={"example": EXAMPLES["acc"]})
    name = fields.String(required=True, metadata={"example": "Ada Lovelace"})
    is_admin = fields.Boolean(
        required=True,
        metadata={"description": "False if it was disabled or made a member since; the token stays valid."},
    )


class ScimTokenSchema(ResponseSchema):
    """The token of the workspace, without its text."""

    prefix = fields.String(required=True, metadata={"example": "scim_1a2B3c4"})
    created_by = fields.Nested(
        ScimTokenMakerSchema,
        required=True,
        allow_none=True,
        metadata={"description": "Null if an operator made it with a command."},
    )
    created_at = fields.DateTime(required=True, metadata={"example": "2026-11-20T09:30:00.000Z"})
    last_used_at = fields.DateTime(
        required=True,
        allow_none=True,
        metadata={"example": "2026-11-20T09:31:00.000Z", "description": "Accurate to the minute."},
    )


class ProvisioningSchema(ResponseSchema):
    """The address for the identity provider, the token, and the groups."""

    base_url = fields.URL(required=True, metadata={"example": "https://contacts.example.com/scim/v2"})
    token = fields.Nested(ScimTokenSchema, required=True, allow_none=True)
    groups = fields.List(fields.Nested(ScimGroupSchema), required=True)


class NewScimTokenSchema(ResponseSchema):
    """A new token."""

    token = fields.String(
        required=True,
        metadata={"description": "The token, shown only once.", "example": f"scim_{'0' * 43}"},
    )
