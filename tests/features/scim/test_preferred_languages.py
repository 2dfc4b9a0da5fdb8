"""The provider's `preferredLanguage` is the language of the account (RFC 7643, section 4.1.1)."""

from __future__ import annotations

from typing import Any

import pytest
from apiflask import APIFlask
from scim_support import IdentityProvider

from app.engine.accounts import accounts


@pytest.fixture
def idp(app: APIFlask) -> IdentityProvider:
    return IdentityProvider.of(app)


def returned(idp: IdentityProvider, user: Any) -> str | None:
    body = idp.call("GET", f"/Users/{user['id']}").get_json(force=True)
    language: str | None = body.get("preferredLanguage")
    return language


@pytest.mark.parametrize(
    ("given", "language"),
    [("de", "de"), ("fr-CA", "fr"), ("es_MX", "es"), ("pl, de;q=0.8, en;q=0.7", "de"), ("en-US", "en")],
)
def test_a_language_of_ours_becomes_the_account_s_and_is_returned(
    idp: IdentityProvider, given: str, language: str
) -> None:
    made = idp.create(preferredLanguage=given)

    assert idp.account(made["id"]).language == language
    assert made["preferredLanguage"] == given
    assert returned(idp, made) == given


@pytest.mark.parametrize("given", ["pl", "de;q=0", "*", "x" * 200])
def test_another_language_is_returned_and_changes_nothing(idp: IdentityProvider, given: str) -> None:
    made = idp.create(preferredLanguage="de")

    idp.patch(f"/Users/{made['id']}", {"op": "replace", "path": "preferredLanguage", "value": given})

    assert idp.account(made["id"]).language == "de"
    assert returned(idp, made) == given


@pytest.mark.parametrize("given", ["", None])
def test_without_a_language_the_account_gets_none(idp: IdentityProvider, given: str | None) -> None:
    made = idp.create(preferredLanguage=given)

    assert idp.account(made["id"]).language is None
    assert "preferredLanguage" not in made


def test_a_language_that_is_no_text_is_refused(idp: IdentityProvider) -> None:
    response = idp.call("POST", "/Users", {"userName": "bob@acme.example", "preferredLanguage": ["de"]})

    assert response.status_code == 400
    assert response.get_json(force=True)["scimType"] == "invalidValue"


def test_the_provider_changes_the_language(idp: IdentityProvider) -> None:
    made = idp.create(preferredLanguage="de")

    patched = idp.patch(
        f"/Users/{made['id']}", {"op": "replace", "path": "preferredLanguage", "value": "fr-FR"}
    )

    assert patched.status_code == 200
    assert idp.account(made["id"]).language == "fr"
    assert returned(idp, made) == "fr-FR"


def test_what_the_person_chose_stays_while_the_provider_repeats_the_same(idp: IdentityProvider) -> None:
    made = idp.create(preferredLanguage="de")
    with idp.admin.database.transaction() as session:
        accounts.choose_language(session, made["id"], "es")

    idp.call(
        "PUT",
        f"/Users/{made['id']}",
        {"userName": "bob@acme.example", "displayName": "Bob Ross", "preferredLanguage": "de"},
    )
    kept = idp.account(made["id"]).language
    idp.call("PUT", f"/Users/{made['id']}", {"userName": "bob@acme.example", "preferredLanguage": "fr"})

    assert (kept, idp.account(made["id"]).language) == ("es", "fr")


def test_an_account_that_no_provider_described_has_its_own_language(idp: IdentityProvider) -> None:
    with idp.admin.database.transaction() as session:
        accounts.choose_language(session, idp.admin.account_id, "es")

    assert returned(idp, {"id": idp.admin.account_id}) == "es"


def test_the_schema_names_the_attribute(idp: IdentityProvider) -> None:
    schemas = idp.call("GET", "/Schemas").get_json(force=True)["Resources"]

    [user] = [schema for schema in schemas if schema["name"] == "User"]
    [attribute] = [each for each in user["attributes"] if each["name"] == "preferredLanguage"]
    assert (attribute["type"], attribute["multiValued"]) == ("string", False)
