from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pyotp
import pytest
from sqlalchemy import select

from app.domain.errors import TotpAlreadyOn
from app.engine.accounts import accounts, totp, workspaces
from app.engine.accounts.accounts import Account
from app.engine.accounts.totp import RecoveryCode, TotpSecret
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.session import Session

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
STEP = timedelta(seconds=30)


@pytest.fixture
def account(session: Session) -> Account:
    workspace = workspaces.create(session, name="Acme", now=NOW)
    return accounts.create(
        session, workspace.id, email="ada@acme.example", name="Ada", password_hash="h", now=NOW
    )


@pytest.fixture
def app_codes(session: Session, account: Account) -> pyotp.TOTP:
    """The authenticator app of the account, with a secret that is not confirmed."""
    return pyotp.TOTP(totp.enrol(session, account.id, now=NOW))


@pytest.fixture
def recovery_codes(session: Session, account: Account, app_codes: pyotp.TOTP) -> list[str]:
    """The recovery codes that the confirmation returned, ten minutes ago."""
    before = NOW - timedelta(minutes=10)
    codes = totp.confirm(session, account.id, app_codes.at(before), now=before)
    assert codes is not None
    return codes


def test_an_unconfirmed_secret_changes_nothing(session: Session, account: Account) -> None:
    totp.enrol(session, account.id, now=NOW)

    assert session.get_one(Account, account.id).totp_enabled_at is None


def test_a_wrong_first_code_does_not_turn_it_on(
    session: Session, account: Account, app_codes: pyotp.TOTP
) -> None:
    wrong = app_codes.at(NOW + timedelta(hours=1))

    assert totp.confirm(session, account.id, wrong, now=NOW) is None
    assert account.totp_enabled_at is None


def test_a_secret_that_was_not_confirmed_within_an_hour_has_no_right_code(
    session: Session, account: Account, app_codes: pyotp.TOTP
) -> None:
    later = NOW + timedelta(hours=1, seconds=1)

    assert totp.confirm(session, account.id, app_codes.at(later), now=later) is None
    assert account.totp_enabled_at is None


def test_the_secret_and_the_recovery_codes_are_not_stored_in_plain_text(
    session: Session, app_codes: pyotp.TOTP, recovery_codes: list[str]
) -> None:
    stored = session.scalars(select(TotpSecret.secret)).one()
    digests = session.scalars(select(RecoveryCode.digest)).all()

    assert app_codes.secret.encode() not in stored
    assert len(set(recovery_codes)) == len(digests) == 10
    assert all(code.encode() not in digest for code in recovery_codes for digest in digests)


@pytest.mark.parametrize("drift", [-STEP, timedelta(0), STEP])
@pytest.mark.usefixtures("recovery_codes")
def test_a_code_of_the_previous_this_or_the_next_step_is_accepted(
    session: Session, account: Account, app_codes: pyotp.TOTP, drift: timedelta
) -> None:
    assert totp.use(session, account.id, app_codes.at(NOW + drift), now=NOW)


@pytest.mark.parametrize("drift", [-2 * STEP, 2 * STEP])
@pytest.mark.usefixtures("recovery_codes")
def test_a_code_two_steps_away_is_refused(
    session: Session, account: Account, app_codes: pyotp.TOTP, drift: timedelta
) -> None:
    assert not totp.use(session, account.id, app_codes.at(NOW + drift), now=NOW)


@pytest.mark.usefixtures("recovery_codes")
def test_a_code_is_accepted_once_and_an_older_one_not_after_it(
    session: Session, account: Account, app_codes: pyotp.TOTP
) -> None:
    assert totp.use(session, account.id, app_codes.at(NOW), now=NOW)

    assert not totp.use(session, account.id, app_codes.at(NOW), now=NOW)
    assert not totp.use(session, account.id, app_codes.at(NOW - STEP), now=NOW)
    assert totp.use(session, account.id, app_codes.at(NOW + STEP), now=NOW)


@pytest.mark.usefixtures("recovery_codes")
def test_a_code_may_be_typed_with_a_space(session: Session, account: Account, app_codes: pyotp.TOTP) -> None:
    code = app_codes.at(NOW)

    assert totp.use(session, account.id, f" {code[:3]} {code[3:]}", now=NOW)


def test_a_recovery_code_is_accepted_once_however_it_is_typed(
    session: Session, account: Account, recovery_codes: list[str]
) -> None:
    typed = recovery_codes[3].replace("-", " ").lower()

    assert totp.use(session, account.id, typed, now=NOW)
    assert not totp.use(session, account.id, recovery_codes[3], now=NOW)
    assert totp.recovery_codes_left(session, account.id) == 9


def test_another_accounts_codes_are_refused(session: Session, recovery_codes: list[str]) -> None:
    workspace = workspaces.create(session, name="Other", now=NOW)
    other = accounts.create(
        session, workspace.id, email="eve@other.example", name="Eve", password_hash="h", now=NOW
    )

    assert not totp.use(session, other.id, recovery_codes[0], now=NOW)


@pytest.mark.usefixtures("recovery_codes")
def test_a_second_app_is_refused_while_one_is_confirmed(session: Session, account: Account) -> None:
    with pytest.raises(TotpAlreadyOn):
        totp.enrol(session, account.id, now=NOW)
    with pytest.raises(TotpAlreadyOn):
        totp.confirm(session, account.id, "000000", now=NOW)


def test_turning_it_off_deletes_the_secret_and_the_codes(
    session: Session, account: Account, recovery_codes: list[str]
) -> None:
    totp.disable(session, account.id)

    assert account.totp_enabled_at is None
    assert not totp.use(session, account.id, recovery_codes[0], now=NOW)
    assert session.scalars(select(TotpSecret)).all() == []


@pytest.mark.usefixtures("recovery_codes")
def test_after_a_change_of_the_secret_key_codes_are_refused_without_an_error(
    session: Session, account: Account, app_codes: pyotp.TOTP
) -> None:
    session._keys = DigestKeys(b"another key", b"a suppression key")  # noqa: SLF001 -- set once otherwise

    assert not totp.use(session, account.id, app_codes.at(NOW), now=NOW)
