from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, cast

import pytest
from jobs_support import a_workspace
from sqlalchemy import Engine, func, select
from stored_support import ADA_URL, NOW, a_contact, a_phone, an_email, own, statements, suppress

from app.domain.findings import EmailStatus, FoundEmail, Source, SourceKind
from app.engine.contacts import learned_patterns
from app.engine.contacts.bounce_reports import BOUNCED, Feedback, FeedbackKind
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import FORMER, Email
from app.engine.ledger.reveals import Reveal
from app.features.quality import due_verifications, feedback, verifications
from app.features.quality.due_verifications import LEASE
from app.features.quality.feedback import FeedbackReport
from app.features.quality.refunds import Allowance
from app.features.quality.tables import Verification
from app.features.quality.verifications import UNKNOWN_RETRY_INTERVAL
from app.infra.database.session import Session

DEFAULT_MAX_AGE = timedelta(days=180)
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
SHORTEST = DEFAULT_MAX_AGE / 6
EXPIRED = NOW + DEFAULT_MAX_AGE
LATER = EXPIRED + DAY


@pytest.fixture
def ada(session: Session) -> Contact:
    """Return a contact whose e-mails a workspace owns."""
    contact = a_contact(session, linkedin_url=ADA_URL)
    own(session, a_workspace(session), contact, "email")
    return contact


def taken(session: Session, now: datetime = EXPIRED, limit: int = 10) -> list[str]:
    due = due_verifications.claim(session, default_max_age=DEFAULT_MAX_AGE, now=now, limit=limit)
    return [item.email for item in due]


def verdict(status: EmailStatus = EmailStatus.VALID, at: datetime | None = LATER, **more: Any) -> FoundEmail:
    source = Source("mx", SourceKind.PROVIDER, LATER)
    return FoundEmail(email="a@acme.com", type="work", status=status, source=source, verified_at=at, **more)


def test_an_owned_address_is_due_when_its_verdict_has_expired(session: Session, ada: Contact) -> None:
    an_email(session, ada, "a@acme.com")

    assert taken(session, EXPIRED - DAY) == []
    assert taken(session, EXPIRED) == ["a@acme.com"]


def test_an_address_that_no_workspace_owns_is_not_reverified(session: Session) -> None:
    bob = a_contact(session)
    an_email(session, bob, "b@acme.com")
    own(session, a_workspace(session), bob, "phone")

    assert taken(session) == []


@pytest.mark.parametrize(
    ("status", "days"), [("accept_all", 60), ("invalid", 60), ("risky", 30), ("unknown", 30)]
)
def test_each_status_has_its_own_lifetime(session: Session, ada: Contact, status: str, days: int) -> None:
    an_email(session, ada, "a@acme.com", status=status)

    assert taken(session, NOW + DAY * (days - 1)) == []
    assert taken(session, NOW + DAY * days) == ["a@acme.com"]


def test_the_age_of_an_unverified_address_counts_from_its_last_observation(
    session: Session, ada: Contact
) -> None:
    an_email(session, ada, "a@acme.com", verified_at=None)

    assert taken(session, EXPIRED - DAY) == []
    assert taken(session, EXPIRED) == ["a@acme.com"]


def test_the_oldest_are_claimed_first_up_to_the_limit(session: Session, ada: Contact) -> None:
    an_email(session, ada, "new@acme.com", verified_at=NOW - DAY)
    an_email(session, ada, "seen@acme.com", verified_at=None).last_seen_at = NOW - 2 * DAY
    an_email(session, ada, "old@acme.com", verified_at=NOW - 3 * DAY)

    assert taken(session, limit=2) == ["old@acme.com", "seen@acme.com"]
    assert taken(session, limit=2) == ["new@acme.com"]


def test_workspaces_take_turns_however_many_bounces_one_of_them_reports(
    session: Session, ada: Contact
) -> None:
    for number in range(3):
        an_email(session, ada, f"a{number}@acme.com", verified_at=NOW - 3 * DAY)
        report(session, ada, f"a{number}@acme.com")
    bob = a_contact(session)
    own(session, a_workspace(session), bob, "email")
    an_email(session, bob, "b@acme.com", verified_at=NOW - DAY)
    report(session, bob, "b@acme.com")

    assert sorted(taken(session, NOW, limit=2)) == ["a0@acme.com", "b@acme.com"]
    assert sorted(taken(session, NOW, limit=2)) == ["a1@acme.com", "a2@acme.com"]


