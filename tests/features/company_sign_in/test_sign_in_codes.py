from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from app.engine.accounts import accounts, workspaces
from app.features.company_sign_in import codes
from app.features.company_sign_in.codes import SignInCode, challenge_of
from app.infra.database.session import Session

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"


@pytest.fixture
def account_id(session: Session) -> str:
    workspace = workspaces.create(session, name="Acme", now=NOW)
    return accounts.create(
        session, workspace.id, email="ada@acme.example", name="Ada", password_hash="h", now=NOW
    ).id


def test_the_challenge_is_that_of_the_example_in_rfc_7636() -> None:
    assert challenge_of(VERIFIER) == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


def test_a_code_is_exchanged_once(session: Session, account_id: str) -> None:
    code = codes.issue(session, account_id, challenge_of(VERIFIER), now=NOW)

    assert codes.redeem(session, code, VERIFIER, now=NOW) == account_id
    assert codes.redeem(session, code, VERIFIER, now=NOW) is None


def test_a_wrong_verifier_uses_up_the_code(session: Session, account_id: str) -> None:
    code = codes.issue(session, account_id, challenge_of(VERIFIER), now=NOW)

    assert codes.redeem(session, code, "x" * 43, now=NOW) is None
    assert codes.redeem(session, code, VERIFIER, now=NOW) is None


def test_a_code_is_valid_for_a_minute(session: Session, account_id: str) -> None:
    code = codes.issue(session, account_id, challenge_of(VERIFIER), now=NOW)

    assert codes.redeem(session, code, VERIFIER, now=NOW + timedelta(minutes=1)) is None


def test_expired_codes_are_deleted_and_none_is_stored_in_plain_text(
    session: Session, account_id: str
) -> None:
    codes.issue(session, account_id, challenge_of(VERIFIER), now=NOW)
    code = codes.issue(session, account_id, challenge_of(VERIFIER), now=NOW + timedelta(minutes=2))

    stored = session.scalars(select(SignInCode)).one()

    assert code.encode() not in stored.digest
