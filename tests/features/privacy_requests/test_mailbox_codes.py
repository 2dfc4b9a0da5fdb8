from __future__ import annotations

import secrets
from datetime import datetime, timedelta

import pytest
from jobs_support import NOW
from sqlalchemy import func, select

from app.engine.work import items, turns
from app.engine.work.turns import Turn
from app.features.privacy_requests import mailbox_codes
from app.features.privacy_requests.mailbox_codes import (
    LIFETIME,
    SENDING,
    USABLE_FOR,
    CodeMessage,
    MailboxCode,
)
from app.infra.database.session import Session

ADDRESS = "ada@acme.com"
LATER = timedelta(seconds=1)


def sent(session: Session) -> str:
    """Request and send a code of the address; return it."""
    code_id = mailbox_codes.request(session, ADDRESS, now=NOW)
    return send(session, code_id, now=NOW).code


def send(session: Session, code_id: str, *, now: datetime) -> CodeMessage:
    """Send a code that is due; return the message."""
    turn = begin(session, code_id, now=now)
    message = mailbox_codes.begin_sending(session, turn, now=now)
    assert isinstance(message, CodeMessage)
    mailbox_codes.finish_sending(session, turn, now=now)
    return message


def begin(session: Session, code_id: str, *, now: datetime) -> Turn:
    turn = turns.begin(session, SENDING, code_id, now=now)
    assert turn is not None
    return turn


def due(session: Session, *, now: datetime) -> list[str]:
    """Return the codes that would be published now."""
    with session.begin_nested() as savepoint:
        claimed = items.claim_due(session, SENDING, now=now)
        savepoint.rollback()
    return claimed


def test_a_message_is_due_from_the_request_until_it_is_sent(session: Session) -> None:
    code_id = mailbox_codes.request(session, ADDRESS, now=NOW)

    assert due(session, now=NOW) == [code_id]
    assert due(session, now=NOW - LATER) == []
    send(session, code_id, now=NOW)
    assert due(session, now=NOW) == []


def test_a_code_that_has_expired_is_not_sent(session: Session) -> None:
    code_id = mailbox_codes.request(session, ADDRESS, now=NOW)
    turn = begin(session, code_id, now=NOW + LIFETIME)

    assert mailbox_codes.begin_sending(session, turn, now=NOW + LIFETIME) is None
    assert due(session, now=NOW + LIFETIME) == []


def test_after_the_message_was_given_up_the_next_request_begins_anew(session: Session) -> None:
    code_id = mailbox_codes.request(session, ADDRESS, now=NOW)
    turns.fail(session, begin(session, code_id, now=NOW), "refused", now=NOW)
    failed = due(session, now=NOW)

    again = mailbox_codes.request(session, ADDRESS, now=NOW)

    assert (failed, again) == ([], code_id)
    assert send(session, again, now=NOW).email == ADDRESS


def test_requests_within_twenty_minutes_are_for_the_code_that_was_sent(session: Session) -> None:
    first = sent(session)

    again = mailbox_codes.request(session, ADDRESS, now=NOW + USABLE_FOR)

    assert turns.begin(session, SENDING, again, now=NOW + USABLE_FOR) is None
    address = mailbox_codes.address_digest(session, ADDRESS)
    assert mailbox_codes.use(session, address, first, now=NOW + LIFETIME - LATER)


def test_a_later_request_replaces_the_code(session: Session) -> None:
    first, later = sent(session), NOW + USABLE_FOR + LATER

    again = mailbox_codes.request(session, ADDRESS, now=later)
    message = send(session, again, now=later)

    assert message.email == ADDRESS
    address = mailbox_codes.address_digest(session, ADDRESS)
    assert not mailbox_codes.use(session, address, first, now=later)
    assert mailbox_codes.use(session, address, message.code, now=later)


@pytest.mark.parametrize("address", [ADDRESS, "eve@evil.example"])
def test_a_used_code_is_void_and_one_of_another_address_never_valid(session: Session, address: str) -> None:
    code = sent(session)
    digest = mailbox_codes.address_digest(session, address)

    first = mailbox_codes.use(session, digest, code, now=NOW)
    again = mailbox_codes.use(session, digest, code, now=NOW)

    assert (first, again) == (address == ADDRESS, False)


def test_using_a_code_leaves_the_same_code_of_another_address(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrets, "randbelow", lambda _end: 123456)
    code = sent(session)
    other = mailbox_codes.request(session, "bob@acme.com", now=NOW)
    send(session, other, now=NOW)

    assert mailbox_codes.use(session, mailbox_codes.address_digest(session, ADDRESS), code, now=NOW)
    assert session.get(MailboxCode, other) is not None


def test_after_a_code_was_used_the_next_request_sends_another(session: Session) -> None:
    code = sent(session)
    mailbox_codes.use(session, mailbox_codes.address_digest(session, ADDRESS), code, now=NOW)

    assert due(session, now=NOW) == []
    code_id = mailbox_codes.request(session, ADDRESS, now=NOW)
    assert due(session, now=NOW) == [code_id]


def test_a_code_is_deleted_once_it_has_expired(session: Session) -> None:
    mailbox_codes.request(session, ADDRESS, now=NOW)
    left = select(func.count()).select_from(MailboxCode)

    mailbox_codes.purge_expired(session, now=NOW + LIFETIME - LATER)
    assert session.scalar(left) == 1
    mailbox_codes.purge_expired(session, now=NOW + LIFETIME)
    assert session.scalar(left) == 0
    assert due(session, now=NOW) == []
