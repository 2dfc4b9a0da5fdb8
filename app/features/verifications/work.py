"""Verifies the values of a job, several addresses at a time; each is charged when its verdict is stored."""

from __future__ import annotations

import contextvars
import math
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from app.domain.errors import InsufficientCredits, Problem
from app.domain.findings import EmailStatus, FoundEmail, Source, SourceKind
from app.domain.kinds import PROVIDER_FAILURES, Kind, Outcome
from app.domain.messages import Message
from app.domain.normal.emails import email_domain, email_kind
from app.domain.records.subjects import Subject
from app.engine.jobs import jobs, leases, scheduling
from app.engine.jobs.claims import Claim
from app.engine.jobs.jobs import JobItem
from app.engine.jobs.leases import JobResult
from app.engine.own_records import known_verdicts
from app.engine.own_records.own_verifications import Verdict
from app.features.verifications import list_values, lists, verdicts
from app.infra import clock
from app.infra.database import database_clock
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session
from app.settings import Settings
from workers.execution import shutdown_flag
from workers.execution.feature import BatchPurge, WorkPart
from workers.execution.job_runner import job, persist
from workers.execution.retries import MoveToQueue, RetryLater
from workers.execution.worker_services import WorkerServices
from workers.providers.base import ProviderField, ProviderRequest
from workers.resolve import configured_waterfall, provider_order
from workers.resolve.waterfall import WaterfallResult

AT_A_TIME = 8
"""The addresses of a job that are verified at the same time; a mail host limits its own connections."""
SLICE_SECONDS = 1.0
"""Time after which a job yields its thread to the waiting jobs of other workspaces."""
FRESH = "fresh"
"""Set in the request of a job that does not repeat known verdicts."""
OUT_OF_CREDITS = Message("max_credits was used up before this address.")


@job(Kind.VERIFICATION)
def verification(claim: Claim, services: WorkerServices) -> Verified:
    """Resolve `verification`: every item that an earlier attempt has not completed.

    Raises:
        RetryLater: items wait for a verdict, verifiers failed, or the process is shutting down.
        MoveToQueue: another workspace's job is waiting for the thread.

    """
    with services.database.reading() as session:
        items = [item for item in jobs.items(session, claim.job_id) if not _is_done(item)]
    run = _Run(claim, services, items)
    with ThreadPoolExecutor(AT_A_TIME) as threads:
        run.verify(threads)
    if run.waiting:
        raise _combine(run.waiting)
    return Verified(claim.job_id, claim.workspace_id)


