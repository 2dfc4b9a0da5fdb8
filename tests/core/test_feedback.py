from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from jobs_support import NOW, a_question, a_workspace, at_once, claim, figures, submit
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from stored_support import SOURCE, a_company, a_contact, an_email

from app.core import credits, emails, feedback, leases, reveals
from app.core.credits import LedgerEntry
from app.core.emails import Email
from app.core.feedback import Feedback, FeedbackKind, Recorded, Refund, Said
from app.core.leases import Answer
from app.core.reveals import Reveal
from app.domain.errors import ContactNotFound
from app.domain.findings import EmailStatus, FoundEmail, Source, SourceKind
from app.domain.ids import EXAMPLES, new_id
from app.domain.kinds import Outcome
from app.infra.db import Database

ADDRESS = "ada@acme.com"
BOUNCE = FeedbackKind.BOUNCE
IN_TIME = NOW + timedelta(days=30)
LATE = IN_TIME + timedelta(seconds=1)
A_DAY = timedelta(days=1)


def a_sight(provider: str, kind: str = "provider") -> dict[str, str]:
    return SOURCE | {"provider": provider, "kind": kind}


def reveal(
    session: Session, workspace_id: str, contact_id: str, *, field: str = "email", price: int = 2
) -> str:
    """Pay for the contact's field; give the job that did."""
    job_id = new_id("job")
    credits.hold(session, workspace_id, job_id, price, now=NOW)
    reveals.record(
        session,
        workspace_id=workspace_id,
        contact_id=contact_id,
        field=field,
        job_id=job_id,
        price=price,
        now=NOW,
    )
    credits.close(session, workspace_id, job_id, held=price, charged=price, now=NOW)
    return job_id


def said(workspace_id: str, contact_id: str, email: str = ADDRESS, kind: FeedbackKind = BOUNCE) -> Said:
    return Said(workspace_id=workspace_id, account_id="acc_1", contact_id=contact_id, email=email, kind=kind)


@pytest.fixture
def contact_id(session: Session) -> str:
    contact = a_contact(session, a_company(session))
    an_email(session, contact, ADDRESS)
    return contact.id


@pytest.fixture
def workspace_id(session: Session, contact_id: str) -> str:
    """A workspace that paid two of ten credits for the contact's e-mails."""
    workspace_id = a_workspace(session)
    reveal(session, workspace_id, contact_id)
    return workspace_id


def address(session: Session, email: str = ADDRESS) -> Email:
    query = select(Email).where(Email.email == email)
    return session.scalars(query, execution_options={"populate_existing": True}).one()


def test_a_bounce_gives_back_what_the_reveal_cost(
    session: Session, workspace_id: str, contact_id: str
) -> None:
    recorded = feedback.record(session, said(workspace_id, contact_id), now=NOW)

    assert (recorded.refunded, recorded.refund) == (2, Refund.GIVEN)
    assert recorded.feedback.refunded == 2
    assert figures(session, workspace_id) == (10, 0, 0)


def test_a_refund_is_in_the_ledger_with_the_job_that_was_paid(
    session: Session, workspace_id: str, contact_id: str
) -> None:
    feedback.record(session, said(workspace_id, contact_id), now=NOW)

    entry = session.scalars(select(LedgerEntry).where(LedgerEntry.kind == "refund")).one()
    paid = session.scalars(select(Reveal)).one()
    assert (entry.available, entry.held, entry.spent, entry.reason) == (2, 0, -2, "bounced")
    assert entry.job_id == paid.job_id


def test_what_was_refunded_stays_owned(session: Session, workspace_id: str, contact_id: str) -> None:
    feedback.record(session, said(workspace_id, contact_id), now=NOW)

    assert reveals.owned(session, workspace_id, [contact_id]) == {(contact_id, "email")}
    assert not reveals.record(
        session,
        workspace_id=workspace_id,
        contact_id=contact_id,
        field="email",
        job_id="job_2",
        price=2,
        now=NOW,
    )


def test_the_same_bounce_twice_changes_nothing(session: Session, workspace_id: str, contact_id: str) -> None:
    first = feedback.record(session, said(workspace_id, contact_id), now=NOW)

    again = feedback.record(session, said(workspace_id, contact_id), now=NOW + A_DAY)

    assert (again.refunded, again.refund) == (0, Refund.GIVEN_BEFORE)
    assert again.feedback.id == first.feedback.id
    assert address(session).reported_at == NOW
    assert figures(session, workspace_id) == (10, 0, 0)


def test_a_second_address_that_bounces_refunds_the_reveal_no_second_time(
    session: Session, workspace_id: str, contact_id: str
) -> None:
    an_email(session, a_contact(session), "else@acme.com").contact_id = contact_id
    feedback.record(session, said(workspace_id, contact_id), now=NOW)

    other = feedback.record(session, said(workspace_id, contact_id, "else@acme.com"), now=NOW)

    assert (other.refunded, other.refund) == (0, Refund.GIVEN_BEFORE)
    assert address(session, "else@acme.com").status == "risky"
    assert figures(session, workspace_id) == (10, 0, 0)


