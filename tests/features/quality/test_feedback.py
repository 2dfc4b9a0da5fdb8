from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from datetime import datetime, timedelta

import pytest
from jobs_support import NOW, a_job, a_question, a_workspace, at_once, claim, figures, read, submit
from mentions_support import index_all
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from stored_support import SOURCE, a_company, a_contact, an_email

from app.domain.errors import ContactNotFound
from app.domain.findings import EmailStatus, FoundEmail, Source, SourceKind
from app.domain.ids import EXAMPLES, new_id
from app.domain.kinds import Kind, Outcome
from app.domain.regional_rules import RegionalRules
from app.engine.contacts import emails
from app.engine.contacts.bounce_reports import Feedback, FeedbackKind
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.jobs import leases
from app.engine.jobs.jobs import JobItem
from app.engine.jobs.leases import JobResult
from app.engine.ledger import acquisition, credits, ownership
from app.engine.ledger.acquisition import Acquisition
from app.engine.ledger.credits import LedgerEntry
from app.engine.ledger.ownership import Ownership
from app.engine.ledger.reveals import Reveal
from app.engine.lookups import contact_data
from app.features.quality import feedback
from app.features.quality.feedback import FeedbackReport, FeedbackResult
from app.features.quality.refunds import Allowance, RefundDecision
from app.infra.crypto.key_ring import KeyRing
from app.infra.database import encrypted_columns
from app.infra.database.db import Database
from app.infra.database.session import DataSettings, Session

ADDRESS = "ada@acme.com"
BOUNCE = FeedbackKind.BOUNCE
ALLOWANCE = Allowance(0.05)
NOTHING = Allowance(0)
IN_TIME = NOW + timedelta(days=30)
LATE = IN_TIME + timedelta(seconds=1)
A_DAY = timedelta(days=1)


def a_sight(provider: str, kind: str = "provider") -> dict[str, str]:
    return SOURCE | {"provider": provider, "kind": kind}


def reveal(
    session: Session, workspace_id: str, contact_id: str, *, field: str = "email", price: int = 2
) -> str:
    """Reveal the contact's field; return the job's id."""
    job_id = new_id("job")
    credits.hold(session, workspace_id, job_id, price, now=NOW)
    acquisition.acquire_field(
        session,
        Acquisition(
            workspace_id=workspace_id, contact_id=contact_id, field=field, job_id=job_id, price=price
        ),
        now=NOW,
    )
    credits.close(session, workspace_id, job_id, held=price, charged=price, now=NOW)
    return job_id


def a_report(
    workspace_id: str, contact_id: str, email: str = ADDRESS, kind: FeedbackKind = BOUNCE
) -> FeedbackReport:
    return FeedbackReport(
        workspace_id=workspace_id, account_id="acc_1", contact_id=contact_id, email=email, kind=kind
    )


def report(
    session: Session,
    workspace_id: str,
    contact_id: str,
    *,
    email: str = ADDRESS,
    allowance: Allowance = ALLOWANCE,
    now: datetime = NOW,
) -> FeedbackResult:
    """Record a bounce report of the address."""
    return feedback.record(session, a_report(workspace_id, contact_id, email), allowance=allowance, now=now)


def another_payer(session: Session, contact_id: str) -> str:
    """Insert another workspace that owns the contact's e-mails; return its id."""
    workspace_id = a_workspace(session)
    reveal(session, workspace_id, contact_id)
    return workspace_id


def seen(session: Session, workspace_id: str, contact_id: str) -> tuple[str, list[str]]:
    """Return the status and reasons of the contact's only address as the workspace sees it."""
    contact = session.get_one(Contact, contact_id)
    [row] = contact_data.load(session, workspace_id, [contact]).emails[contact_id]
    return row.status, row.status_reasons


@pytest.fixture
def contact_id(session: Session) -> str:
    contact = a_contact(session, a_company(session))
    an_email(session, contact, ADDRESS)
    return contact.id


