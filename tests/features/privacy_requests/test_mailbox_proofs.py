from __future__ import annotations

from datetime import timedelta

from jobs_support import NOW
from sqlalchemy import func, select

from app.features.privacy_requests import mailbox_proofs
from app.features.privacy_requests.mailbox_codes import USABLE_FOR
from app.features.privacy_requests.mailbox_proofs import MailboxProof
from app.infra.database.session import Session


def test_a_proof_is_deleted_once_it_has_expired(session: Session) -> None:
    mailbox_proofs.request(session, "ada@acme.com", now=NOW)
    left = select(func.count()).select_from(MailboxProof)

    mailbox_proofs.purge_expired(session, now=NOW + USABLE_FOR - timedelta(seconds=1))
    assert session.scalar(left) == 1
    mailbox_proofs.purge_expired(session, now=NOW + USABLE_FOR)
    assert session.scalar(left) == 0
