from __future__ import annotations

import pytest
from jobs_support import NOW, a_workspace
from sqlalchemy import update
from sqlalchemy.exc import IntegrityError, NoResultFound

from app.engine.accounts import workspaces
from app.engine.accounts.workspaces import Balance, Workspace
from app.infra.database.session import Session


def test_a_new_workspace_has_no_credits(session: Session) -> None:
    workspace = workspaces.create(session, name="Acme", now=NOW)

    assert workspaces.balance(session, workspace.id) == Balance(available=0, held=0)


def test_the_balance_of_an_unknown_workspace_is_an_error(session: Session) -> None:
    with pytest.raises(NoResultFound):
        workspaces.balance(session, "wks_nobody")


@pytest.mark.parametrize("figure", ["available", "held"])
def test_the_database_rejects_negative_credits(session: Session, figure: str) -> None:
    workspace_id = a_workspace(session)

    with pytest.raises(IntegrityError):
        session.execute(update(Workspace).where(Workspace.id == workspace_id).values({figure: -1}))


def test_the_totals_are_the_sums_of_all_workspaces(session: Session) -> None:
    before = workspaces.credit_totals(session)
    for grant in (10, 5):
        workspace_id = a_workspace(session, grant=grant)
    session.execute(update(Workspace).where(Workspace.id == workspace_id).values(held=2, spent=1))

    assert before == {"available": 0, "held": 0, "spent": 0}
    assert workspaces.credit_totals(session) == {"available": 15, "held": 2, "spent": 1}


def test_only_workspaces_with_one_name_are_told_apart_by_their_ids(session: Session) -> None:
    first, second, other = (workspaces.create(session, name=name, now=NOW) for name in ("A", "A", "B"))

    assert workspaces.choices([first, second, other]) == [
        (first.id, f"A ({first.id})"),
        (second.id, f"A ({second.id})"),
        (other.id, "B"),
    ]