@pytest.mark.parametrize(("now", "result"), [(IN_TIME, (2, Refund.GIVEN)), (LATE, (0, Refund.TOO_LATE))])
def test_a_refund_is_due_for_thirty_days(
    session: Session, workspace_id: str, contact_id: str, now: datetime, result: tuple[int, Refund]
) -> None:
    recorded = feedback.record(session, said(workspace_id, contact_id), now=now)

    assert (recorded.refunded, recorded.refund) == result
    assert address(session).status == "risky"


def test_what_cost_nothing_is_not_refunded(session: Session, contact_id: str) -> None:
    workspace_id = a_workspace(session)
    reveal(session, workspace_id, contact_id, price=0)

    recorded = feedback.record(session, said(workspace_id, contact_id), now=NOW)

    assert (recorded.refunded, recorded.refund) == (0, Refund.NOTHING_PAID)
    assert session.scalars(select(LedgerEntry.kind)).all() == ["grant"]


@pytest.mark.parametrize("kind", [FeedbackKind.WRONG_PERSON, FeedbackKind.VALID])
def test_other_feedback_is_recorded_and_nothing_else(
    session: Session, workspace_id: str, contact_id: str, kind: FeedbackKind
) -> None:
    recorded = feedback.record(session, said(workspace_id, contact_id, kind=kind), now=NOW)

    assert (recorded.refunded, recorded.refund) == (0, Refund.NOT_DUE)
    assert (address(session).status, address(session).reported_at) == ("valid", None)
    assert figures(session, workspace_id) == (8, 0, 2)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("valid", "risky"),
        ("accept_all", "risky"),
        ("risky", "risky"),
        ("unknown", "unknown"),
        ("invalid", "invalid"),
    ],
)
def test_a_bounced_address_is_at_best_risky_and_wants_verifying(
    session: Session, workspace_id: str, contact_id: str, before: str, after: str
) -> None:
    address(session).status = before

    feedback.record(session, said(workspace_id, contact_id), now=NOW)

    row = address(session)
    assert (row.status, row.status_reasons) == (after, ["bounced"])
    assert (row.reported_at, row.verified_at) == (NOW, NOW)


@pytest.mark.parametrize(("verified_at", "status"), [(None, "risky"), (NOW, "risky"), (NOW + A_DAY, "valid")])
def test_only_a_later_verdict_clears_a_bounced_address(
    session: Session, workspace_id: str, contact_id: str, verified_at: datetime | None, status: str
) -> None:
    address(session).verified_at = None
    feedback.record(session, said(workspace_id, contact_id), now=NOW)
    source = Source("hunter", SourceKind.PROVIDER, NOW + A_DAY)
    found = FoundEmail(
        email=ADDRESS, type="work", status=EmailStatus.VALID, source=source, verified_at=verified_at
    )

    emails.keep(session, contact_id, found, now=NOW + A_DAY)

    assert address(session).status == status


def test_the_providers_that_gave_the_address_are_noted_and_lists_are_not(
    session: Session, workspace_id: str, contact_id: str
) -> None:
    sights = [a_sight("old list", "import"), a_sight("pattern", "pattern"), a_sight("hunter"), SOURCE]
    address(session).sources = sights

    recorded = feedback.record(session, said(workspace_id, contact_id), now=NOW)

    assert recorded.feedback.providers == ["pattern", "hunter"]


@pytest.mark.parametrize(
    ("of_contact", "of_company", "domain", "country"),
    [("FR", "DE", "acme.com", "FR"), (None, "DE", "acme.fr", "DE"), (None, None, "acme.fr", "FR")],
)
def test_the_country_is_the_persons_or_else_the_companys(
    session: Session, of_contact: str | None, of_company: str | None, domain: str, country: str
) -> None:
    workspace_id = a_workspace(session)
    contact = a_contact(session, a_company(session, domain=domain, country=of_company), country=of_contact)
    an_email(session, contact, ADDRESS)
    reveal(session, workspace_id, contact.id)

    recorded = feedback.record(session, said(workspace_id, contact.id), now=NOW)

    assert recorded.feedback.country == country


def test_of_somebody_without_a_company_the_address_tells_the_country(session: Session) -> None:
    workspace_id, contact = a_workspace(session), a_contact(session, country=None)
    an_email(session, contact, "ada@acme.de")
    reveal(session, workspace_id, contact.id)

    recorded = feedback.record(session, said(workspace_id, contact.id, "ada@acme.de"), now=NOW)

    assert recorded.feedback.country == "DE"


