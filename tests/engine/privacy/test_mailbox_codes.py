from __future__ import annotations

from datetime import timedelta

import pytest
from jobs_support import NOW
from sqlalchemy import func, select

from app.engine.privacy import mailbox_codes
from app.engine.privacy.mailbox_codes import LIFETIME, USABLE_FOR, CodeMessage, MailboxCode
from app.infra.database.session import Session

ADDRESS = "ada@acme.com"
LATER = timedelta(seconds=1)


def sent(session: Session) -> str:
    """Request and send a code of the address; return it."""
    code_id = mailbox_codes.request(session, ADDRESS, now=NOW)
    message = mailbox_codes.begin_sending(session, code_id, now=NOW)
    assert isinstance(message, CodeMessage)
    mailbox_codes.finish_sending(session, code_id, now=NOW)
    return message.code


def test_a_message_is_due_from_the_request_until_the_code_expires(session: Session) -> None:
    code_id = mailbox_codes.request(session, ADDRESS, now=NOW)

    assert mailbox_codes.due(session, now=NOW) == [code_id]
    assert mailbox_codes.due(session, now=NOW - LATER) == []
    assert mailbox_codes.due(session, now=NOW + LIFETIME) == []


def test_requests_within_twenty_minutes_are_for_the_code_that_was_sent(session: Session) -> None:
    first = sent(session)

    again = mailbox_codes.request(session, ADDRESS, now=NOW + USABLE_FOR)

    assert mailbox_codes.begin_sending(session, again, now=NOW + USABLE_FOR) is None
    address = mailbox_codes.address_digest(session, ADDRESS)
    assert mailbox_codes.use(session, address, first, now=NOW + LIFETIME - LATER)


def test_a_later_request_replaces_the_code(session: Session) -> None:
    first, later = sent(session), NOW + USABLE_FOR + LATER

    again = mailbox_codes.request(session, ADDRESS, now=later)
    message = mailbox_codes.begin_sending(session, again, now=later)

    assert message is not None
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


def test_after_a_code_was_used_the_next_request_sends_another(session: Session) -> None:
    code = sent(session)
    mailbox_codes.use(session, mailbox_codes.address_digest(session, ADDRESS), code, now=NOW)

    assert mailbox_codes.due(session, now=NOW) == []
    code_id = mailbox_codes.request(session, ADDRESS, now=NOW)
    assert mailbox_codes.due(session, now=NOW) == [code_id]


def test_a_code_is_deleted_once_it_has_expired(session: Session) -> None:
    sent(session)
    left = select(func.count()).select_from(MailboxCode)

    mailbox_codes.purge_expired(session, now=NOW + LIFETIME - LATER)
    assert session.scalar(left) == 1
    mailbox_codes.purge_expired(session, now=NOW + LIFETIME)
    assert session.scalar(left) == 0