@pytest.fixture
def workspace_id(session: Session, contact_id: str) -> str:
    """Return the id of a workspace that paid two of ten credits for the contact's e-mails."""
    workspace_id = a_workspace(session)
    reveal(session, workspace_id, contact_id)
    return workspace_id


def address(session: Session, email: str = ADDRESS) -> Email:
    query = select(Email).where(emails.has_address(session, [email]))
    return session.scalars(query, execution_options={"populate_existing": True}).one()


def test_a_bounce_refunds_the_price_of_the_reveal(
    session: Session, workspace_id: str, contact_id: str
) -> None:
    recorded = feedback.record(session, a_report(workspace_id, contact_id), allowance=ALLOWANCE, now=NOW)

    assert (recorded.refunded, recorded.refund) == (2, RefundDecision.GIVEN)
    assert recorded.feedback.refunded == 2
    assert figures(session, workspace_id) == (10, 0, 0)


def test_a_refund_is_in_the_ledger_with_the_charged_job(
    session: Session, workspace_id: str, contact_id: str
) -> None:
    feedback.record(session, a_report(workspace_id, contact_id), allowance=ALLOWANCE, now=NOW)

    entry = session.scalars(select(LedgerEntry).where(LedgerEntry.kind == "refund")).one()
    paid = session.scalars(select(Reveal)).one()
    assert (entry.available, entry.held, entry.spent, entry.reason) == (2, 0, -2, "bounced")
    assert entry.job_id == paid.job_id


def test_a_refunded_field_is_no_longer_owned_and_costs_again(
    session: Session, workspace_id: str, contact_id: str
) -> None:
    report(session, workspace_id, contact_id)
    owned = ownership.owned(session, workspace_id, [contact_id])

    is_new = acquisition.acquire_field(
        session,
        Acquisition(
            workspace_id=workspace_id,
            contact_id=contact_id,
            field="email",
            job_id="job_2",
            price=2,
        ),
        now=NOW + A_DAY,
    )

    assert owned == Ownership()
    assert is_new
    assert ownership.owned(session, workspace_id, [contact_id]).fields == {(contact_id, "email")}


def test_the_same_bounce_twice_changes_nothing(session: Session, workspace_id: str, contact_id: str) -> None:
    first = report(session, workspace_id, contact_id)

    again = report(session, workspace_id, contact_id, now=NOW + A_DAY)

    assert (again.refunded, again.refund) == (0, RefundDecision.GIVEN_BEFORE)
    assert (again.feedback.id, again.feedback.created_at) == (first.feedback.id, NOW)
    assert figures(session, workspace_id) == (10, 0, 0)


def test_a_reveal_is_refunded_when_all_its_addresses_bounced(
    session: Session, workspace_id: str, contact_id: str
) -> None:
    an_email(session, a_contact(session), "else@acme.com").contact_id = contact_id
    first = report(session, workspace_id, contact_id)

    other = report(session, workspace_id, contact_id, email="else@acme.com")

    assert (first.refunded, first.refund) == (0, RefundDecision.NOT_DUE)
    assert (other.refunded, other.refund) == (2, RefundDecision.GIVEN)
    assert figures(session, workspace_id) == (10, 0, 0)


@pytest.mark.parametrize(
    ("is_hidden", "refund"), [(True, RefundDecision.GIVEN), (False, RefundDecision.NOT_DUE)]
)
def test_an_address_that_a_rule_hides_withholds_no_refund_and_cannot_be_reported(
    session: Session, workspace_id: str, contact_id: str, *, is_hidden: bool, refund: RefundDecision
) -> None:
    an_email(session, a_contact(session), "ada@gmail.com", type="personal").contact_id = contact_id
    if is_hidden:
        rules = RegionalRules(personal_emails=frozenset({"*"}))
        session.settings = DataSettings(regional_rules=rules)

    assert report(session, workspace_id, contact_id).refund == refund
    with pytest.raises(ContactNotFound) if is_hidden else nullcontext():
        report(session, workspace_id, contact_id, email="ada@gmail.com")


