from __future__ import annotations

import pytest
from page_support import Visitor
from stored_support import ADA_URL
from users_support import SignedInUser

from app.engine.contacts.suppressions import suppression_checks
from app.engine.contacts.suppressions.suppression_digests import Identifier


@pytest.mark.parametrize(
    ("typed", "identifier"),
    [
        (" Ada@Acme.com ", Identifier("email", "ada@acme.com")),
        ("linkedin.com/in/Ada-Lovelace/", Identifier("linkedin_url", ADA_URL)),
        ("+44 20 7946 0018", Identifier("phone", "+442079460018")),
        ("+49 (0)30 / 7654322", Identifier("phone", "+49307654322")),
        ("Acme.com", Identifier("domain", "acme.com")),
    ],
)
def test_a_value_is_added_found_and_removed(
    operator: Visitor, user: SignedInUser, typed: str, identifier: Identifier
) -> None:
    before = operator.send("/admin/suppressions", value=typed, action="check").text
    added = operator.send("/admin/suppressions", value=typed, action="add").text
    with user.database.reading() as session:
        listed = suppression_checks.suppressed(session, [identifier])
    checked = operator.send("/admin/suppressions", value=typed, action="check").text
    removed = operator.send("/admin/suppressions", value=typed, action="remove").text

    assert listed == {identifier}
    assert "Not on the list" in before
    assert "Not on the list" not in added + checked
    assert "Not on the list" in removed
    shown = identifier.kind.replace("_", " ").capitalize()
    assert (f">{shown}</td>" in added, "<table" in removed) == (True, False)


@pytest.mark.parametrize("typed", ["", "Ada Lovelace", "a@", "https://acme.com/ada", "12"])
def test_what_is_no_identifier_is_refused(operator: Visitor, typed: str) -> None:
    page = operator.send("/admin/suppressions", value=typed, action="add")

    assert page.status_code == 422
    assert "Enter an e-mail address, a profile URL, a phone number" in page.text