def _known(claim: Claim, services: WorkerServices, items: Sequence[JobItem]) -> dict[str, Verdict]:
    """Return the verdicts on the items that the workspace has, unless the caller asks for new ones."""
    addresses = [item.request["email"] for item in items if "email" in item.request]
    if claim.request.get(FRESH) or not addresses:
        return {}
    max_age = services.settings.default_max_age
    with services.database.reading() as session:
        now = database_clock.value(session)
        return known_verdicts.reusable(session, claim.workspace_id, addresses, max_age=max_age, now=now)


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What came of an item: its result or error, the new verdict if it is charged, and the trace."""

    outcome: Outcome | None
    result: dict[str, Any] | None = None
    error: Problem | None = None
    found: FoundEmail | None = None
    trace: tuple[dict[str, Any], ...] = ()

    @property
    def status(self) -> str:
        """Return the status of the value in its list."""
        is_suppressed = self.outcome is Outcome.SUPPRESSED
        return Outcome.SUPPRESSED.value if is_suppressed else verdicts.status_of(self.result)


class _Run:
    """One run of a job: the items that are left, the verdicts that are known, and the items that wait."""

    def __init__(self, claim: Claim, services: WorkerServices, items: Sequence[JobItem]) -> None:
        self.claim, self.services, self.items = claim, services, list(items)
        self.known: Mapping[str, Verdict] = {}
        self.price = services.settings.prices[Kind.VERIFICATION]
        self.waiting: list[RetryLater] = []

    def verify(self, threads: ThreadPoolExecutor) -> None:
        """Verify and complete the items, a few at a time.

        In each slice, the verdicts that other jobs have found since are known, too.
        """
        slice_ends = -math.inf
        for start in range(0, len(self.items), AT_A_TIME):
            if shutdown_flag.has_begun():  # completed items are stored; another worker continues
                raise RetryLater(after=0, snooze=True)
            if time.monotonic() > slice_ends:
                if start and not self.waiting:
                    self._yield_if_awaited()
                self.known = _known(self.claim, self.services, self.items[start:])
                slice_ends = time.monotonic() + SLICE_SECONDS
            self._verify_batch(threads, self.items[start : start + AT_A_TIME])

    def _yield_if_awaited(self) -> None:
        with self.services.database.reading() as session:
            if scheduling.must_yield(session, self.claim, now=database_clock.now()):
                raise MoveToQueue(self.claim.queue)

    def _verify_batch(self, threads: ThreadPoolExecutor, batch: Sequence[JobItem]) -> None:
        """Verify addresses that the rest of the hold pays for, and complete what is not awaited."""
        affordable = self.claim.budget // self.price if self.price else len(batch)
        emails = [
            item for item in batch if "email" in item.request and item.request["email"] not in self.known
        ]
        paid = {item.index for item in emails[:affordable]}
        started = {
            item.index: threads.submit(contextvars.copy_context().run, self._verify, item)
            for item in emails
            if item.index in paid
        }
        for item in batch:
            try:
                verdict = started[item.index].result() if item.index in started else self._at_once(item)
            except RetryLater as retry:
                self.waiting.append(retry)
                continue
            self.claim = persist(partial(_complete, self.claim, self.services, item, verdict, self.price))

    def _at_once(self, item: JobItem) -> _Verdict:
        """Return what needs no verifier: a number, a known verdict, or that credits ran out."""
        if "phone" in item.request:
            return _Verdict(Outcome.FOUND, verdicts.of_phone(item.request["phone"]))
        email = item.request["email"]
        if known := self.known.get(email):
            status = EmailStatus(known.status)
            address = replace(_unverified(email), status=status, verified_at=known.verified_at)
            return _Verdict(Outcome.FOUND, verdicts.of_email(address))
        problem = InsufficientCredits(required=self.price, balance=self.claim.budget)
        problem.hide_costs()
        problem.detail = OUT_OF_CREDITS
        return _Verdict(None, error=problem)

    def _verify(self, item: JobItem) -> _Verdict:
        """Return the verdict on an address; `unknown` is not charged.

        Raises:
            RetryLater: the verdict is awaited, or the verifiers failed and attempts remain.

        """
        claim, services = self.claim, self.services
        request = ProviderRequest(field=ProviderField.VERIFICATION, subject=Subject(), attempt=claim.attempts)
        verifiers = provider_order.configured_order(services.settings, ProviderField.VERIFICATION)
        address = _unverified(item.request["email"])
        result = configured_waterfall.verify_privately(
            claim, services, request, [address], verifiers, item=item.index
        )
        if result.suppressed:
            return _Verdict(Outcome.SUPPRESSED, trace=result.trace)
        if result.waiting is not None and not result.emails:
            raise RetryLater(after=result.waiting, snooze=True)
        if not result.emails and _has_failed(result) and claim.attempts < services.settings.max_attempts:
            raise RetryLater
        verdict = result.emails[0] if result.emails else address
        if verdict.status is EmailStatus.UNKNOWN:
            return _Verdict(Outcome.NOT_FOUND, verdicts.of_email(verdict), trace=result.trace)
        return _Verdict(Outcome.FOUND, verdicts.of_email(verdict), found=verdict, trace=result.trace)


@dataclass(frozen=True, slots=True)
class Verified:
    """A job whose items are all completed."""

    job_id: str
    workspace_id: str

    def settle(self, session: Session, _now: datetime) -> JobResult:
        """Summarize the outcomes; an address at a domain that turned out to accept all mail is not valid."""
        items = jobs.items(session, self.job_id)
        accept_all = {domain for item in items if (domain := verdicts.accept_all_domain(item.result))}
        accept_all |= self._known_accept_all(session, items)
        elsewhere = list_values.not_valid(session, self.job_id)  # by what other jobs of the list found
        accept_all |= {
            email_domain(item.request["email"])
            for item in items
            if item.index in elsewhere and "email" in item.request
        }
        for item in items:
            item.result = verdicts.at_most_accept_all(item.result, accept_all)
        session.flush()
        outcomes = {item.outcome for item in items}
        if outcomes == {Outcome.FOUND.value}:
            return JobResult(outcome=Outcome.FOUND)
        if Outcome.FOUND.value in outcomes:
            return JobResult(outcome=Outcome.PARTIAL)
        is_suppressed = outcomes == {Outcome.SUPPRESSED.value}
        return JobResult(outcome=Outcome.SUPPRESSED if is_suppressed else Outcome.NOT_FOUND)

    def _known_accept_all(self, session: Session, items: Sequence[JobItem]) -> set[str]:
        """Return the domains of valid addresses that the workspace knows to accept all mail."""
        found = dict(filter(None, (verdicts.valid_email(item.result) for item in items)))
        domains = known_verdicts.accept_all(session, self.workspace_id, found)
        return {
            email_domain(email)
            for email, verdict in found.items()
            if known_verdicts.status_at(domains, email, verdict) != verdict.status
        }


def _complete(claim: Claim, services: WorkerServices, item: JobItem, verdict: _Verdict, price: int) -> Claim:
    """Store and charge an item; return the claim with the total charged so far.

    It may be called again if the reply to the commit was lost: a completed item stays as it is.
    """
    trace = [{"item": item.index, **line} for line in verdict.trace]
    with services.database.transaction() as session:
        stored = session.get_one(JobItem, (item.job_id, item.index))
        if _is_done(stored):
            return replace(claim, charged=claim.charged + stored.charged)
        charge = price if verdict.found and _is_new(session, claim, services, verdict.found) else 0
        done = JobItem(
            job_id=item.job_id,
            index=item.index,
            request={} if verdict.outcome is Outcome.SUPPRESSED else item.request,
            outcome=verdict.outcome and verdict.outcome.value,
            result=verdict.result,
            error=verdict.error and verdict.error.as_dict(),
            charged=charge,
        )
        lease_until = database_clock.now() + timedelta(seconds=services.settings.lease_seconds)
        leases.complete_item(session, claim, done, charge=charge, trace=trace, lease_until=lease_until)
        list_values.record(session, item.job_id, item.index, verdict.status)
    return replace(claim, charged=claim.charged + charge)


def _is_new(session: Session, claim: Claim, services: WorkerServices, found: FoundEmail) -> bool:
    """Store the verdict; return False if another job of the workspace has found and charged it meanwhile."""
    if found.verified_at is None:
        return True
    known = Verdict(found.status.value, found.verified_at)
    leases.lock(session, claim)
    max_age = services.settings.default_max_age
    is_new = known_verdicts.store_new(session, claim.workspace_id, found.email, known, max_age=max_age)
    return is_new or bool(claim.request.get(FRESH))


def _is_done(item: JobItem) -> bool:
    return item.outcome is not None or item.error is not None


def _unverified(email: str) -> FoundEmail:
    source = Source("caller", SourceKind.PROVIDER, clock.now())
    return FoundEmail(email=email, type=email_kind(email), status=EmailStatus.UNKNOWN, source=source)


def _has_failed(result: WaterfallResult) -> bool:
    failures = {outcome.value for outcome in PROVIDER_FAILURES}
    return any(line["outcome"] in failures for line in result.trace)


def _combine(waiting: Sequence[RetryLater]) -> RetryLater:
    """Combine the retries of the items into one, due when the first verdict may be ready."""
    awaited = [retry.after for retry in waiting if retry.snooze and retry.after is not None]
    if awaited:
        return RetryLater(after=min(awaited), snooze=len(awaited) == len(waiting))
    return RetryLater()


def _purges(settings: Settings, now: Moment) -> tuple[BatchPurge, ...]:
    return (partial(lists.purge_expired, before=now - timedelta(days=settings.job_retention_days)),)


WORK = WorkPart(purges_in_batches=_purges)
