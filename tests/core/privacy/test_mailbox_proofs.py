from __future__ import annotations

from datetime import timedelta

from jobs_support import NOW
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.core.privacy import mailbox_proofs
from app.core.privacy.mailbox_proofs import CODE_LIFETIME, MailboxProof


def test_a_message_is_due_from_the_request_until_the_code_expires(session: Session) -> None:
    proof_id = mailbox_proofs.request(session, "ada@acme.com", now=NOW)

    assert mailbox_proofs.due(session, now=NOW) == [proof_id]
    assert mailbox_proofs.due(session, now=NOW - timedelta(seconds=1)) == []
    assert mailbox_proofs.due(session, now=NOW + CODE_LIFETIME) == []


def test_a_proof_is_deleted_once_it_has_expired(session: Session) -> None:
    mailbox_proofs.request(session, "ada@acme.com", now=NOW)
    left = select(func.count()).select_from(MailboxProof)

    mailbox_proofs.purge_expired(session, now=NOW + CODE_LIFETIME - timedelta(seconds=1))
    assert session.scalar(left) == 1
    mailbox_proofs.purge_expired(session, now=NOW + CODE_LIFETIME)
    assert session.scalar(left) == 0
