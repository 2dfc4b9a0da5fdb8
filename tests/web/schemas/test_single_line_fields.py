"""Names and reasons are shown within a line, by pages and by commands."""

from __future__ import annotations

import pytest
from marshmallow import Schema

from app.pages.admin.accounts import NewAccountSchema
from app.pages.admin.workspaces import GrantSchema, NewWorkspaceSchema
from app.web.schemas.key_schemas import NewKeySchema
from app.web.schemas.owned_schemas import NamedListSchema
from app.web.schemas.sign_in_schemas import ClientSchema

FIELDS = [
    (NewKeySchema, "name"),
    (NamedListSchema, "name"),
    (ClientSchema, "name"),
    (ClientSchema, "version"),
    (NewAccountSchema, "name"),
    (NewWorkspaceSchema, "workspace_name"),
    (GrantSchema, "reason"),
]


@pytest.mark.parametrize(("schema", "field"), FIELDS)
@pytest.mark.parametrize("text", ["one\ntwo", "one\x1b[2Jtwo", "one\u202etwo"])
def test_a_name_with_a_line_break_or_a_control_character_is_an_invalid_field(
    schema: type[Schema], field: str, text: str
) -> None:
    assert "Leave out line breaks" in str(schema().validate({field: text})[field])


@pytest.mark.parametrize(("schema", "field"), FIELDS)
def test_a_name_in_one_line_is_valid(schema: type[Schema], field: str) -> None:
    assert field not in schema().validate({field: " Ada & Söhne\n"})
