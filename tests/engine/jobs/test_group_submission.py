"""Requests that are submitted together; what each of them does alone is tested in test_submission.py."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from jobs_support import DEADLINE, FRESH, NOW, a_question, a_workspace, claim, figures, read, submit
from sqlalchemy import func, select, update
from stored_support import a_company, a_contact, exclude, own, statements

from app.domain.errors import PurposeRequired
from app.domain.event_types import JOB_FINISHED
from app.domain.ids import new_id
from app.domain.kinds import Kind, Outcome, Status
from app.domain.records.subjects import Subject
from app.engine.accounts.workspaces import Workspace
from app.engine.contacts.suppressions import suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.events import deliveries, endpoints
from app.engine.jobs import group_submission, idempotency, leases
from app.engine.jobs.idempotency import Claim, IdempotencyKey
from app.engine.jobs.jobs import Job
from app.engine.jobs.leases import JobResult
from app.engine.jobs.quotes import RevealPrice
from app.engine.jobs.submission import JobRequest, Submission, SubmitResult
from app.engine.jobs.submitter import LOCK_SECONDS
from app.engine.ledger.credits import LedgerEntry
from app.engine.lookups.field_requests import ContactField, FieldRequest, MinStatus
from app.infra.database.db import Database
from app.infra.database.lock_limits import Locked, limited_locks
from app.infra.database.session import Session

ADA = "https://www.linkedin.com/in/ada-lovelace"


def submit_all(session: Session, *requests: JobRequest | Submission) -> list[SubmitResult | None]:
    items = [item if isinstance(item, Submission) else Submission(item) for item in requests]
    return group_submission.submit_all(session, items, freshness=FRESH, deadline=DEADLINE, now=NOW)


def a_reveal(workspace_id: str, **subject: Any) -> JobRequest:
    """Return a request whose price depends on what is stored about the subject."""
    price = RevealPrice(
        subject=Subject(**subject),
        field_request=FieldRequest(field=ContactField.EMAIL, types=("work",), min_status=MinStatus.ANY),
        credits=1,
    )
    return a_question(workspace_id, str(subject), price=price)


def keyed(request: JobRequest, key: str = "click", digest: bytes = b"body") -> Submission:
    return Submission(request, Claim(request.workspace_id, key, digest, request.job_id))


def entries(session: Session) -> set[tuple[str | None, int, int]]:
    holds = select(LedgerEntry).where(LedgerEntry.kind == "hold")
    return {(entry.job_id, entry.available, entry.held) for entry in session.scalars(holds)}


def test_each_request_is_a_queued_job_of_its_own_workspace_that_holds_its_price(session: Session) -> None:
    mine, theirs = a_workspace(session), a_workspace(session, grant=3)
    requests = [
        a_question(mine, "ada", price=2),
        a_question(theirs, "bob", price=3, key_id="key_theirs"),
        a_question(mine, "eve", price=1, account_id=None),
    ]

    results = submit_all(session, *requests)

    for request, result in zip(requests, results, strict=True):
        assert result is not None
        assert (result.is_new, result.is_held, result.has_endpoints) == (True, True, False)
        alone = submit(
            session,
            replace(request, job_id=new_id("job"), dedup_key={"once": request.job_id}, price=0),
        )
        stored, single = read(session, request.job_id), read(session, alone.job.id)
        assert result.job.id == stored.id == request.job_id
        assert (stored.held, stored.request) == (request.price, request.request)
        for name in (column.key for column in Job.__table__.c):
            if name not in {"id", "request_digest", "held"}:
                assert getattr(stored, name) == getattr(single, name), name
        assert result.job.request == request.request
    assert figures(session, mine) == (7, 3, 0)
    assert figures(session, theirs) == (0, 3, 0)
    assert entries(session) == {(request.job_id, -request.price, request.price) for request in requests}


def test_a_workspace_that_cannot_pay_for_all_of_its_requests_leaves_the_others_alone(
    session: Session,
) -> None:
    poor, rich = a_workspace(session, grant=1), a_workspace(session)

    results = submit_all(session, a_question(poor, "ada"), a_question(rich, "ada"), a_question(poor, "bob"))

    assert [result is not None for result in results] == [False, True, False]
    assert (figures(session, poor), figures(session, rich)) == ((1, 0, 0), (9, 1, 0))
    assert session.scalar(select(func.count()).select_from(Job)) == 1


def test_a_workspace_with_spending_limits_is_left_out(session: Session) -> None:
    limited, other = a_workspace(session), a_workspace(session)
    session.execute(update(Workspace).where(Workspace.id == limited).values(is_limited=True))

    results = submit_all(session, a_question(limited, price=0), a_question(other))

    assert [result is not None for result in results] == [False, True]
    assert figures(session, limited) == (10, 0, 0)


def test_a_limit_that_is_set_after_the_insertion_leaves_nothing_behind(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace_id = a_workspace(session)
    check = group_submission._checked  # noqa: SLF001 -- what runs between the insertion and the hold

    def set_limit(*arguments: Any) -> dict[str, SubmitResult]:
        session.execute(update(Workspace).values(is_limited=True))
        return check(*arguments)

    monkeypatch.setattr(group_submission, "_checked", set_limit)

    assert submit_all(session, keyed(a_question(workspace_id))) == [None]
    assert session.scalars(select(Job.id)).all() == []
    assert session.scalars(select(IdempotencyKey.key)).all() == []
    assert (figures(session, workspace_id), entries(session)) == ((10, 0, 0), set())


def test_equal_requests_of_a_group_are_one_job(session: Session) -> None:
    workspace_id = a_workspace(session)

    results = submit_all(session, a_question(workspace_id), a_question(workspace_id))

    assert len([result for result in results if result is not None]) == 1
    assert figures(session, workspace_id) == (9, 1, 0)


def test_a_request_equal_to_an_open_job_is_left_out(session: Session) -> None:
    workspace_id = a_workspace(session)
    submit(session, a_question(workspace_id))

    assert submit_all(session, keyed(a_question(workspace_id))) == [None]
    assert session.scalars(select(IdempotencyKey.key)).all() == []


@pytest.mark.parametrize("kind", [Kind.REVEAL_EMAIL, Kind.COMPANY_BY_HASH])
def test_a_request_whose_answer_may_be_reused_is_left_out_unless_it_is_free(
    session: Session, kind: Kind
) -> None:
    workspace_id = a_workspace(session)
    earlier = submit(session, a_question(workspace_id, kind=kind, price=0)).job.id
    leases.settle(session, claim(session, earlier), JobResult(outcome=Outcome.FOUND), now=NOW)

    (result,) = submit_all(session, a_question(workspace_id, kind=kind, price=0))

    assert (result is None) == (kind == Kind.REVEAL_EMAIL)
    assert len(session.scalars(select(Job.id)).all()) == (1 if result is None else 2)


def test_a_job_that_was_finished_during_the_insertion_is_found(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace_id = a_workspace(session)
    earlier = submit(session, a_question(workspace_id, price=0)).job.id
    insert = group_submission._insert  # noqa: SLF001 -- during it, another transaction can finish a job

    def finish(*arguments: Any, **options: Any) -> Any:
        finished = {"status": Status.SUCCEEDED, "request_digest": b"0"}
        digest = read(session, earlier).request_digest
        session.execute(update(Job).where(Job.id == earlier).values(finished))
        inserted = insert(*arguments, **options)
        session.execute(update(Job).where(Job.id == earlier).values(request_digest=digest))
        return inserted

    monkeypatch.setattr(group_submission, "_insert", finish)

    assert submit_all(session, a_question(workspace_id)) == [None]
    assert session.scalars(select(Job.id)).all() == [earlier]
    assert figures(session, workspace_id) == (10, 0, 0)


def test_a_suppressed_person_costs_nothing_and_others_their_price(session: Session) -> None:
    workspace_id = a_workspace(session)
    suppressions.suppress(session, [Identifier("linkedin_url", ADA)], reason="asked", now=NOW)
    requests = [
        a_reveal(workspace_id, linkedin_url=ADA),
        a_reveal(workspace_id, linkedin_url=f"{ADA}-2"),
        a_reveal(workspace_id, full_name="Ada Lovelace", company_domain="acme.com"),
    ]

    results = submit_all(session, *requests)

    assert [result and result.job.held for result in results] == [0, 1, 1]
    assert figures(session, workspace_id) == (8, 2, 0)


def test_an_excluded_person_costs_their_workspace_nothing_and_others_the_price(session: Session) -> None:
    mine, theirs = a_workspace(session), a_workspace(session)
    exclude(session, mine, "linkedin_url", ADA)

    results = submit_all(session, a_reveal(mine, linkedin_url=ADA), a_reveal(theirs, linkedin_url=ADA))

    assert [result and result.job.held for result in results] == [0, 1]


def test_what_a_workspace_owns_costs_that_workspace_nothing(session: Session) -> None:
    mine, theirs = a_workspace(session), a_workspace(session)
    contact = a_contact(session, a_company(session), linkedin_url=ADA)
    own(session, mine, contact, "email")

    results = submit_all(
        session,
        a_reveal(mine, linkedin_url=ADA),
        a_reveal(theirs, linkedin_url=ADA),
        a_reveal(mine, contact_id=contact.id),
        a_reveal(theirs, contact_id=contact.id),
    )

    assert [result and result.job.held for result in results] == [0, 1, 0, 1]


def test_a_request_for_a_contact_that_does_not_exist_is_left_out(session: Session) -> None:
    workspace_id = a_workspace(session)

    assert submit_all(session, a_reveal(workspace_id, contact_id="con_unknown")) == [None]
    assert session.scalars(select(Job.id)).all() == []


def test_an_idempotency_key_leads_to_the_job_of_its_workspace(session: Session) -> None:
    mine, theirs = a_workspace(session), a_workspace(session)
    requests = [a_question(mine), a_question(theirs)]

    submit_all(session, *map(keyed, requests))

    for request in requests:
        replayed = idempotency.begin(session, request.workspace_id, "click", b"body", now=NOW)
        assert replayed == request.job_id


def test_a_key_that_was_used_before_or_in_the_group_is_left_out(session: Session) -> None:
    workspace_id = a_workspace(session)
    used = submit(session, a_question(workspace_id, "ada")).job.id
    idempotency.begin(session, workspace_id, "old", b"body", now=NOW)
    idempotency.finish(session, workspace_id, "old", used)

    results = submit_all(
        session,
        keyed(a_question(workspace_id, "bob"), "old"),
        keyed(a_question(workspace_id, "cid"), "new"),
        keyed(a_question(workspace_id, "dan"), "new"),
    )

    assert results[0] is None
    assert len([result for result in results if result is not None]) == 1
    assert idempotency.begin(session, workspace_id, "old", b"body", now=NOW) == used
    assert submit_all(session, keyed(a_question(workspace_id, "eve"), "old")) == [None]


def test_the_endpoints_of_a_workspace_are_told_of_its_jobs_only(session: Session) -> None:
    mine, theirs = a_workspace(session), a_workspace(session)
    endpoints.create(session, mine, url="https://example.com/hook", types=[JOB_FINISHED], now=NOW)

    results = submit_all(session, a_question(mine), a_question(theirs))

    assert [result and result.has_endpoints for result in results] == [True, False]
    assert session.scalars(select(deliveries.Webhook.job_id)).all() == [results[0] and results[0].job.id]


def test_the_number_of_statements_does_not_depend_on_the_number_of_requests(session: Session) -> None:
    workspaces = [a_workspace(session) for _ in range(3)]

    counts = []
    for names in (["ada"], ["bob", "cid", "dan", "eve"]):
        requests = [keyed(a_question(id_, name), name) for id_ in workspaces for name in names]
        with statements(session.get_bind()) as executed:  # type: ignore[arg-type]
            assert None not in submit_all(session, *requests)
        counts.append(len(executed))

    assert counts[0] == counts[1] <= 6


@pytest.mark.parametrize(
    ("changes", "is_plain"),
    [
        ({}, True),
        ({"items": ({"subject": {}},)}, False),
        ({"webhook_url": "https://example.com"}, False),
        ({"refusal": PurposeRequired(())}, False),
    ],
)
def test_only_a_request_for_one_person_that_stores_nothing_more_is_plain(
    changes: dict[str, Any], *, is_plain: bool
) -> None:
    assert group_submission.is_plain(a_question("wks_1", **changes)) is is_plain


@pytest.mark.parametrize(
    ("subject", "is_plain"),
    [({"linkedin_url": ADA}, True), ({"email": "ada@acme.com"}, False), ({"phone": "+4930901820"}, False)],
)
def test_a_person_named_by_an_address_or_a_number_is_not_plain(
    subject: dict[str, str], *, is_plain: bool
) -> None:
    assert group_submission.is_plain(a_reveal("wks_1", **subject)) is is_plain


def test_a_group_does_not_wait_long_for_a_locked_workspace(database: Database) -> None:
    if database.is_sqlite:
        pytest.skip("SQLite has one writer")
    with database.transaction() as session:
        workspace_id = a_workspace(session)
    with database.transaction() as holder:
        holder.execute(select(Workspace).where(Workspace.id == workspace_id).with_for_update())
        with (
            pytest.raises(Locked),
            database.transaction() as session,
            limited_locks(session, LOCK_SECONDS),
        ):
            submit_all(session, a_question(workspace_id))

    with database.transaction() as session:
        assert session.scalars(select(Job.id)).all() == []
