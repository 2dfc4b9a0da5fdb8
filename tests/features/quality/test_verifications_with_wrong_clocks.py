"""Times of verifications, with this process's clock an hour fast or slow."""

from __future__ import annotations

from datetime import timedelta

from stored_support import NOW, a_contact, an_email, own
from wrong_clocks_support import now, wrong_clock  # noqa: F401 -- a fixture

from app.features.quality import due_verifications
from app.infra.database import database_clock
from app.infra.database.session import Session


def test_an_address_claimed_for_verification_is_reserved_for_an_hour(
    session: Session, workspace_id: str
) -> None:
    ada = a_contact(session)
    own(session, workspace_id, ada, "email")
    an_email(session, ada, "ada@acme.example", verified_at=NOW - timedelta(days=400))

    def taken(at: database_clock.Moment) -> list[str]:
        due = due_verifications.claim(session, default_max_age=timedelta(days=180), now=at, limit=10)
        return [verification.email for verification in due]

    found = [taken(now()), taken(now()), taken(now() + due_verifications.LEASE)]

    assert found == [["ada@acme.example"], [], ["ada@acme.example"]]