def test_whom_another_workspace_revealed_is_not_found(
    session: Session, workspace_id: str, contact_id: str
) -> None:
    stranger = a_workspace(session)
    reveal(session, stranger, contact_id, field="phone")

    with pytest.raises(ContactNotFound):
        feedback.record(session, said(stranger, contact_id), now=NOW)

    assert address(session).status == "valid"
    assert session.scalar(select(func.count()).select_from(Feedback)) == 0


def test_an_address_of_somebody_else_is_not_found(
    session: Session, workspace_id: str, contact_id: str
) -> None:
    an_email(session, a_contact(session), "bob@acme.com")

    with pytest.raises(ContactNotFound):
        feedback.record(session, said(workspace_id, contact_id, "bob@acme.com"), now=NOW)


def test_an_owned_address_under_another_id_is_not_found(
    session: Session, workspace_id: str, contact_id: str
) -> None:
    other = a_contact(session)
    an_email(session, other, ADDRESS)

    with pytest.raises(ContactNotFound):
        feedback.record(session, said(workspace_id, other.id), now=NOW)


@pytest.mark.parametrize("contact_id", [EXAMPLES["con"], "con_", "\0", EXAMPLES["job"]])
def test_who_never_was_is_not_found(session: Session, contact_id: str) -> None:
    with pytest.raises(ContactNotFound):
        feedback.record(session, said(a_workspace(session), contact_id), now=NOW)


def test_each_workspace_is_refunded_for_itself(session: Session, workspace_id: str, contact_id: str) -> None:
    other = a_workspace(session)
    reveal(session, other, contact_id, price=3)
    feedback.record(session, said(workspace_id, contact_id), now=NOW)

    recorded = feedback.record(session, said(other, contact_id), now=NOW)

    assert recorded.refunded == 3
    assert figures(session, other) == figures(session, workspace_id) == (10, 0, 0)


def test_feedback_is_read_back_as_it_was_recorded_and_only_by_its_workspace(
    session: Session, workspace_id: str, contact_id: str
) -> None:
    recorded = feedback.record(session, said(workspace_id, contact_id), now=NOW)

    assert feedback.get(session, workspace_id, recorded.feedback.id) == recorded
    assert feedback.get(session, a_workspace(session), recorded.feedback.id) is None


def test_the_database_refuses_the_same_feedback_twice(
    session: Session, workspace_id: str, contact_id: str
) -> None:
    first = feedback.record(session, said(workspace_id, contact_id), now=NOW).feedback
    values = {column.name: getattr(first, column.name) for column in Feedback.__table__.columns}

    session.add(Feedback(**values | {"id": new_id("fdb")}))

    with pytest.raises(IntegrityError):
        session.flush()


def test_an_answer_with_a_bounced_address_is_not_given_again(session: Session) -> None:
    workspace_id, contact = a_workspace(session), a_contact(session)
    an_email(session, contact, ADDRESS)
    job_id = submit(session, a_question(workspace_id)).job.id
    given = Answer(outcome=Outcome.FOUND, result={"contact_id": contact.id, "emails": [{"email": ADDRESS}]})
    leases.settle(session, claim(session, job_id), given, now=NOW)
    before = submit(session, a_question(workspace_id)).is_new
    reveal(session, workspace_id, contact.id)

    feedback.record(session, said(workspace_id, contact.id), now=NOW + timedelta(minutes=1))

    assert not before
    assert submit(session, a_question(workspace_id), now=NOW + timedelta(minutes=2)).is_new


def test_a_bounce_leaves_answers_about_others_as_they_are(session: Session) -> None:
    workspace_id, contact = a_workspace(session), a_contact(session)
    an_email(session, contact, ADDRESS)
    job_id = submit(session, a_question(workspace_id)).job.id
    given = Answer(outcome=Outcome.FOUND, result={"emails": [{"email": "bob@acme.com"}]})
    leases.settle(session, claim(session, job_id), given, now=NOW)
    reveal(session, workspace_id, contact.id)

    feedback.record(session, said(workspace_id, contact.id), now=NOW + timedelta(minutes=1))

    assert not submit(session, a_question(workspace_id), now=NOW + timedelta(minutes=2)).is_new


def test_forty_bounces_at_once_refund_once(database: Database) -> None:
    with database.transaction() as session:
        workspace_id, contact = a_workspace(session), a_contact(session)
        places = [f"ada{number}@acme.com" for number in range(4)]
        for place in places:
            an_email(session, contact, place)
        reveal(session, workspace_id, contact.id)

    def bounce(number: int) -> Recorded:
        with database.transaction() as session:
            return feedback.record(session, said(workspace_id, contact.id, places[number % 4]), now=NOW)

    recorded = at_once(40, bounce)

    assert [one.refunded for one in recorded if one.refunded] == [2]
    assert len({one.feedback.id for one in recorded}) == 4
    with database.reading() as session:
        assert figures(session, workspace_id) == (10, 0, 0)
        refunds = select(func.count()).select_from(LedgerEntry).where(LedgerEntry.kind == "refund")
        assert session.scalar(refunds) == 1
