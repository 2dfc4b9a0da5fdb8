"""The page on which operators set the monthly grants of workspaces."""

from __future__ import annotations

import pytest
from page_support import Visitor
from users_support import SignedInUser

from app.domain.ids import new_id
from app.engine.ledger import credit_schedules
from app.engine.ledger.next_grants import CreditSchedule

pytestmark = pytest.mark.any_database

GRANT = {"credits": "500", "per": "workspace", "day": "1", "unspent": "none", "carried": ""}


def send(operator: Visitor, user: SignedInUser, **changed: str) -> str:
    return operator.send("/admin/grants", workspace=user.workspace_id, **GRANT | changed).text


def stored(user: SignedInUser) -> CreditSchedule | None:
    with user.database.reading() as session:
        return session.get(CreditSchedule, user.workspace_id)


@pytest.mark.parametrize(
    ("unspent", "carried", "kept"),
    [("none", "", 0), ("all", "", None), ("all", "7", None), ("some", "200", 200)],
)
def test_a_grant_is_set_with_what_is_carried_over(
    operator: Visitor, user: SignedInUser, unspent: str, carried: str, kept: int | None
) -> None:
    page = send(operator, user, per="seat", day="15", unspent=unspent, carried=carried)

    row = stored(user)
    assert row is not None
    assert (row.credits, row.per_seat, row.day, row.carried) == (500, True, 15, kept)
    assert "The monthly grant is set." in page
    assert "Each enabled account" in page


@pytest.mark.parametrize(
    ("changed", "field", "message"),
    [
        ({"credits": "0"}, "credits", "Must be greater than or equal to 1"),
        ({"credits": "5e3"}, "credits", "Not a valid integer. Use a whole number such as 10."),
        ({"credits": ""}, "credits", "Missing data for required field."),
        ({"credits": "1000000001"}, "credits", "less than or equal to"),
        ({"day": "32"}, "day", "less than or equal to 31"),
        ({"per": "planet"}, "per", "Must be one of"),
        ({"unspent": "some"}, "carried", "Enter how many credits are carried over."),
        ({"unspent": "some", "carried": "0"}, "carried", "greater than or equal to 1"),
    ],
)
def test_an_invalid_field_is_named_and_what_was_typed_stays(
    operator: Visitor, user: SignedInUser, changed: dict[str, str], field: str, message: str
) -> None:
    page = send(operator, user, **{"day": "9"} | changed)

    assert f'aria-describedby="{field}-error"' in page.replace(f"{field}-hint ", "")
    assert message in page
    assert changed.get("day") or 'value="9"' in page
    assert stored(user) is None


def test_a_grant_is_changed_in_a_form_that_has_its_terms(operator: Visitor, user: SignedInUser) -> None:
    send(operator, user, credits="321", unspent="some", carried="45")

    form = operator.open(f"/admin/grants?workspace={user.workspace_id}").text
    send(operator, user, credits="322")

    assert "Change a monthly grant" in form
    assert 'value="321"' in form
    assert 'value="45"' in form
    row = stored(user)
    assert row is not None
    assert (row.credits, row.carried) == (322, 0)


def test_a_paused_grant_grants_nothing_until_it_is_resumed(operator: Visitor, user: SignedInUser) -> None:
    send(operator, user)

    paused = operator.send("/admin/grants/pause", workspace=user.workspace_id)
    with user.database.reading() as session:
        during = credit_schedules.of_workspace(session, user.workspace_id)
    resumed = operator.send("/admin/grants/resume", workspace=user.workspace_id)
    with user.database.reading() as session:
        after = credit_schedules.of_workspace(session, user.workspace_id)

    assert "Paused" in paused.text
    assert (during, after is not None) == (None, True)
    assert "Pause" in resumed.text


def test_a_removed_grant_is_no_longer_listed(operator: Visitor, user: SignedInUser) -> None:
    send(operator, user)

    page = operator.send("/admin/grants/remove", workspace=user.workspace_id)

    assert "No monthly grants" in page.text
    assert stored(user) is None


@pytest.mark.parametrize("path", ["", "/pause", "/resume", "/remove"])
def test_an_unknown_workspace_is_not_found(operator: Visitor, path: str) -> None:
    page = operator.send(f"/admin/grants{path}", workspace=new_id("wks"), **GRANT)

    assert page.status_code == 404


def test_the_form_of_a_workspace_without_a_grant_is_not_found(operator: Visitor, user: SignedInUser) -> None:
    assert operator.open(f"/admin/grants?workspace={user.workspace_id}").status_code == 404
