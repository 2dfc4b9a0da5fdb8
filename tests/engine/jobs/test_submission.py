from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from jobs_support import (
    DEADLINE,
    FRESH,
    NOW,
    a_job,
    a_question,
    a_workspace,
    at_once,
    claim,
    figures,
    read,
    submit,
)
from sqlalchemy import func, select
from sqlalchemy.dialects import postgresql
from stored_support import a_company, a_contact, an_email, exclude

from app.domain.errors import (
    ContactNotFound,
    InsufficientCredits,
    InsufficientIdentifiers,
    Problem,
    ProviderFailed,
)
from app.domain.ids import new_id
from app.domain.kinds import Kind, Outcome, Status
from app.domain.records.subjects import Subject
from app.engine.contacts.contacts import Contact
from app.engine.contacts.suppressions import suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.jobs import jobs, leases, result_reuse, submission, sweeper
from app.engine.jobs.jobs import Job
from app.engine.jobs.leases import JobResult
from app.engine.jobs.quotes import RevealPrice
from app.engine.jobs.submission import JobRequest
from app.engine.ledger import acquisition, reveals
from app.engine.ledger.acquisition import Acquisition
from app.engine.ledger.credits import LedgerEntry
from app.engine.lists import import_runs
from app.engine.lookups.field_requests import ContactField, FieldRequest, MinStatus
from app.engine.matching import reverse_lookups
from app.infra.database import database_clock
from app.infra.database.db import Database
from app.infra.database.session import Session

SECOND = timedelta(seconds=1)


def an_answered_job(session: Session, workspace_id: str, outcome: Outcome = Outcome.FOUND) -> str:
    job_id = a_job(session, workspace_id)
    leases.settle(session, claim(session, job_id), JobResult(outcome=outcome, charge=1), now=NOW)
    return job_id


def test_a_new_request_is_a_queued_job_that_holds_its_price(session: Session) -> None:
    workspace_id = a_workspace(session, grant=10)

    submission = submit(session, a_question(workspace_id, price=3))

    job = read(session, submission.job.id)
    assert (submission.is_new, submission.is_finished) == (True, False)
    assert (job.status, job.held, job.charged, job.attempts, job.crashes) == (Status.QUEUED, 3, 0, 0, 0)
    assert (job.run_after, job.deadline_at, job.published_at) == (NOW, NOW + DEADLINE, None)
    assert (job.progress_done, job.progress_total) == (0, 1)
    assert figures(session, workspace_id) == (7, 3, 0)


def test_an_enrichment_has_one_item_per_request(session: Session) -> None:
    workspace_id = a_workspace(session)
    question = a_question(workspace_id, kind=Kind.ENRICHMENT_REQUEST, items=({"n": 1}, {"n": 2}))

    job = submit(session, question).job

    assert job.progress_total == 2
    assert [(item.index, item.request, item.charged) for item in jobs.items(session, job.id)] == [
        (0, {"n": 1}, 0),
        (1, {"n": 2}, 0),
    ]


def test_a_partial_hold_takes_the_available_credits(session: Session) -> None:
    workspace_id = a_workspace(session, grant=2)

    job = submit(session, a_question(workspace_id, price=5, allow_partial_hold=True)).job

    assert read(session, job.id).held == 2
    assert figures(session, workspace_id) == (0, 2, 0)


def test_a_request_that_the_workspace_cannot_pay_stores_nothing(database: Database) -> None:
    with database.transaction() as session:
        workspace_id = a_workspace(session, grant=1)

    with pytest.raises(InsufficientCredits), database.transaction() as session:
        submit(session, a_question(workspace_id, price=2))

    with database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Job)) == 0
        assert figures(session, workspace_id) == (1, 0, 0)


