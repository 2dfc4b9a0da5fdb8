"""Reads the report on usage that a caller may see."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta

from sqlalchemy import select

from app.domain.callers import Caller
from app.domain.errors import FieldError, ValidationFailed
from app.domain.messages import Message
from app.engine.accounts.accounts import Account
from app.engine.accounts.api_keys import ApiKey
from app.features.usage import usage
from app.features.usage.usage import Grouping, Usage, UsageScope
from app.infra import clock
from app.infra.database.session import Session
from app.web.services import services
from app.web.sign_in.admins import acts_as_admin

MAX_DAYS = 366


@dataclass(frozen=True, slots=True)
class UsageReport:
    """The usage by id, name or date, its total, and the names of accounts and keys by their id."""

    rows: Mapping[str | None, Usage]
    totals: Usage
    names: Mapping[str | None, str] = field(default_factory=dict)


def parse_period(start: date | None, end: date | None) -> tuple[date, date]:
    """Return the first and the last day, by default this month until today.

    Raises:
        ValidationFailed: the last day is before the first or the last of all, or the period is too long.

    """
    end = end or clock.now().date()
    start = start or end.replace(day=1)
    if end < start:
        raise ValidationFailed(errors=(FieldError("/to", "This must not be before 'from'."),))
    if end == date.max:  # it has no end that is a time
        raise ValidationFailed(
            errors=(FieldError("/to", Message("This must be before {max}.", max=date.max)),)
        )
    if end - start >= timedelta(days=MAX_DAYS):
        raise ValidationFailed(
            errors=(FieldError("/from", Message("Ask for at most {max} days.", max=MAX_DAYS)),)
        )
    return start, end


def read_report(current: Caller, start: date, end: date, by: Grouping) -> UsageReport:
    """Return the report on these days: the workspace's for the session of an admin, else the account's."""
    with services().database.reading() as session:
        sees_all = acts_as_admin(session, current)
        scope = UsageScope(
            workspace_id=current.workspace_id,
            starts_at=_midnight(start),
            ends_at=_midnight(end + timedelta(days=1)),
            account_id=None if sees_all else current.account_id,
        )
        rows, totals = usage.report(session, scope, by)
        if by is Grouping.ACCOUNT:
            return UsageReport(rows, totals, _account_names(session, current.workspace_id, rows.keys()))
        if by is Grouping.KEY:
            return UsageReport(rows, totals, _key_names(session, current.workspace_id, rows.keys()))
    return UsageReport(rows, totals)


def _account_names(session: Session, workspace_id: str, ids: Collection[str | None]) -> dict[str | None, str]:
    """Return the names of the workspace's accounts with these ids, by id."""
    query = select(Account.id, Account.name).where(Account.workspace_id == workspace_id, Account.id.in_(ids))
    return {row.id: row.name for row in session.execute(query)}


def _key_names(session: Session, workspace_id: str, ids: Collection[str | None]) -> dict[str | None, str]:
    """Return the names of the workspace's API keys with these ids, by id."""
    query = select(ApiKey.id, ApiKey.name).join(Account, Account.id == ApiKey.account_id)
    query = query.where(Account.workspace_id == workspace_id, ApiKey.id.in_(ids))
    return {row.id: row.name for row in session.execute(query)}


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
