from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from jobs_support import DIGEST_KEYS, a_job, a_workspace, claim, set_clock
from mentions_support import index_all
from sqlalchemy import event, func, select, true, update
from stored_support import ADA_URL, NOW

from app.domain.kinds import Outcome
from app.domain.records.person_matcher import PersonMatcher
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.jobs import leases
from app.engine.jobs.jobs import Job
from app.engine.jobs.leases import JobResult
from app.engine.lookups import profile_snapshots
from app.engine.lookups.profile_snapshots import ProfileSnapshot
from app.engine.mentions import mentions
from app.engine.mentions.mention_sources import JOBS, PROFILES, SETTLING
from app.engine.mentions.mention_tables import JobMention, MentionPosition
from app.engine.privacy import redaction
from app.infra.database.session import Session

ADA = redaction.person_matcher([Identifier("email", "ada@acme.com"), Identifier("linkedin_url", ADA_URL)])
BOB = redaction.person_matcher([Identifier("email", "bob@acme.com")])
LATER = NOW + SETTLING


def a_finished_job(session: Session, email: str = "ada@acme.com", *, now: datetime = NOW) -> str:
    job_id = a_job(session, a_workspace(session), email, request={"subject": {"email": email}})
    leases.settle(session, claim(session, job_id), JobResult(outcome=Outcome.NOT_FOUND), now=now)
    return job_id


def save(session: Session, workspace_id: str, note: str, now: Any = NOW) -> str:
    snapshot = ProfileSnapshot(
        linkedin_url="https://www.linkedin.com/in/eve", captured_at=now, annotations={"note": note}
    )
    saved = profile_snapshots.save(
        session, workspace_id=workspace_id, account_id="acc_1", snapshot=snapshot, now=now
    )
    return saved.profile.id


def found(session: Session, source: Any = JOBS, matcher: PersonMatcher = ADA) -> list[Any]:
    return [source.key_of(row) for row, _content in mentions.find(session, source, matcher)]


def test_a_job_is_indexed_once_and_only_when_it_has_been_finished_for_a_while(session: Session) -> None:
    job_id = a_finished_job(session)
    a_job(session, a_workspace(session), "bob")

    too_early = mentions.index_next(session, JOBS, now=LATER - timedelta(seconds=1))
    counts = [mentions.index_next(session, JOBS, now=LATER) for _ in range(2)]

    assert (too_early, counts) == (0, [1, 0])
    assert session.scalars(select(JobMention.job_id)).all() == [job_id]


def test_an_indexed_job_is_found_by_its_digests_only(session: Session) -> None:
    a_finished_job(session)
    mentions.index_next(session, JOBS, now=LATER)

    assert len(found(session)) == 1
    session.query(JobMention).delete()
    assert found(session) == []


@pytest.mark.parametrize("pause", [0, 1, 2])
@pytest.mark.parametrize("before", [1, 2, 3, 4])
def test_a_job_that_is_finished_and_indexed_meanwhile_is_found(
    session: Session, before: int, pause: int
) -> None:
    """It is finished before this statement of the search, and indexed so many statements later."""
    job_id = a_job(session, a_workspace(session), request={"subject": {"email": "ada@acme.com"}})
    current = claim(session, job_id)
    steps = {
        before: lambda: leases.settle(session, current, JobResult(outcome=Outcome.NOT_FOUND), now=NOW),
        before + pause + 0.5: lambda: mentions.index_next(session, JOBS, now=LATER),
    }
    statements, is_own = 0, True

    def interfere(_execution: object) -> None:
        nonlocal statements, is_own
        statements += is_own
        while is_own and (due := [at for at in steps if at <= statements + 0.5]):
            is_own = False
            steps.pop(min(due))()
            is_own = True

    event.listen(session, "do_orm_execute", interfere)
    keys = found(session)

    assert set(keys) == {(job_id,)}