@pytest.mark.parametrize("verified_at", [None, NOW, NOW - DAY])
def test_a_bounced_address_is_due_at_once_and_first(
    session: Session, ada: Contact, verified_at: datetime | None
) -> None:
    an_email(session, ada, "old@acme.com", verified_at=NOW - DEFAULT_MAX_AGE)
    an_email(session, ada, "bounced@acme.com", verified_at=verified_at, reported_at=NOW)

    assert taken(session, NOW) == ["bounced@acme.com", "old@acme.com"]


@pytest.mark.parametrize("verified_at", [None, NOW, NOW - DAY])
def test_an_unconfirmed_bounce_of_one_workspace_is_due_at_once(
    session: Session, ada: Contact, verified_at: datetime | None
) -> None:
    an_email(session, ada, "old@acme.com", verified_at=NOW - DEFAULT_MAX_AGE)
    row = an_email(session, ada, "bounced@acme.com", verified_at=verified_at)
    verifications.give_up(session, row.id, now=NOW - DAY)
    report(session, ada, "bounced@acme.com")

    assert taken(session, NOW) == ["bounced@acme.com", "old@acme.com"]


@pytest.mark.parametrize("state", ["confirmed_at", "refuted_at"])
def test_a_decided_bounce_is_not_due_again(session: Session, ada: Contact, state: str) -> None:
    an_email(session, ada, "a@acme.com", verified_at=NOW)
    setattr(report(session, ada, "a@acme.com"), state, NOW)
    session.flush()

    assert taken(session, NOW) == []


def report(session: Session, contact: Contact, address: str, now: datetime = NOW) -> Feedback:
    """Report a bounce as the workspace that owns the contact's e-mails."""
    report = FeedbackReport(
        workspace_id=session.scalars(
            select(Reveal.workspace_id).where(Reveal.contact_id == contact.id)
        ).one(),
        account_id=None,
        contact_id=contact.id,
        email=address,
        kind=FeedbackKind.BOUNCE,
    )
    return feedback.record(session, report, allowance=Allowance(0), now=now).feedback


def test_an_address_verified_after_its_bounce_is_not_due(session: Session, ada: Contact) -> None:
    an_email(session, ada, "a@acme.com", verified_at=NOW, reported_at=NOW - DAY)

    assert taken(session, NOW) == []


def test_a_claimed_address_is_reserved_for_its_worker(session: Session, ada: Contact) -> None:
    an_email(session, ada, "a@acme.com")
    taken(session)

    assert taken(session, EXPIRED + LEASE - timedelta(seconds=1)) == []
    assert taken(session, EXPIRED + LEASE) == ["a@acme.com"]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("email", "a@acme.com"),
        ("email", "other@acme.com"),
        ("phone", "+16175550101"),
        ("linkedin_url", ADA_URL),
    ],
)
def test_suppressed_people_are_skipped_and_do_not_block_others(
    session: Session, ada: Contact, kind: str, value: str
) -> None:
    an_email(session, ada, "a@acme.com")
    an_email(session, ada, "other@acme.com")
    a_phone(session, ada, "+16175550101")
    bob = a_contact(session)
    own(session, a_workspace(session), bob, "email")
    an_email(session, bob, "bob@acme.com", verified_at=NOW + DAY)
    suppress(session, kind, value)

    assert [taken(session, LATER, limit=1) for _ in range(3)] == [[], [], ["bob@acme.com"]]


def test_a_verdict_is_stored(session: Session, ada: Contact) -> None:
    row = an_email(session, ada, "info@acme.com")
    row.status_reasons = ["full_inbox"]
    before = (row.sources, row.last_seen_at, row.confidence, row.type)

    recorded = verifications.record(session, row.id, verdict(EmailStatus.INVALID, reasons=("no_mx",)))

    session.expire_all()
    assert recorded
    assert (row.status, row.status_reasons, row.verified_at) == ("invalid", ["no_mx", "role"], LATER)
    assert (row.sources, row.last_seen_at, row.confidence, row.type) == before
    assert session.get_one(Contact, ada.id).updated_at == LATER