def test_a_refunded_contacts_other_addresses_cannot_be_guessed(
    session: Session, workspace_id: str, contact_id: str
) -> None:
    report(session, workspace_id, contact_id)
    an_email(session, a_contact(session), "else@acme.com").contact_id = contact_id

    with pytest.raises(ContactNotFound):
        report(session, workspace_id, contact_id, email="else@acme.com")


def test_a_bounce_refunds_the_email_and_not_an_owned_phone(
    session: Session, workspace_id: str, contact_id: str
) -> None:
    reveal(session, workspace_id, contact_id, field="phone", price=5)

    recorded = report(session, workspace_id, contact_id)

    assert (recorded.refunded, recorded.refund) == (2, RefundDecision.GIVEN)
    assert ownership.owned(session, workspace_id, [contact_id]).fields == {(contact_id, "phone")}
    assert figures(session, workspace_id) == (5, 0, 5)


@pytest.mark.parametrize(
    ("now", "result"), [(IN_TIME, (2, RefundDecision.GIVEN)), (LATE, (0, RefundDecision.TOO_LATE))]
)
def test_a_refund_is_due_for_thirty_days(
    session: Session, workspace_id: str, contact_id: str, now: datetime, result: tuple[int, RefundDecision]
) -> None:
    recorded = feedback.record(session, a_report(workspace_id, contact_id), allowance=ALLOWANCE, now=now)

    assert (recorded.refunded, recorded.refund) == result


def test_a_free_reveal_is_not_refunded(session: Session, contact_id: str) -> None:
    workspace_id = a_workspace(session)
    reveal(session, workspace_id, contact_id, price=0)

    recorded = feedback.record(session, a_report(workspace_id, contact_id), allowance=ALLOWANCE, now=NOW)

    assert (recorded.refunded, recorded.refund) == (0, RefundDecision.NOTHING_PAID)
    assert session.scalars(select(LedgerEntry.kind)).all() == ["grant"]


@pytest.mark.parametrize("kind", [FeedbackKind.WRONG_PERSON, FeedbackKind.VALID])
def test_other_feedback_is_only_recorded(
    session: Session, workspace_id: str, contact_id: str, kind: FeedbackKind
) -> None:
    recorded = feedback.record(
        session, a_report(workspace_id, contact_id, kind=kind), allowance=ALLOWANCE, now=NOW
    )

    assert (recorded.refunded, recorded.refund) == (0, RefundDecision.NOT_DUE)
    assert (address(session).status, address(session).reported_at) == ("valid", None)
    assert figures(session, workspace_id) == (8, 0, 2)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("valid", "risky"),
        ("accept_all", "risky"),
        ("risky", "risky"),
        ("unknown", "unknown"),
    ],
)
def test_a_bounced_address_is_risky_for_its_reporter_and_unchanged_for_others(
    session: Session, workspace_id: str, contact_id: str, before: str, after: str
) -> None:
    address(session).status = before

    report(session, workspace_id, contact_id)

    row = address(session)
    assert seen(session, workspace_id, contact_id) == (after, ["bounced"])
    assert seen(session, a_workspace(session), contact_id) == (before, [])
    assert (row.status, row.status_reasons, row.reported_at) == (before, [], None)


@pytest.mark.parametrize(("verified_at", "status"), [(None, "risky"), (NOW, "risky"), (NOW + A_DAY, "valid")])
def test_only_a_later_verdict_clears_an_address_reported_by_two_workspaces(
    session: Session, workspace_id: str, contact_id: str, verified_at: datetime | None, status: str
) -> None:
    address(session).verified_at = None
    report(session, workspace_id, contact_id)
    report(session, another_payer(session, contact_id), contact_id)
    source = Source("hunter", SourceKind.PROVIDER, NOW + A_DAY)
    found = FoundEmail(
        email=ADDRESS, type="work", status=EmailStatus.VALID, source=source, verified_at=verified_at
    )

    emails.upsert(session, contact_id, found, now=NOW + A_DAY)

    assert address(session).status == status


