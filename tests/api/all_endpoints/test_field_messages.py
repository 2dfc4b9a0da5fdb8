from __future__ import annotations

from typing import Any

import pytest
from apiflask import Schema
from marshmallow import ValidationError

from app.api.company_by_hash import CompanyByHashSchema
from app.web.schemas.key_schemas import NewKeySchema
from app.web.schemas.saved_profile_schemas import LinkedinSaveSchema


@pytest.mark.parametrize(
    ("schema", "field", "value", "expected"),
    [
        (NewKeySchema, "expires_at", "2030-01-01T00:00:00", "such as 2030-01-31T09:30:00Z"),
        (NewKeySchema, "expires_at", "tomorrow", "such as 2030-01-31T09:30:00Z"),
        (LinkedinSaveSchema, "captured_at", "2030-01-01", "such as 2030-01-31T09:30:00Z"),
        (CompanyByHashSchema, "key", "x", "64 lower-case hexadecimal digits"),
    ],
)
def test_the_error_of_a_field_says_what_to_send(
    schema: type[Schema], field: str, value: Any, expected: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        schema().load({field: value})

    [message] = refused.value.messages_dict[field]
    assert expected in message
