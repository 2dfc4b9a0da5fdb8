"""What of verifications an account without permissions may do, and what it is shown."""

from __future__ import annotations

from apiflask import APIFlask
from page_support import Visitor
from sqlalchemy import func, select
from users_support import SignedInUser, create_user

from app.domain.permissions import Permission
from app.engine.accounts import permissions
from app.engine.audit_log.entries import PendingEntry
from app.features.verifications.tables import VerificationList

LISTS = "/api/verifications/lists"
NUMBERS = b"phone\n+12025550143\n"


def deny(user: SignedInUser, *denied: Permission) -> None:
    with user.database.transaction() as session:
        permissions.set_of_account(session, user.account_id, dict.fromkeys(denied, False))


def start(user: SignedInUser) -> str:
    headers = user.headers | {"Content-Type": "text/csv"}
    return str(user.client.post(LISTS, data=NUMBERS, headers=headers).get_json()["id"])


def test_a_list_that_may_not_be_started_is_not_stored(user: SignedInUser) -> None:
    deny(user, Permission.START_UPLOADS)

    answer = user.client.post(LISTS, data=NUMBERS, headers=user.headers | {"Content-Type": "text/csv"})

    with user.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(VerificationList)) == 0
    assert (answer.status_code, answer.get_json()["permission"]) == (403, "start_uploads")


def test_single_values_are_verified_without_the_permission_for_lists(user: SignedInUser) -> None:
    deny(user, Permission.START_UPLOADS)

    answer = user.client.post(
        "/api/verifications",
        json={"values": ["+12025550143"]},
        headers=user.headers | {"Prefer": "respond-async"},
    )

    assert answer.status_code == 202


def test_a_result_that_may_not_be_downloaded_has_no_button(user: SignedInUser, browser: Visitor) -> None:
    list_id = start(user)
    deny(user, Permission.EXPORT)

    shown = browser.open(f"/verifications/{list_id}").text
    refused = [
        user.client.get(f"/api/verifications/{list_id}/result?format={name}", headers=user.headers)
        for name in ("csv", "json")
    ]

    assert "/download" not in shown
    assert "may not download files of contacts and results" in shown
    assert [answer.status_code for answer in refused] == [403, 403]


def exports(user: SignedInUser) -> list[str | None]:
    with user.database.reading() as session:
        is_export = PendingEntry.action == "export.verification"
        return list(session.scalars(select(PendingEntry.object_id).where(is_export)))


def test_a_download_is_in_the_audit_log(user: SignedInUser, browser: Visitor) -> None:
    list_id = start(user)

    browser.open(f"/verifications/{list_id}/download")

    assert exports(user) == [list_id]


def test_each_page_of_verdicts_is_in_the_audit_log(app: APIFlask, user: SignedInUser) -> None:
    list_id = start(user)
    path = f"/api/verifications/{list_id}/result?format=json&limit=1"
    stranger = create_user(app, email="eve@babbage.example")

    answers = [user.client.get(path, headers=each.headers).status_code for each in (user, user, stranger)]
    deny(user, Permission.EXPORT)
    refused = user.client.get(path, headers=user.headers)

    assert (answers, refused.status_code) == ([200, 200, 404], 403)
    assert exports(user) == [list_id, list_id]


def test_costs_are_left_out_for_whoever_may_not_see_them(user: SignedInUser, browser: Visitor) -> None:
    list_id = start(user)
    deny(user, Permission.SEE_COSTS)

    one = user.client.get(f"/api/verifications/{list_id}", headers=user.headers).get_json()
    result = f"/api/verifications/{list_id}/result"
    (row,) = user.client.get(f"{result}?format=json", headers=user.headers).get_json()["values"]
    table = user.client.get(result, headers=user.headers).get_data(as_text=True)
    shown = browser.open(f"/verifications/{list_id}").text

    assert (one["credits"]["charged"], one["credits"]["reserved"]) == (None, None)
    assert row["credits"] is None
    assert '"pending","","","","",""' in table
    assert "<dt>credits spent</dt><dd>\N{EN DASH}</dd>" in shown