def test_the_providers_of_the_address_are_stored_without_imports(
    session: Session, workspace_id: str, contact_id: str
) -> None:
    sights = [a_sight("old list", "import"), a_sight("pattern", "pattern"), a_sight("hunter"), SOURCE]
    address(session).sources = sights

    recorded = feedback.record(session, a_report(workspace_id, contact_id), allowance=ALLOWANCE, now=NOW)

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

    recorded = feedback.record(session, a_report(workspace_id, contact.id), allowance=ALLOWANCE, now=NOW)

    assert recorded.feedback.country == country


def test_without_a_company_the_country_is_that_of_the_email_domain(session: Session) -> None:
    workspace_id, contact = a_workspace(session), a_contact(session, country=None)
    an_email(session, contact, "ada@acme.de")
    reveal(session, workspace_id, contact.id)

    recorded = feedback.record(
        session, a_report(workspace_id, contact.id, "ada@acme.de"), allowance=ALLOWANCE, now=NOW
    )

    assert recorded.feedback.country == "DE"


def test_a_contact_revealed_by_another_workspace_is_not_found(
    session: Session, workspace_id: str, contact_id: str
) -> None:
    stranger = a_workspace(session)
    reveal(session, stranger, contact_id, field="phone")

    with pytest.raises(ContactNotFound):
        feedback.record(session, a_report(stranger, contact_id), allowance=ALLOWANCE, now=NOW)

    assert address(session).status == "valid"
    assert session.scalar(select(func.count()).select_from(Feedback)) == 0


def test_an_address_of_another_contact_is_not_found(
    session: Session, workspace_id: str, contact_id: str
) -> None:
    an_email(session, a_contact(session), "bob@acme.com")

    with pytest.raises(ContactNotFound):
        feedback.record(
            session, a_report(workspace_id, contact_id, "bob@acme.com"), allowance=ALLOWANCE, now=NOW
        )


def test_an_owned_address_under_another_id_is_not_found(
    session: Session, workspace_id: str, contact_id: str
) -> None:
    other = a_contact(session)
    an_email(session, other, ADDRESS)

    with pytest.raises(ContactNotFound):
        feedback.record(session, a_report(workspace_id, other.id), allowance=ALLOWANCE, now=NOW)


@pytest.mark.parametrize("contact_id", [EXAMPLES["con"], "con_", "\0", EXAMPLES["job"]])
def test_an_unknown_contact_is_not_found(session: Session, contact_id: str) -> None:
    with pytest.raises(ContactNotFound):
        feedback.record(session, a_report(a_workspace(session), contact_id), allowance=ALLOWANCE, now=NOW)


def test_each_workspace_is_refunded_separately(session: Session, workspace_id: str, contact_id: str) -> None:
    other = a_workspace(session)
    reveal(session, other, contact_id, price=3)
    feedback.record(session, a_report(workspace_id, contact_id), allowance=ALLOWANCE, now=NOW)

    recorded = feedback.record(session, a_report(other, contact_id), allowance=ALLOWANCE, now=NOW)

    assert recorded.refunded == 3
    assert figures(session, other) == figures(session, workspace_id) == (10, 0, 0)


def test_feedback_is_read_back_as_it_was_recorded_and_only_by_its_workspace(
    session: Session, workspace_id: str, contact_id: str
) -> None:
    recorded = feedback.record(session, a_report(workspace_id, contact_id), allowance=ALLOWANCE, now=NOW)

    assert feedback.get(session, workspace_id, recorded.feedback.id) == recorded
    assert feedback.get(session, a_workspace(session), recorded.feedback.id) is None


def test_the_database_rejects_the_same_feedback_twice(
    session: Session, workspace_id: str, contact_id: str
) -> None:
    first = feedback.record(
        session, a_report(workspace_id, contact_id), allowance=ALLOWANCE, now=NOW
    ).feedback
    values = {column.name: getattr(first, column.name) for column in Feedback.__table__.columns}

    session.add(Feedback(**values | {"id": new_id("fdb")}))

    with pytest.raises(IntegrityError):
        session.flush()