def test_a_verdict_deletes_the_schedule(session: Session, ada: Contact) -> None:
    row = an_email(session, ada, "a@acme.com")
    taken(session)

    verifications.record(session, row.id, verdict())

    assert plans(session) == 0
    assert taken(session, LATER + LEASE) == []


@pytest.mark.parametrize(
    ("known", "report"),
    [
        ({"verified_at": LATER}, {}),
        ({"verified_at": NOW, "reported_at": LATER}, {}),
        ({"verified_at": NOW}, {"at": None}),
    ],
)
def test_an_older_verdict_does_not_replace_a_newer_one(
    session: Session, ada: Contact, known: dict[str, Any], report: dict[str, Any]
) -> None:
    row = an_email(session, ada, "a@acme.com", **known)

    recorded = verifications.record(session, row.id, verdict(EmailStatus.INVALID, **report))

    session.expire_all()
    assert not recorded
    assert row.status == "valid"


def test_a_first_verdict_is_stored(session: Session, ada: Contact) -> None:
    row = an_email(session, ada, "a@acme.com", verified_at=None)

    assert verifications.record(session, row.id, verdict(EmailStatus.INVALID))


def test_a_verdict_about_a_deleted_address_is_ignored(session: Session) -> None:
    assert not verifications.record(session, "eml_gone", verdict())


@pytest.mark.parametrize(
    ("before", "status", "after"),
    [
        (["guessed"], EmailStatus.VALID, ("valid", [])),
        (["guessed"], EmailStatus.ACCEPT_ALL, ("accept_all", ["guessed"])),
        ([BOUNCED], EmailStatus.ACCEPT_ALL, ("risky", [BOUNCED])),
        ([BOUNCED], EmailStatus.VALID, ("valid", [])),
        (["disabled"], EmailStatus.ACCEPT_ALL, ("accept_all", [])),
    ],
)
def test_only_a_valid_verdict_clears_guessed_and_bounced(
    session: Session, ada: Contact, before: list[str], status: EmailStatus, after: tuple[str, list[str]]
) -> None:
    row = an_email(session, ada, "a@acme.com", status="risky")
    row.status_reasons = before

    verifications.record(session, row.id, verdict(status))

    session.expire_all()
    assert (row.status, row.status_reasons) == after


def test_a_guess_never_counts_for_a_pattern(session: Session, ada: Contact) -> None:
    row = an_email(session, ada, "ada@acme.com", status="unknown", form=None)

    verifications.record(session, row.id, verdict())

    assert learned_patterns.pattern_counts(session, "acme.com") == []


def test_an_address_that_is_no_longer_valid_does_not_count_for_its_pattern(
    session: Session, ada: Contact
) -> None:
    row = an_email(session, ada, "ada@acme.com", form="{first}")
    before = learned_patterns.pattern_counts(session, "acme.com")

    verifications.record(session, row.id, verdict(EmailStatus.INVALID))

    assert [stat.form for stat in before] == ["{first}"]
    assert learned_patterns.pattern_counts(session, "acme.com") == []


def test_a_pending_provider_is_polled_with_its_token(session: Session, ada: Contact) -> None:
    row = an_email(session, ada, "a@acme.com")
    taken(session)

    verifications.schedule_poll(session, row.id, provider="mx", ticket="1.abc", poll_at=LATER, now=EXPIRED)

    assert taken(session, LATER - timedelta(seconds=1)) == []
    [due] = due_verifications.claim(session, default_max_age=DEFAULT_MAX_AGE, now=LATER, limit=1)
    assert (due.provider, due.ticket) == ("mx", "1.abc")


def test_a_provider_is_polled_before_the_lease_ends(session: Session, ada: Contact) -> None:
    row = an_email(session, ada, "a@acme.com")
    taken(session)
    poll_at = EXPIRED + LEASE / 2

    verifications.schedule_poll(session, row.id, provider="mx", ticket="1.abc", poll_at=poll_at, now=EXPIRED)

    assert taken(session, poll_at) == ["a@acme.com"]


