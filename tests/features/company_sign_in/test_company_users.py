from __future__ import annotations

from typing import Any

import pytest

from app.features.company_sign_in.users import CompanyUser, RoleRules

CLAIMS = {"iss": "https://login.example", "sub": "1", "email": "Ada@Acme.example", "email_verified": True}
RULES = RoleRules("groups", ("sales-admins",), ("sales",))


@pytest.mark.parametrize(
    ("verified", "email"),
    [
        ({"email_verified": True}, "ada@acme.example"),
        ({"email_verified": "true"}, "ada@acme.example"),
        ({"email_verified": False}, None),
        ({"email_verified": "false"}, None),
        ({"email_verified": None, "xms_edov": True}, "ada@acme.example"),
        ({"email_verified": None, "xms_edov": "1"}, "ada@acme.example"),
        ({"email_verified": None}, None),
        ({"email": "no address"}, None),
        ({"email": ["ada@acme.example"]}, None),
    ],
)
def test_only_a_verified_address_counts(verified: dict[str, Any], email: str | None) -> None:
    user = CompanyUser.from_claims(CLAIMS | verified, RoleRules())

    assert user.email == email


@pytest.mark.parametrize(
    ("groups", "access"),
    [
        (["sales-admins", "sales"], "admin"),
        (["sales"], "member"),
        ("sales", "member"),
        (["marketing"], "none"),
        ([], "none"),
        (None, "none"),
        ([{"name": "sales"}], "none"),
    ],
)
def test_the_claim_decides_on_the_role_and_on_access(groups: object, access: str) -> None:
    assert RULES.access({"groups": groups}) == access


def test_without_values_for_members_everyone_else_is_a_member() -> None:
    assert RoleRules("groups", ("admins",)).access({}) == "member"


def test_without_a_claim_roles_are_not_the_providers_matter() -> None:
    assert RoleRules().access({"groups": ["sales-admins"]}) is None


@pytest.mark.parametrize(
    ("claim", "claims"),
    [
        ("realm_access.roles", {"realm_access": {"roles": ["sales-admins"]}}),
        ("https://acme.example/roles", {"https://acme.example/roles": ["sales-admins"]}),
    ],
)
def test_nested_claims_and_claims_with_dots_in_their_names_are_found(
    claim: str, claims: dict[str, Any]
) -> None:
    assert RoleRules(claim, ("sales-admins",)).access(claims) == "admin"


def test_a_user_without_a_name_is_called_like_the_mailbox() -> None:
    assert CompanyUser.from_claims(CLAIMS, RoleRules()).name == "ada"
