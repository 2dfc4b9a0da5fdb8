"""The bodies of the endpoints of do-not-call registers."""

from __future__ import annotations

from apiflask import Schema, fields
from marshmallow.validate import OneOf

from app.domain.call_registers import Effect
from app.web.schemas.contact_schemas import TIME
from app.web.schemas.fields import ResponseSchema

EFFECTS = [effect.value for effect in Effect]


class EffectSchema(Schema):
    """What the workspace does with the numbers in a register."""

    effect = fields.String(required=True, validate=OneOf(EFFECTS), metadata={"example": "hide_for_members"})


class RegisterSchema(ResponseSchema):
    """A do-not-call register that the operator has loaded."""

    id = fields.String(metadata={"example": "uk-tps"})
    name = fields.String(metadata={"example": "TPS"})
    country = fields.String(metadata={"example": "GB"})
    numbers = fields.Integer(metadata={"example": 17226477})
    date = fields.DateTime(metadata={"example": TIME, "description": "The date of the register's files."})
    loaded_at = fields.DateTime(metadata={"example": TIME})
    usable_until = fields.DateTime(metadata={"example": TIME})
    outdated = fields.Boolean(metadata={"example": False})
    effect = fields.String(
        metadata={
            "enum": EFFECTS,
            "example": "flag",
            "description": "What is done with a number in it, in your workspace.",
        }
    )
    operator_effect = fields.String(
        metadata={"enum": EFFECTS, "example": "flag", "description": "The least that a workspace may choose."}
    )


class ChosenRegisterSchema(RegisterSchema):
    """The register after the choice."""


class RegistersSchema(ResponseSchema):
    """The registers."""

    registers = fields.List(fields.Nested(RegisterSchema))