def test_an_address_without_a_verdict_is_tried_again_later_from_the_start(
    session: Session, ada: Contact
) -> None:
    row = an_email(session, ada, "a@acme.com")
    verifications.schedule_poll(session, row.id, provider="mx", ticket="1.abc", poll_at=LATER, now=EXPIRED)

    verifications.give_up(session, row.id, now=LATER)

    assert taken(session, LATER + UNKNOWN_RETRY_INTERVAL - timedelta(seconds=1)) == []
    [due] = due_verifications.claim(
        session, default_max_age=DEFAULT_MAX_AGE, now=LATER + UNKNOWN_RETRY_INTERVAL, limit=1
    )
    assert (due.email, due.provider, due.ticket) == ("a@acme.com", None, None)
    assert (row.status, row.verified_at) == ("valid", NOW)


def test_no_schedule_is_stored_for_a_deleted_address(session: Session) -> None:
    verifications.give_up(session, "eml_gone", now=LATER)

    assert plans(session) == 0


def test_a_schedule_is_deleted_with_its_address(session: Session, ada: Contact) -> None:
    row = an_email(session, ada, "a@acme.com")
    verifications.give_up(session, row.id, now=LATER)

    session.delete(session.get_one(Email, row.id))
    session.flush()

    assert plans(session) == 0


def plans(session: Session) -> int | None:
    return session.scalar(select(func.count()).select_from(Verification))


def test_a_bounce_overrides_a_postponed_verification(session: Session, ada: Contact) -> None:
    row = an_email(session, ada, "a@acme.com")
    verifications.give_up(session, row.id, now=EXPIRED)
    before = taken(session, EXPIRED + DAY)
    report(session, ada, "a@acme.com", EXPIRED + DAY)

    first, second = taken(session, EXPIRED + DAY), taken(session, EXPIRED + DAY)

    assert (before, first, second) == ([], ["a@acme.com"], [])


def test_addresses_that_are_not_due_are_not_read_again_before_any_verdict_can_expire(
    session: Session, ada: Contact
) -> None:
    an_email(session, ada, "a@acme.com")
    taken(session, NOW)

    with statements(cast("Engine", session.get_bind())) as seen:
        taken(session, NOW + SHORTEST - DAY)

    assert [sql for sql, _values in seen if "FROM emails" in sql] == []


def test_a_verdict_of_another_job_that_expires_earlier_is_noticed_in_time(
    session: Session, ada: Contact
) -> None:
    row = an_email(session, ada, "a@acme.com")
    taken(session, NOW)
    row.status, row.verified_at = "risky", NOW + DAY
    session.flush()

    found = [taken(session, NOW + DAY + SHORTEST - MINUTE), taken(session, NOW + DAY + SHORTEST)]

    assert found == [[], ["a@acme.com"]]


def test_each_claim_reads_a_limited_number_of_contacts(
    session: Session, ada: Contact, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob = a_contact(session)
    own(session, a_workspace(session), bob, "email")
    an_email(session, ada, "a@acme.com")
    an_email(session, bob, "b@acme.com")
    monkeypatch.setattr(due_verifications, "MAX_REVEALS", 1)

    first, second, third = taken(session), taken(session), taken(session)

    assert sorted(first + second) == ["a@acme.com", "b@acme.com"]
    assert third == []


def test_an_address_that_two_workspaces_own_is_claimed_once(session: Session, ada: Contact) -> None:
    own(session, a_workspace(session), ada, "email")
    an_email(session, ada, "a@acme.com")

    assert taken(session) == ["a@acme.com"]
    assert taken(session) == []


@pytest.mark.parametrize(
    ("given", "status"), [(EmailStatus.VALID, "risky"), (EmailStatus.INVALID, "invalid")]
)
def test_a_verification_of_a_former_address_does_not_make_it_current(
    session: Session, ada: Contact, given: EmailStatus, status: str
) -> None:
    former = an_email(session, ada, "a@acme.com", status="risky")
    former.status_reasons = [FORMER]

    verifications.record(session, former.id, verdict(given))

    assert (former.status, FORMER in former.status_reasons) == (status, True)
