"""Results with numbers are not reused where a do-not-call register may hide others from the caller."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from jobs_support import NOW, a_question, a_workspace, submit
from sqlalchemy import update

from app.domain.call_registers import Effect
from app.domain.ids import new_id
from app.domain.kinds import Kind
from app.engine.call_registers.registers import CallRegister, CallRegisterEffect
from app.engine.jobs.jobs import Job
from app.infra.database.session import Session

PHONES: dict[str, Any] = {"kind": Kind.REVEAL_PHONE}
LIST: dict[str, Any] = {
    "kind": Kind.ENRICHMENT_REQUEST,
    "request": {"entity": "person", "fields": ["phone"]},
}


def a_register(session: Session, effect: Effect = Effect.FLAG, *, days: int = -1) -> None:
    changed_at = NOW + timedelta(days=days)
    session.add(
        CallRegister(
            id="uk-tps",
            name="TPS",
            country="GB",
            edition=new_id("cre"),
            prefixes=["+44"],
            is_complete=True,
            date=changed_at,
            loaded_at=changed_at,
            changed_at=changed_at,
            numbers=1,
            max_age_days=28,
            effect=effect.value,
        )
    )
    session.flush()


def is_reused(session: Session, workspace_id: str, *, by: str, **changes: Any) -> bool:
    """Return whether another request gets the result of a finished job of the account `acc_test`."""
    first = submit(session, a_question(workspace_id, **changes)).job.id
    session.execute(
        update(Job).where(Job.id == first).values(status="succeeded", outcome="found", finished_at=NOW)
    )
    return submit(session, a_question(workspace_id, account_id=by, **changes)).job.id == first


@pytest.mark.parametrize("changes", [PHONES, LIST])
def test_a_result_is_reused_if_registers_hide_nothing(session: Session, changes: dict[str, Any]) -> None:
    a_register(session)

    assert is_reused(session, a_workspace(session), by="acc_other", **changes)


@pytest.mark.parametrize("changes", [PHONES, LIST])
def test_a_result_from_before_a_register_is_not_reused(session: Session, changes: dict[str, Any]) -> None:
    a_register(session, days=1)

    assert not is_reused(session, a_workspace(session), by="acc_test", **changes)


def test_a_register_changes_nothing_for_addresses(session: Session) -> None:
    a_register(session, Effect.HIDE_FOR_MEMBERS, days=1)

    assert is_reused(session, a_workspace(session), by="acc_other")


def test_an_account_gets_no_result_of_another_one_while_numbers_are_hidden_by_role(session: Session) -> None:
    a_register(session, Effect.HIDE_FOR_MEMBERS)
    workspace_id = a_workspace(session)

    assert is_reused(session, workspace_id, by="acc_test", about="ada", **PHONES)
    assert not is_reused(session, workspace_id, by="acc_other", about="bob", **PHONES)


def test_numbers_are_hidden_by_role_in_the_workspaces_that_chose_it(session: Session) -> None:
    a_register(session)
    one, other = a_workspace(session), a_workspace(session)
    session.add(
        CallRegisterEffect(
            workspace_id=one,
            register_id="uk-tps",
            effect=Effect.HIDE_FOR_MEMBERS.value,
            changed_by=None,
            changed_at=NOW - timedelta(days=1),
        )
    )
    session.flush()

    assert not is_reused(session, one, by="acc_other", **PHONES)
    assert is_reused(session, other, by="acc_other", **PHONES)
