"""Usage: what a workspace's jobs cost and found in a period, by account, key, kind, provider or day.

Credits belong to the time at which they were spent or refunded, so their total equals the ledger's. Jobs,
their outcomes and their provider calls belong to the time at which the job was submitted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, func, literal, literal_column, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from app.domain.kinds import Outcome, TraceOutcome
from app.engine.jobs.jobs import Job
from app.engine.jobs.provider_calls import PENDING, STARTED, ProviderCall
from app.engine.ledger.credits import LedgerEntry
from app.infra.database.session import Session


class Grouping(StrEnum):
    """What the rows of a report stand for."""

    ACCOUNT = "account"
    KEY = "key"
    KIND = "kind"
    PROVIDER = "provider"
    DAY = "day"


_COLUMNS: dict[Grouping, InstrumentedAttribute[Any]] = {
    Grouping.ACCOUNT: Job.account_id,
    Grouping.KEY: Job.key_id,
    Grouping.KIND: Job.kind,
}
# Literals: PostgreSQL must recognise the expression of the SELECT in the GROUP BY.
_UTC: ColumnElement[str] = literal_column("'UTC'")
_ISO_DATE: ColumnElement[str] = literal_column("'YYYY-MM-DD'")


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageScope:
    """Whose usage, from when (inclusive) until when (exclusive): a workspace's, or one account's."""

    workspace_id: str
    starts_at: datetime
    ends_at: datetime
    account_id: str | None = None


@dataclass(slots=True, kw_only=True)
class Usage:
    """The figures of one row. `credits` is None for a provider: a job may have asked several.

    For a provider `jobs` are those that called it, `found` and `not_found` its calls with these outcomes.
    `provider_cost` is in the providers' own credits.
    """

    credits: int | None = 0
    jobs: int = 0
    found: int = 0
    not_found: int = 0
    provider_calls: int = 0
    provider_cost: float = 0.0


FIGURES = tuple(figure.name for figure in fields(Usage))


def report(session: Session, scope: UsageScope, by: Grouping) -> tuple[Mapping[str | None, Usage], Usage]:
    """Return the usage of each account, key, kind, provider or day by its id, name or date, and the total.

    The id None stands for jobs without an account or key.
    """
    if by is Grouping.PROVIDER:
        return _by_provider(session, scope), _total(_by_job(session, scope, Grouping.KIND))
    rows = _by_job(session, scope, by)
    return rows, _total(rows)


def _by_job(session: Session, scope: UsageScope, by: Grouping) -> Mapping[str | None, Usage]:
    rows: defaultdict[str | None, Usage] = defaultdict(Usage)
    dialect = session.get_bind().dialect.name
    for group, spent in session.execute(_credits(scope, by, dialect)):
        rows[group].credits = int(spent)
    for group, count, found, not_found in session.execute(_jobs(scope, by, dialect)):
        row = rows[group]
        row.jobs, row.found, row.not_found = count, int(found), int(not_found)
    for group, calls, cost in session.execute(_calls(scope, by, dialect)):
        row = rows[group]
        row.provider_calls, row.provider_cost = calls, float(cost)
    return dict(sorted(rows.items(), key=lambda item: item[0] or ""))


def _credits(scope: UsageScope, by: Grouping, dialect: str) -> Select[*tuple[Any, ...]]:
    """Return the query for the credits that were spent, less those refunded."""
    group = _group(by, LedgerEntry.created_at, dialect)
    query = select(group, func.sum(LedgerEntry.spent)).where(
        LedgerEntry.workspace_id == scope.workspace_id,
        LedgerEntry.created_at >= scope.starts_at,
        LedgerEntry.created_at < scope.ends_at,
        or_(LedgerEntry.kind == "settle", LedgerEntry.kind == "refund"),
    )
    if by is not Grouping.DAY or scope.account_id is not None:
        query = query.join(Job, Job.id == LedgerEntry.job_id)
    return _of_account(query, scope).group_by(group)


def _jobs(scope: UsageScope, by: Grouping, dialect: str) -> Select[*tuple[Any, ...]]:
    """Return the query for the number of jobs, and of those that found something or nothing."""
    group = _group(by, Job.created_at, dialect)
    found = Job.outcome.in_([Outcome.FOUND.value, Outcome.PARTIAL.value])
    not_found = Job.outcome == Outcome.NOT_FOUND.value
    query = select(group, func.count(), _count_if(found), _count_if(not_found)).where(_submitted(scope))
    return _of_account(query, scope).group_by(group)


def _calls(scope: UsageScope, by: Grouping, dialect: str) -> Select[*tuple[Any, ...]]:
    """Return the query for the ended provider calls of these jobs, and their cost."""
    group = _group(by, Job.created_at, dialect)
    query = select(group, func.count(), func.sum(ProviderCall.cost)).where(_submitted(scope), _ended())
    return _of_account(query.join(ProviderCall, ProviderCall.job_id == Job.id), scope).group_by(group)


def _by_provider(session: Session, scope: UsageScope) -> Mapping[str | None, Usage]:
    hits = _count_if(ProviderCall.outcome == TraceOutcome.HIT.value)
    misses = _count_if(ProviderCall.outcome == TraceOutcome.MISS.value)
    query = select(
        ProviderCall.provider,
        func.count(func.distinct(ProviderCall.job_id)),
        hits,
        misses,
        func.count(),
        func.sum(ProviderCall.cost),
    ).where(_submitted(scope), _ended())
    query = _of_account(query.join(Job, Job.id == ProviderCall.job_id), scope)
    rows = session.execute(query.group_by(ProviderCall.provider).order_by(ProviderCall.provider))
    return {
        provider: Usage(
            credits=None,
            jobs=count,
            found=int(found),
            not_found=int(not_found),
            provider_calls=calls,
            provider_cost=float(cost),
        )
        for provider, count, found, not_found, calls, cost in rows
    }


def _group(by: Grouping, time: InstrumentedAttribute[datetime], dialect: str) -> ColumnElement[Any]:
    """Return the expression to group by; a day is text such as 2026-11-23, in UTC."""
    if by is not Grouping.DAY:
        return _COLUMNS[by].expression
    if dialect == "sqlite":
        return func.date(time)
    return func.to_char(func.timezone(_UTC, time), _ISO_DATE)  # only on PostgreSQL


def _submitted(scope: UsageScope) -> ColumnElement[bool]:
    return and_(
        Job.workspace_id == scope.workspace_id,
        Job.created_at >= scope.starts_at,
        Job.created_at < scope.ends_at,
    )


def _ended() -> ColumnElement[bool]:
    return ProviderCall.outcome.not_in([STARTED, PENDING])


def _of_account(query: Select[*tuple[Any, ...]], scope: UsageScope) -> Select[*tuple[Any, ...]]:
    return query if scope.account_id is None else query.where(Job.account_id == scope.account_id)


def _count_if(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.coalesce(func.sum(case((condition, literal(1)), else_=literal(0))), 0)


def _total(rows: Mapping[str | None, Usage]) -> Usage:
    total = Usage()
    for row in rows.values():
        total.credits = (total.credits or 0) + (row.credits or 0)
        total.jobs += row.jobs
        total.found += row.found
        total.not_found += row.not_found
        total.provider_calls += row.provider_calls
        total.provider_cost += row.provider_cost
    return total