@pytest.mark.parametrize("is_claimed", [False, True])
def test_an_equal_request_joins_the_open_job(session: Session, is_claimed: bool) -> None:  # noqa: FBT001 -- a case
    workspace_id = a_workspace(session, grant=10)
    job_id = a_job(session, workspace_id)
    if is_claimed:
        claim(session, job_id)

    again = submit(session, a_question(workspace_id, request={"client_reference": "another"}))

    assert (again.job.id, again.is_new, again.is_finished) == (job_id, False, False)
    assert figures(session, workspace_id) == (9, 1, 0)


def test_a_request_joins_an_equal_job_that_was_finished_during_its_submission(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace_id = a_workspace(session, grant=10)
    finished: list[str] = []
    insert = submission._insert  # noqa: SLF001 -- the last step before the job exists

    def insert_after_another_job(*arguments: Any, **options: Any) -> Any:
        monkeypatch.setattr(submission, "_insert", insert)
        finished.append(an_answered_job(session, workspace_id))
        return insert(*arguments, **options)

    monkeypatch.setattr(submission, "_insert", insert_after_another_job)

    joined = submit(session, a_question(workspace_id))

    assert (joined.job.id, joined.is_new, joined.is_finished) == (finished[0], False, True)
    assert session.scalars(select(Job.id)).all() == finished
    assert figures(session, workspace_id) == (9, 0, 1)


@pytest.mark.parametrize("change", [{"about": "bob"}, {"kind": Kind.REVEAL_PHONE}])
def test_another_request_is_another_job(session: Session, change: dict[str, str]) -> None:
    workspace_id = a_workspace(session)
    job_id = a_job(session, workspace_id)

    other = submit(session, a_question(workspace_id, **change))

    assert other.is_new
    assert other.job.id != job_id


def test_the_same_request_of_another_workspace_is_another_job(session: Session) -> None:
    job_id = a_job(session, a_workspace(session))

    other = submit(session, a_question(a_workspace(session)))

    assert other.is_new
    assert other.job.id != job_id


@pytest.mark.parametrize(
    ("problem", "is_asked_again"),
    [
        (InsufficientCredits(required=1, balance=0), True),
        (ProviderFailed(), True),
        (InsufficientIdentifiers(), False),
    ],
)
def test_an_enrichment_whose_result_is_incomplete_is_not_reused(
    session: Session,
    problem: Problem,
    is_asked_again: bool,  # noqa: FBT001 -- a case
) -> None:
    workspace_id = a_workspace(session)
    enrichment: dict[str, Any] = {"kind": Kind.ENRICHMENT_REQUEST, "items": ({"n": 1}, {"n": 2})}
    job_id = a_job(session, workspace_id, **enrichment)
    jobs.items(session, job_id)[1].error = problem.as_dict()
    leases.settle(session, claim(session, job_id), JobResult(outcome=Outcome.PARTIAL), now=NOW)

    again = submit(session, a_question(workspace_id, **enrichment))

    assert again.is_new is is_asked_again


def test_a_fresh_result_is_reused(session: Session) -> None:
    workspace_id = a_workspace(session, grant=10)
    job_id = an_answered_job(session, workspace_id)

    again = submit(session, a_question(workspace_id), now=NOW + FRESH.found - SECOND)

    assert (again.job.id, again.is_new, again.is_finished) == (job_id, False, True)
    assert figures(session, workspace_id) == (9, 0, 1)


def test_an_old_result_is_not_reused(session: Session) -> None:
    workspace_id = a_workspace(session)
    job_id = an_answered_job(session, workspace_id)

    again = submit(session, a_question(workspace_id), now=NOW + FRESH.found)

    assert again.is_new
    assert again.job.id != job_id


@pytest.mark.parametrize("outcome", [Outcome.NOT_FOUND, Outcome.SUPPRESSED])
def test_a_miss_has_its_own_freshness(session: Session, outcome: Outcome) -> None:
    workspace_id = a_workspace(session)
    job_id = an_answered_job(session, workspace_id, outcome)

    before = submit(session, a_question(workspace_id), now=NOW + FRESH.not_found - SECOND)
    after = submit(session, a_question(workspace_id), now=NOW + FRESH.not_found)

    assert before.job.id == job_id
    assert after.is_new


def test_the_newest_of_several_results_is_reused(session: Session) -> None:
    workspace_id = a_workspace(session)
    an_answered_job(session, workspace_id)
    later = NOW + FRESH.found
    second = submit(session, a_question(workspace_id), now=later).job.id
    leases.settle(session, claim(session, second, now=later), JobResult(outcome=Outcome.FOUND), now=later)

    again = submit(session, a_question(workspace_id), now=later + SECOND)

    assert again.job.id == second


@pytest.mark.parametrize("seconds", [0, 1])
def test_a_result_from_before_an_import_is_not_reused(session: Session, seconds: int) -> None:
    workspace_id = a_workspace(session)
    an_answered_job(session, workspace_id)
    import_runs.start(session, entity="contacts", now=NOW + timedelta(seconds=seconds))

    assert submit(session, a_question(workspace_id), now=NOW + SECOND * 2).is_new


def test_a_result_from_after_an_import_is_reused(session: Session) -> None:
    workspace_id = a_workspace(session)
    import_runs.start(session, entity="contacts", now=NOW - SECOND)
    job_id = an_answered_job(session, workspace_id)

    assert submit(session, a_question(workspace_id), now=NOW + SECOND).job.id == job_id


def test_a_result_from_before_a_suppression_is_not_reused(session: Session) -> None:
    workspace_id = a_workspace(session)
    an_answered_job(session, workspace_id)
    suppressions.suppress(session, [Identifier("email", "ada@acme.com")], reason="asked", now=NOW + SECOND)

    assert submit(session, a_question(workspace_id), now=NOW + SECOND * 2).is_new


def test_a_result_from_after_a_suppression_is_reused(session: Session) -> None:
    workspace_id = a_workspace(session)
    suppressions.suppress(session, [Identifier("email", "ada@acme.com")], reason="asked", now=NOW - SECOND)
    job_id = an_answered_job(session, workspace_id)

    assert submit(session, a_question(workspace_id), now=NOW + SECOND).job.id == job_id


def test_a_result_from_before_an_exclusion_is_not_reused(session: Session) -> None:
    workspace_id, other = a_workspace(session), a_workspace(session)
    an_answered_job(session, workspace_id)
    theirs = an_answered_job(session, other)
    exclude(session, workspace_id, "domain", "acme.com", now=NOW + SECOND)

    mine = submit(session, a_question(workspace_id), now=NOW + SECOND * 2)

    assert mine.is_new
    assert submit(session, a_question(other), now=NOW + SECOND * 2).job.id == theirs


def test_that_a_person_is_excluded_is_never_reused(session: Session) -> None:
    """The exclusion may have been removed since."""
    workspace_id = a_workspace(session)
    job_id = submit(session, a_question(workspace_id)).job.id
    leases.settle(session, claim(session, job_id), JobResult(outcome=Outcome.EXCLUDED), now=NOW)

    assert submit(session, a_question(workspace_id), now=NOW + SECOND).is_new


ADA = "https://www.linkedin.com/in/ada-lovelace"
WORK = FieldRequest(field=ContactField.EMAIL, types=("work",), min_status=MinStatus.ANY)


def submit_reveal(session: Session, workspace_id: str, **subject: str) -> Job:
    price = RevealPrice(subject=Subject(**subject), field_request=WORK, credits=1)
    return submit(session, a_question(workspace_id, price=price)).job


def ada_with_address(session: Session) -> Contact:
    ada = a_contact(session, a_company(session), linkedin_url=ADA)
    an_email(session, ada, "ada@acme.com")
    return ada


def own(session: Session, workspace_id: str, contact: Contact) -> None:
    acquisition.acquire_all(
        session,
        [
            Acquisition(
                workspace_id=workspace_id,
                contact_id=contact.id,
                field="email",
                values=[session.keys.ring.index("email", "ada@acme.com")],
                job_id="job_0",
                price=1,
            )
        ],
        now=NOW,
    )


@pytest.mark.parametrize("key", ["contact_id", "linkedin_url"])
@pytest.mark.parametrize(("is_owned", "held"), [(False, 1), (True, 0)])
def test_a_reveal_of_an_owned_contact_holds_nothing(
    session: Session, key: str, *, is_owned: bool, held: int
) -> None:
    workspace_id, other, ada = a_workspace(session), a_workspace(session), ada_with_address(session)
    own(session, other, ada)
    if is_owned:
        own(session, workspace_id, ada)

    job = submit_reveal(session, workspace_id, **{key: {"contact_id": ada.id, "linkedin_url": ADA}[key]})

    assert (job.held, figures(session, workspace_id)) == (held, (10 - held, held, 0))


def test_a_refunded_field_is_not_owned(session: Session) -> None:
    workspace_id, ada = a_workspace(session), ada_with_address(session)
    own(session, workspace_id, ada)
    reveals.mark_refunded(
        session, workspace_id=workspace_id, contact_id=ada.id, field="email", since=NOW, now=NOW
    )

    assert submit_reveal(session, workspace_id, linkedin_url=ADA).held == 1


def test_a_reveal_of_a_person_whose_profile_is_suppressed_holds_nothing(session: Session) -> None:
    workspace_id = a_workspace(session)
    suppressions.suppress(session, [Identifier("linkedin_url", ADA)], reason="asked", now=NOW)

    assert submit_reveal(session, workspace_id, linkedin_url=ADA).held == 0
    assert figures(session, workspace_id) == (10, 0, 0)


@pytest.mark.parametrize(("kind", "value"), [("linkedin_url", ADA), ("domain", "acme.com")])
def test_a_reveal_of_a_person_whom_the_workspace_excludes_holds_nothing(
    session: Session, kind: str, value: str
) -> None:
    mine, other = a_workspace(session), a_workspace(session)
    exclude(session, mine, kind, value)
    subject = {"linkedin_url": ADA, "company_domain": "acme.com"}

    held = [submit_reveal(session, each, **subject).held for each in (mine, other)]

    assert held == [0, 1]
    assert figures(session, mine) == (10, 0, 0)


@pytest.mark.parametrize("entry", ["acme.com", "c.b.a.acme.com"])
def test_a_suppressed_domain_is_found_above_a_host_with_more_labels_than_a_statement_has_parameters(
    session: Session, entry: str
) -> None:
    suppressions.suppress(session, [Identifier("domain", entry)], reason="asked", now=NOW)
    labels = ".".join("tsrqponmlkjihgfedcba")

    held = []
    for domain in ("acme.com", "other.com"):
        workspace_id, subject = a_workspace(session), Subject(email=f"ada@{labels}.{domain}")
        reverse_lookups.admit(session, workspace_id, [subject], now=database_clock.now())
        held.append(submit_reveal(session, workspace_id, email=f"ada@{labels}.{domain}").held)

    assert held == [0, 1]


@pytest.mark.parametrize("why", ["owned", "suppressed"])
@pytest.mark.parametrize(("credits", "held"), [(1, 1), (0, 0)])
def test_a_reveal_that_turns_out_to_be_free_needs_no_credits(
    session: Session, why: str, credits: int, held: int
) -> None:
    """The contact is found by name only, or the suppressed address is only stored."""
    workspace_id, ada = a_workspace(session, grant=credits), ada_with_address(session)
    if why == "owned":
        own(session, workspace_id, ada)
    else:
        suppressions.suppress(session, [Identifier("email", "ada@acme.com")], reason="asked", now=NOW)

    job = submit_reveal(session, workspace_id, full_name="Ada Lovelace", company_domain="acme.com")

    stored = jobs.get(session, workspace_id, job.id)
    assert (stored.held, figures(session, workspace_id)) == (held, (credits - held, held, 0))


def test_a_reveal_that_is_not_free_needs_credits(session: Session) -> None:
    workspace_id = a_workspace(session, grant=0)
    ada_with_address(session)

    with pytest.raises(InsufficientCredits):
        submit_reveal(session, workspace_id, full_name="Ada Lovelace", company_domain="acme.com")


def test_a_reveal_of_an_unknown_contact_is_refused(session: Session) -> None:
    with pytest.raises(ContactNotFound):
        submit_reveal(session, a_workspace(session), contact_id=new_id("con"))


def test_a_failed_job_is_not_reused(session: Session) -> None:
    workspace_id = a_workspace(session)
    job_id = a_job(session, workspace_id)
    leases.fail(session, claim(session, job_id), {"code": "provider_failed"}, now=NOW)

    again = submit(session, a_question(workspace_id))

    assert again.is_new
    assert again.job.id != job_id


def test_a_canceled_job_is_not_reused(session: Session) -> None:
    workspace_id = a_workspace(session)
    sweeper.cancel(session, a_job(session, workspace_id), now=NOW)

    assert submit(session, a_question(workspace_id)).is_new


@pytest.fixture
def insertion_fails_once(monkeypatch: pytest.MonkeyPatch) -> list[JobRequest]:
    """Make the first insertion fail, as if an equal job were open that is finished immediately afterwards."""
    insert = submission._insert  # noqa: SLF001 -- only a race makes it fail without an open job
    requests: list[JobRequest] = []

    def insert_or_fail(session: Session, job_request: JobRequest, *rest: Any, **options: Any) -> Any:
        requests.append(job_request)
        return insert(session, job_request, *rest, **options) if len(requests) > 1 else (None, False)

    monkeypatch.setattr(submission, "_insert", insert_or_fail)
    return requests


def test_a_request_joins_the_job_that_prevented_its_insertion_and_is_finished_now(
    session: Session, insertion_fails_once: list[JobRequest]
) -> None:
    workspace_id = a_workspace(session, grant=10)
    insertion_fails_once.append(a_question(workspace_id))  # the other job's insertion succeeds
    job_id = an_answered_job(session, workspace_id)
    insertion_fails_once.clear()

    late = submit(session, a_question(workspace_id))

    assert (late.job.id, late.is_new, late.is_finished) == (job_id, False, True)
    assert len(insertion_fails_once) == 1


def test_a_request_is_inserted_once_the_job_that_prevented_it_is_gone(
    session: Session, insertion_fails_once: list[JobRequest]
) -> None:
    workspace_id = a_workspace(session, grant=10)

    late = submit(session, a_question(workspace_id))

    assert (late.is_new, len(insertion_fails_once)) == (True, 2)
    assert figures(session, workspace_id) == (9, 1, 0)


@pytest.mark.parametrize("round_", range(3))
def test_forty_threads_with_the_same_request_are_one_job_and_one_hold(
    database: Database, round_: int
) -> None:
    with database.transaction() as session:
        workspace_id = a_workspace(session, grant=100)

    def ask(_number: int) -> tuple[bool, str]:
        with database.transaction() as session:
            submission = submit(session, a_question(workspace_id, f"round {round_}"))
            return submission.is_new, submission.job.id

    answers = at_once(40, ask)

    assert [is_new for is_new, _job_id in answers].count(True) == 1
    assert len({job_id for _is_new, job_id in answers}) == 1
    with database.reading() as session:
        holds = select(func.count()).select_from(LedgerEntry).where(LedgerEntry.kind == "hold")
        assert session.scalar(holds) == 1
        assert figures(session, workspace_id) == (99, 1, 0)


def test_postgresql_holds_the_credits_in_the_query_for_a_finished_job() -> None:
    statement = result_reuse._last_finished_on("postgresql", now=database_clock.now(), holds=True)  # noqa: SLF001 -- SQLite needs three

    sql = " ".join(str(statement.compile(dialect=postgresql.dialect())).split())

    assert sql.startswith("WITH finished AS (SELECT jobs.id")
    assert "updated AS (UPDATE workspaces SET" in sql
    assert "AND NOT (EXISTS (SELECT finished.id FROM finished)) RETURNING" in sql
    assert "held AS (INSERT INTO ledger" in sql
