"""Texts are limited as they are sent and as they are compared."""

from __future__ import annotations

import pytest
from marshmallow import Schema

from app.web.schemas.fields import MAX_TEXT, SubjectSchema
from app.web.schemas.key_schemas import NewKeySchema
from app.web.schemas.saved_profile_schemas import ProfileSchema

LIGATURE = "\ufdfa"  # 18 characters in NFKC
FIELDS = [
    (SubjectSchema, "full_name"),
    (SubjectSchema, "company_name"),
    (ProfileSchema, "headline"),
    (NewKeySchema, "name"),
]


@pytest.mark.parametrize(("schema", "field"), FIELDS)
def test_a_text_that_is_too_long_in_the_form_in_which_it_is_compared_is_refused(
    schema: type[Schema], field: str
) -> None:
    assert "Longer than" in str(schema().validate({field: LIGATURE * 100})[field])


@pytest.mark.parametrize("text", ["a" * MAX_TEXT, "\u00e9" * MAX_TEXT, "\ufb01" * (MAX_TEXT // 2)])
def test_a_text_of_the_greatest_length_is_accepted(text: str) -> None:
    assert "company_name" not in SubjectSchema().validate({"company_name": text})
