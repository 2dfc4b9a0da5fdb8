"""The page of exclusions: members see it, admins change it."""

from __future__ import annotations

import io
import re

import pytest
from apiflask import APIFlask
from page_support import Visitor, visitor
from stored_support import ADA_URL, a_company, a_contact, an_email, exclude, own
from users_support import SignedInUser

from app.domain.exclusions import SHARED_DOMAIN
from app.engine.accounts.accounts import Account, Role
from app.features.exclusions import changes


@pytest.fixture
def admin(app: APIFlask, user: SignedInUser) -> Visitor:
    with user.database.transaction() as session:
        session.get_one(Account, user.account_id).role = Role.ADMIN.value
    return visitor(app, user)


def test_an_admin_adds_and_removes_an_exclusion(admin: Visitor, user: SignedInUser) -> None:
    fields = {"kind": "domain", "value": "Acme.com", "reason": "customer", "note": "Leeds"}
    added = admin.send("/exclusions", **fields).text
    again = admin.send("/exclusions", **fields).text
    [row] = user.client.get("/api/exclusions", headers=user.headers).get_json()["exclusions"]
    removed = admin.send("/exclusions/remove", id=row["id"]).text

    assert "It is excluded from now on." in added
    assert "It was excluded already." in again
    assert re.search(r'<th scope="row">acme.com</th><td[^>]*>Customer</td><td[^>]*>Leeds</td>', added)
    assert "It is no longer excluded." in removed
    assert "Nobody is excluded" in removed


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "domain", "value": "gmail.com", "reason": "other"}, SHARED_DOMAIN),
        ({"kind": "email", "value": "", "reason": "other"}, "not an e-mail address"),
        ({"kind": "phone", "value": "1", "reason": "other"}, "Correct the marked fields."),
        ({"kind": "domain", "value": "acme.com", "reason": "enemy"}, "Must be one of"),
    ],
)
def test_an_invalid_entry_is_explained(admin: Visitor, fields: dict[str, str], message: str) -> None:
    page = admin.send("/exclusions", **fields)

    assert page.status_code == 422
    assert message in page.text


def test_what_exceeds_the_most_of_a_workspace_is_explained(
    admin: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "MAX_EXCLUSIONS", 0)

    one = admin.send("/exclusions", kind="domain", value="acme.com", reason="other")
    many = admin.send(
        "/exclusions/import", file=(io.BytesIO(b"domain\nacme.com\n"), "list.csv"), reason="other"
    )

    for page, field in ((one, "value"), (many, "file")):
        assert page.status_code == 422
        assert f'<p class="error" id="{field}-error">The workspace would have 1 exclusions' in page.text
    assert 'value="acme.com"' in one.text


def test_a_member_sees_the_exclusions_and_no_form(app: APIFlask, user: SignedInUser) -> None:
    with user.database.transaction() as session:
        exclude(session, user.workspace_id, "domain", "acme.com")

    page = visitor(app, user).open("/exclusions").text

    assert "acme.com" in page
    assert "An admin changes this list." in page
    assert 'action="/exclusions' not in page


def test_a_list_is_imported_and_the_rest_is_explained(admin: Visitor) -> None:
    content = "Website;Reason\nacme.com;customer\ngmail.com;\n".encode("latin-1")

    page = admin.send("/exclusions/import", file=(io.BytesIO(content), "list.csv"), reason="partner").text

    assert "1 added, 0 excluded already, 1 left out." in page
    assert SHARED_DOMAIN in page


@pytest.mark.parametrize(("content", "reason"), [(b"", "other"), (b"domain\n", "other"), (b"a", "enemy")])
def test_a_file_that_cannot_be_imported_is_explained(admin: Visitor, content: bytes, reason: str) -> None:
    page = admin.send("/exclusions/import", file=(io.BytesIO(content), "list.csv"), reason=reason)

    assert page.status_code == 422
    assert 'class="error"' in page.text


def test_an_excluded_person_is_found_and_cannot_be_revealed(app: APIFlask, user: SignedInUser) -> None:
    with user.database.transaction() as session:
        ada = a_contact(session, a_company(session), linkedin_url=ADA_URL)
        an_email(session, ada, "ada@acme.com")
        own(session, user.workspace_id, ada, "email")
        exclude(session, user.workspace_id, "domain", "acme.com")

    page = visitor(app, user).send("/", linkedin_url=ADA_URL).text

    assert "Excluded: customer." in page
    assert "ada@acme.com" in page
    assert 'action="/reveal"' not in page
