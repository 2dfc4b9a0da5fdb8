"""A refused value is told with what to send instead."""

from __future__ import annotations

from typing import Any

import pytest
from marshmallow import Schema, ValidationError, fields

from app.web.schemas.fields import StrictSchema


class PersonSchema(StrictSchema):
    name = fields.String()
    born = fields.Date(data_key="date_of_birth")


class BodySchema(StrictSchema):
    person = fields.Nested(PersonSchema)
    notify = fields.Boolean()
    count = fields.Integer(strict=True)
    labels = fields.Dict()


def errors_of(schema: Schema, body: dict[str, Any]) -> Any:
    with pytest.raises(ValidationError) as refused:
        schema.load(body)
    return refused.value.messages


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({"persons": {}}, {"persons": ["Unknown field. Use one of: count, labels, notify, person."]}),
        (
            {"person": {"born": "1815-12-10"}},
            {"person": {"born": ["Unknown field. Use one of: date_of_birth, name."]}},
        ),
        (
            {"person": "Ada"},
            {"person": {"_schema": ["Not an object. Use one with some of: date_of_birth, name."]}},
        ),
        (
            {"person": {"date_of_birth": "10.12.1815"}},
            {"person": {"date_of_birth": ["Not a valid date. Use one such as 2026-11-30."]}},
        ),
        ({"notify": "maybe"}, {"notify": ["Not a valid boolean. Use true or false."]}),
        ({"count": 1.5}, {"count": ["Not a valid integer. Use a whole number such as 10."]}),
        ({"labels": []}, {"labels": ["Not a JSON object."]}),
    ],
)
def test_an_error_names_what_can_be_sent(body: dict[str, Any], errors: dict[str, Any]) -> None:
    assert errors_of(BodySchema(), body) == errors


def test_an_object_without_fields_names_none() -> None:
    assert errors_of(StrictSchema(), {"name": "Ada"}) == {"name": ["Unknown field."]}