@pytest.mark.parametrize("index", [index_all, lambda _session: 0])
def test_a_result_with_a_bounced_address_is_not_reused(
    session: Session, index: Callable[[Session], int]
) -> None:
    workspace_id, contact = a_workspace(session), a_contact(session)
    an_email(session, contact, ADDRESS)
    job_id = submit(session, a_question(workspace_id)).job.id
    refunded = JobResult(
        outcome=Outcome.FOUND, result={"contact_id": contact.id, "emails": [{"email": ADDRESS}]}
    )
    leases.settle(session, claim(session, job_id), refunded, now=NOW)
    before = submit(session, a_question(workspace_id)).is_new
    index(session)
    reveal(session, workspace_id, contact.id)

    feedback.record(
        session, a_report(workspace_id, contact.id), allowance=ALLOWANCE, now=NOW + timedelta(minutes=1)
    )

    assert not before
    assert submit(session, a_question(workspace_id), now=NOW + timedelta(minutes=2)).is_new


def test_a_bounce_does_not_change_results_about_other_people(session: Session) -> None:
    workspace_id, contact = a_workspace(session), a_contact(session)
    an_email(session, contact, ADDRESS)
    job_id = submit(session, a_question(workspace_id)).job.id
    refunded = JobResult(outcome=Outcome.FOUND, result={"emails": [{"email": "bob@acme.com"}]})
    leases.settle(session, claim(session, job_id), refunded, now=NOW)
    reveal(session, workspace_id, contact.id)

    feedback.record(
        session, a_report(workspace_id, contact.id), allowance=ALLOWANCE, now=NOW + timedelta(minutes=1)
    )

    assert not submit(session, a_question(workspace_id), now=NOW + timedelta(minutes=2)).is_new


