from __future__ import annotations

import csv
import io

import pytest
from apiflask import APIFlask
from audit_log_support import record, seal
from page_support import Visitor, visitor
from settings_support import change_settings
from users_support import SignedInUser, create_user

from app.domain.audit_actions import Action
from app.domain.errors import ValidationFailed
from app.engine.accounts.accounts import Account, Role
from app.engine.audit_log import entries
from app.web.pages import paging


@pytest.fixture
def admin(app: APIFlask, user: SignedInUser) -> Visitor:
    """The browser of an admin, in whose workspace a key was made; and an entry of another workspace."""
    other = create_user(app, email="eve@other.example")
    with user.database.transaction() as session:
        session.get_one(Account, user.account_id).role = Role.ADMIN.value
        entries.record(
            session, Action.API_KEY_CREATE, object_id="key_of_acme", workspace_id=user.workspace_id
        )
        entries.record(session, Action.LIMIT_SET, object_id="key_of_other", workspace_id=other.workspace_id)
    seal(user.database)
    return visitor(app, user)


@pytest.fixture
def operator(app: APIFlask, admin: Visitor, user: SignedInUser) -> Visitor:
    change_settings(app, operators=(user.email,))
    return admin


def test_an_admin_sees_the_entries_of_the_workspace_only(admin: Visitor) -> None:
    page = admin.open("/admin/audit-log").text

    assert "key_of_acme" in page
    assert "key_of_other" not in page
    assert "Ada Lovelace" in page  # the name of the account whose creation is recorded


def test_an_operator_sees_all_entries(operator: Visitor) -> None:
    page = operator.open("/admin/all-audit-log").text

    assert "key_of_acme" in page
    assert "key_of_other" in page


@pytest.mark.parametrize(
    ("query", "is_listed"),
    [
        ("action=api_key.create", True),
        ("action=api_key", True),
        ("action=limit.set", False),
        ("object=key_of_acme", True),
        ("object=key_of_other", False),
        ("actor=acc_nobody", False),
        ("from=2020-01-01&to=9999-12-30", True),
        ("to=2020-01-01", False),
    ],
)
def test_filters_apply_to_the_page_and_to_the_file(admin: Visitor, query: str, *, is_listed: bool) -> None:
    page = admin.open(f"/admin/audit-log?{query}")
    file = admin.open(f"/admin/audit-log.csv?{query}")

    assert ("key_of_acme</td>" in page.text) is is_listed
    assert ("key_of_acme" in file.text) is is_listed


@pytest.mark.parametrize(
    "query",
    ["before=x", f"before={'9' * 19}", "from=yesterday", "to=9999-12-31", "actor=%00", "object=a%0Ab"],
)
def test_an_invalid_filter_is_refused(admin: Visitor, query: str) -> None:
    page = admin.open(f"/admin/audit-log?{query}")

    assert page.status_code == ValidationFailed.status


def test_a_long_log_has_pages(admin: Visitor, user: SignedInUser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "ROWS", 1)

    first = admin.open("/admin/audit-log?action=api_key").text
    record(user.database, "later")
    seal(user.database)
    newest = admin.open("/admin/audit-log").text

    assert "Older entries" not in first
    assert "Older entries" in newest


def test_the_file_has_the_hashes_and_is_recorded_itself(operator: Visitor, user: SignedInUser) -> None:
    file = operator.open("/admin/all-audit-log.csv").get_data(as_text=True)
    seal(user.database)
    page = operator.open("/admin/all-audit-log?action=export").text

    rows = list(csv.DictReader(io.StringIO(file.removeprefix("\ufeff"))))
    assert {row["object_id"] for row in rows} >= {"key_of_acme", "key_of_other"}
    assert all(len(row["hash"]) == 64 for row in rows)
    assert "Export audit log</th>" in page


def test_a_file_is_read_in_batches(admin: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.pages.admin.audit_log.BATCH_SIZE", 1)

    assert "key_of_acme" in admin.open("/admin/audit-log.csv").text