def test_jobs_that_are_open_or_finished_behind_the_position_are_read(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mentions, "BATCH", 1)
    indexed = a_finished_job(session)
    mentions.index_next(session, JOBS, now=LATER)
    behind = [a_finished_job(session) for _ in range(3)]
    still_open = [
        a_job(session, a_workspace(session), number, request={"to": "ada@acme.com"}) for number in range(2)
    ]

    assert found(session) == [(job_id,) for job_id in (*still_open, *behind, indexed)]


def test_batches_index_jobs_that_finished_at_the_same_time(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mentions, "BATCH", 2)
    jobs = [a_finished_job(session) for _ in range(5)]

    assert index_all(session) == 5
    assert session.scalars(select(JobMention.job_id).order_by(JobMention.job_id)).all() == jobs


def test_what_the_index_names_is_checked(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    a_finished_job(session, "ada@acme.com.au")
    monkeypatch.setattr(mentions, "tokens_in", lambda _value: {"ada@acme.com"})
    index_all(session)

    assert found(session) == []


def test_a_profile_is_indexed_again_after_each_change(session: Session) -> None:
    workspace_id = a_workspace(session)
    save(session, workspace_id, "ask ada@acme.com")
    index_all(session)
    before = found(session, PROFILES), found(session, PROFILES, BOB)

    profile_id = save(session, workspace_id, "ask bob@acme.com", NOW + timedelta(days=1))

    for _ in range(2):  # before and after it is indexed
        assert (found(session, PROFILES), found(session, PROFILES, BOB)) == ([], [(profile_id,)])
        assert index_all(session) in {0, 1}
    assert before == ([(profile_id,)], [])


def test_with_another_key_everything_is_read_and_indexed_again(session: Session) -> None:
    job_id = a_finished_job(session)
    index_all(session)
    session.query(MentionPosition).update({"key_check": b"other"})
    session.query(JobMention).update({"digest": b"other"})
    session.expire_all()

    assert found(session) == [(job_id,)]
    assert index_all(session) == 1
    assert found(session) == [(job_id,)]


def test_redaction_deletes_the_digests(session: Session) -> None:
    a_finished_job(session)
    index_all(session)

    redaction.redact_expired(session, before=NOW + timedelta(seconds=1))

    assert session.scalar(select(func.count()).select_from(JobMention)) == 0
    assert session.scalars(select(Job.request)).all() == [{}]


def test_what_changes_after_a_clock_that_was_ahead_is_corrected_is_read_and_indexed(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead = a_finished_job(session, now=NOW + timedelta(hours=1))
    mentions.index_next(session, JOBS, now=LATER + timedelta(hours=1))
    job_id = a_finished_job(session)
    set_clock(monkeypatch, lambda: LATER)

    before = found(session), mentions.keys_of(session, JOBS, ADA, true())
    counts = [mentions.index_next(session, JOBS, now=LATER) for _ in range(2)]
    after = set(found(session))

    assert set(before[0]) == set(before[1]) == after == {(ahead,), (job_id,)}
    assert counts == [1, 0]


def test_what_an_erasure_removed_since_it_was_prepared_is_not_indexed(session: Session) -> None:
    job_id = a_finished_job(session)
    prepared = mentions.prepare(DIGEST_KEYS, mentions.read_next(session, JOBS, now=LATER))
    session.execute(update(Job).where(Job.id == job_id).values(request={}))
    session.expire_all()

    mentions.index_next(session, JOBS, now=LATER, prepared=prepared)

    assert [digests != [] for _content, digests in prepared.values()] == [True]
    assert session.scalars(select(JobMention.job_id)).all() == []


def test_prepared_digests_are_those_that_are_stored(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_finished_job(session)
    prepared = mentions.prepare(DIGEST_KEYS, mentions.read_next(session, JOBS, now=LATER))
    monkeypatch.setattr(mentions, "tokens_in", lambda _content: pytest.fail("computed in the transaction"))

    mentions.index_next(session, JOBS, now=LATER, prepared=prepared)

    [(_content, digests)] = prepared.values()
    assert set(session.scalars(select(JobMention.digest))) == set(digests) != set()