def test_a_refund_reads_only_results_that_mention_the_address(
    session: Session, workspace_id: str, contact_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = [finish(session, workspace_id, ADDRESS), finish_list(session, workspace_id, ADDRESS)]
    for number in range(3):
        finish(session, workspace_id, f"n{number}@acme.com")
        finish_list(session, workspace_id, f"n{number}@acme.com")
    index_all(session)
    session.expunge_all()
    read_rows: set[str] = set()
    decrypt = encrypted_columns.decrypt_text

    def record(ring: KeyRing, context: str, stored: str) -> str:
        column, row = context.split("|")
        read_rows.update([row] if column in {"jobs.result", "job_items.result"} else [])
        return decrypt(ring, context, stored)

    monkeypatch.setattr(encrypted_columns, "decrypt_text", record)
    report(session, workspace_id, contact_id)

    assert read_rows == {own[0], f"{own[1]}/0"}


def finish(session: Session, workspace_id: str, email: str) -> str:
    """Insert a finished reveal that returned the address; return its id."""
    job_id = a_job(session, workspace_id, email)
    result = {"emails": [{"email": email}]}
    leases.settle(session, claim(session, job_id), JobResult(outcome=Outcome.FOUND, result=result), now=NOW)
    return job_id


def finish_list(session: Session, workspace_id: str, email: str) -> str:
    """Insert a finished enrichment of one item that returned the address; return its id."""
    subject = {"subject": {"full_name": email}}
    job_id = a_job(
        session,
        workspace_id,
        f"list {email}",
        kind=Kind.ENRICHMENT_REQUEST,
        request={"entity": "person", "fields": ["email"], "max_credits": None},
        items=(subject,),
    )
    claimed = claim(session, job_id)
    item = JobItem(job_id=job_id, index=0, request=subject, charged=0, outcome=Outcome.FOUND.value)
    item.result = {"emails": [{"email": email}]}
    leases.complete_item(session, claimed, item, charge=0, lease_until=NOW + A_DAY)
    leases.settle(session, claimed, JobResult(outcome=Outcome.FOUND), now=NOW)
    return job_id


def test_forty_concurrent_bounces_are_refunded_once(database: Database) -> None:
    with database.transaction() as session:
        workspace_id, contact = a_workspace(session), a_contact(session)
        places = [f"ada{number}@acme.com" for number in range(4)]
        for place in places:
            an_email(session, contact, place)
        reveal(session, workspace_id, contact.id)

    def bounce(number: int) -> FeedbackResult:
        with database.transaction() as session:
            return feedback.record(
                session, a_report(workspace_id, contact.id, places[number % 4]), allowance=ALLOWANCE, now=NOW
            )

    recorded = at_once(40, bounce)

    assert [item.refunded for item in recorded if item.refunded] == [2]
    assert len({item.feedback.id for item in recorded}) == 4
    with database.reading() as session:
        assert figures(session, workspace_id) == (10, 0, 0)
        refunds = select(func.count()).select_from(LedgerEntry).where(LedgerEntry.kind == "refund")
        assert session.scalar(refunds) == 1


def paid_for(session: Session, workspace_id: str, count: int) -> list[str]:
    """Reveal the e-mails of `count` new contacts with one address each for one credit; return their ids."""
    contacts = [a_contact(session, full_name=None) for _ in range(count)]
    for contact in contacts:
        an_email(session, contact, ADDRESS)
        reveal(session, workspace_id, contact.id, price=1)
    return [contact.id for contact in contacts]


@pytest.mark.parametrize(
    ("share", "reveals_paid", "refunded"),
    [(0, 30, 0), (0.05, 4, 3), (0.05, 60, 3), (0.05, 80, 4), (0.5, 20, 10)],
)
def test_unconfirmed_bounces_are_refunded_up_to_a_share_of_the_paid_reveals(
    session: Session, share: float, reveals_paid: int, refunded: int
) -> None:
    workspace_id = a_workspace(session, grant=reveals_paid)
    contact_ids = paid_for(session, workspace_id, reveals_paid)

    recorded = [report(session, workspace_id, item, allowance=Allowance(share)) for item in contact_ids]

    refunds = [item.refund for item in recorded]
    assert refunds == [RefundDecision.GIVEN] * refunded + [RefundDecision.PENDING] * (reveals_paid - refunded)
    assert figures(session, workspace_id) == (refunded, 0, reveals_paid - refunded)


@pytest.mark.parametrize(("days", "refund"), [(29, RefundDecision.PENDING), (31, RefundDecision.GIVEN)])
def test_the_allowance_counts_thirty_days(session: Session, days: int, refund: RefundDecision) -> None:
    workspace_id = a_workspace(session)
    contact_ids = paid_for(session, workspace_id, 4)
    for contact_id in contact_ids[:3]:
        report(session, workspace_id, contact_id)
    then = NOW + days * A_DAY
    session.get_one(Reveal, (workspace_id, contact_ids[3], "email")).created_at = then

    recorded = report(session, workspace_id, contact_ids[3], now=then)

    assert recorded.refund is refund


def address_of(session: Session, contact_id: str) -> Email:
    return session.scalars(select(Email).where(Email.contact_id == contact_id)).one()


def test_a_second_workspace_confirms_the_first_ones_bounce_for_everybody(
    session: Session, workspace_id: str, contact_id: str
) -> None:
    first = report(session, workspace_id, contact_id, allowance=NOTHING)
    second = another_payer(session, contact_id)

    recorded = report(session, second, contact_id, allowance=NOTHING, now=NOW + A_DAY)

    row = address(session)
    assert (row.status, row.status_reasons, row.reported_at) == ("risky", ["bounced"], NOW + A_DAY)
    assert first.refund is RefundDecision.PENDING
    assert feedback.get(session, workspace_id, first.feedback.id) == FeedbackResult(
        first.feedback, 2, RefundDecision.GIVEN
    )
    assert figures(session, workspace_id) == (10, 0, 0)
    assert (recorded.refund, recorded.feedback.confirmed_at) == (RefundDecision.PENDING, None)


def test_a_bounce_of_an_invalid_address_is_confirmed_at_once(
    session: Session, workspace_id: str, contact_id: str
) -> None:
    address(session).status = EmailStatus.INVALID.value

    recorded = report(session, workspace_id, contact_id, allowance=NOTHING)

    assert (recorded.feedback.confirmed_at, recorded.refund) == (NOW, RefundDecision.GIVEN)
    assert figures(session, workspace_id) == (10, 0, 0)


def test_a_refund_does_not_change_results_without_addresses(
    session: Session, workspace_id: str, contact_id: str
) -> None:
    job_id = submit(session, a_question(workspace_id)).job.id
    result = {"leads": [{"masked": "a•••••@acme.com"}]}
    leases.settle(session, claim(session, job_id), JobResult(outcome=Outcome.FOUND, result=result), now=NOW)

    report(session, workspace_id, contact_id)

    assert read(session, job_id).result == result


def test_of_two_workspaces_that_report_every_address_one_stays_charged(session: Session) -> None:
    item, two = a_workspace(session, grant=30), a_workspace(session, grant=30)
    contact_ids = paid_for(session, item, 30)
    for contact_id in contact_ids:
        reveal(session, two, contact_id, price=1)

    for number, contact_id in enumerate(contact_ids):
        for workspace_id in (item, two) if number % 2 else (two, item):
            report(session, workspace_id, contact_id, allowance=NOTHING)

    assert (figures(session, item)[2], figures(session, two)[2]) == (15, 15)


@pytest.mark.parametrize("price", [0, 2])
def test_only_a_workspace_that_paid_for_the_address_confirms_a_bounce(
    session: Session, workspace_id: str, contact_id: str, price: int
) -> None:
    report(session, workspace_id, contact_id, allowance=NOTHING)
    second = a_workspace(session)
    reveal(session, second, contact_id, price=price)

    report(session, second, contact_id)

    assert (address(session).status == "risky") == bool(price)
    assert figures(session, workspace_id) == ((10, 0, 0) if price else (8, 0, 2))


@pytest.mark.parametrize("kind", [FeedbackKind.WRONG_PERSON, FeedbackKind.VALID])
def test_other_feedback_of_two_workspaces_does_not_change_the_address(
    session: Session, workspace_id: str, contact_id: str, kind: FeedbackKind
) -> None:
    for item in (workspace_id, another_payer(session, contact_id)):
        feedback.record(session, a_report(item, contact_id, kind=kind), allowance=ALLOWANCE, now=NOW)

    assert seen(session, workspace_id, contact_id) == seen(session, a_workspace(session), contact_id)
    assert (address(session).status, address(session).status_reasons) == ("valid", [])


def verify(session: Session, contact_id: str, status: str, verified_at: datetime) -> int:
    row = address_of(session, contact_id)
    row.status, row.verified_at = status, verified_at
    session.flush()
    return sum(
        feedback.decide(session, item, now=verified_at) for item in feedback.verified_since(session, limit=9)
    )


def test_an_invalid_verdict_confirms_a_bounce_and_refunds_it(
    session: Session, workspace_id: str, contact_id: str
) -> None:
    pending = report(session, workspace_id, contact_id, allowance=NOTHING)

    decided = verify(session, contact_id, "invalid", NOW + A_DAY)

    assert decided == 1
    assert (pending.feedback.confirmed_at, pending.feedback.refunded) == (NOW + A_DAY, 2)
    assert figures(session, workspace_id) == (10, 0, 0)
    assert feedback.verified_since(session, limit=9) == []


def test_a_valid_verdict_refutes_a_bounce_and_restores_the_status_for_its_reporter(
    session: Session, workspace_id: str, contact_id: str
) -> None:
    pending = report(session, workspace_id, contact_id, allowance=NOTHING)

    verify(session, contact_id, "valid", NOW + A_DAY)

    assert seen(session, workspace_id, contact_id) == ("valid", [])
    assert feedback.get(session, workspace_id, pending.feedback.id) == FeedbackResult(
        pending.feedback, 0, RefundDecision.NOT_DUE
    )
    assert figures(session, workspace_id) == (8, 0, 2)


@pytest.mark.parametrize(
    ("status", "verified_at"),
    [("accept_all", NOW + A_DAY), ("unknown", NOW + A_DAY), ("invalid", NOW - A_DAY)],
)
def test_other_verdicts_leave_a_bounce_open(
    session: Session, workspace_id: str, contact_id: str, status: str, verified_at: datetime
) -> None:
    pending = report(session, workspace_id, contact_id, allowance=NOTHING)

    assert verify(session, contact_id, status, verified_at) == 0
    assert (pending.feedback.confirmed_at, pending.feedback.refuted_at) == (None, None)


@pytest.mark.parametrize(
    ("verdict", "next_refund", "credits"),
    [("valid", RefundDecision.PENDING, (9, 0, 1)), ("invalid", RefundDecision.GIVEN, (10, 0, 0))],
)
def test_a_refunded_bounce_counts_for_the_allowance_unless_a_verdict_confirms_it(
    session: Session, verdict: str, next_refund: RefundDecision, credits: tuple[int, int, int]
) -> None:
    workspace_id = a_workspace(session)
    contact_ids = paid_for(session, workspace_id, 4)
    for contact_id in contact_ids[:3]:
        report(session, workspace_id, contact_id)
        verify(session, contact_id, verdict, NOW + A_DAY)

    last = report(session, workspace_id, contact_ids[3], now=NOW + A_DAY)

    assert last.refund is next_refund
    assert figures(session, workspace_id) == credits


def test_a_confirmed_bounce_is_not_refunded_if_another_address_may_work(
    session: Session, workspace_id: str, contact_id: str
) -> None:
    an_email(session, session.get_one(Contact, contact_id), "else@acme.com")
    report(session, workspace_id, contact_id, email="else@acme.com", allowance=NOTHING)
    bounced = report(session, workspace_id, contact_id, allowance=NOTHING)
    address(session).status, address(session).verified_at = "invalid", NOW + A_DAY
    session.flush()

    feedback.decide(session, contact_id, now=NOW + A_DAY)

    assert bounced.feedback.confirmed_at == NOW + A_DAY
    assert figures(session, workspace_id) == (8, 0, 2)


def test_a_bounce_of_an_earlier_reveal_does_not_refund_a_later_one(
    session: Session, workspace_id: str, contact_id: str
) -> None:
    bounced = report(session, workspace_id, contact_id)
    acquisition.acquire_field(
        session,
        Acquisition(
            workspace_id=workspace_id,
            contact_id=contact_id,
            field="email",
            job_id="job_2",
            price=2,
        ),
        now=NOW + A_DAY,
    )

    verify(session, contact_id, "invalid", NOW + 2 * A_DAY)

    assert bounced.feedback.confirmed_at is not None
    assert figures(session, workspace_id) == (10, 0, 0)
    assert ownership.owned(session, workspace_id, [contact_id]).fields == {(contact_id, "email")}


def test_concurrent_bounces_are_refunded_up_to_the_allowance_only(database: Database) -> None:
    with database.transaction() as session:
        workspace_id = a_workspace(session, grant=12)
        contact_ids = paid_for(session, workspace_id, 12)

    def bounce(number: int) -> RefundDecision:
        with database.transaction() as session:
            return report(session, workspace_id, contact_ids[number]).refund

    refunds = at_once(12, bounce)

    assert sorted(refunds) == [RefundDecision.GIVEN] * 3 + [RefundDecision.PENDING] * 9
    with database.reading() as session:
        assert figures(session, workspace_id) == (3, 0, 9)


def test_workspaces_that_confirm_each_others_bounces_do_not_deadlock(
    database: Database,
) -> None:
    with database.transaction() as session:
        payers = [a_workspace(session, grant=8) for _ in range(2)]
        contact_ids = paid_for(session, payers[0], 8)
        for contact_id in contact_ids:
            reveal(session, payers[1], contact_id, price=1)
        for number, contact_id in enumerate(contact_ids):
            report(session, payers[number % 2], contact_id, allowance=NOTHING)

    def bounce(number: int) -> RefundDecision:
        with database.transaction() as session:
            return report(session, payers[1 - number % 2], contact_ids[number], allowance=NOTHING).refund

    refunds = at_once(8, bounce)

    assert set(refunds) == {RefundDecision.PENDING}
    with database.reading() as session:
        assert [figures(session, item) for item in payers] == [(4, 0, 4), (4, 0, 4)]
