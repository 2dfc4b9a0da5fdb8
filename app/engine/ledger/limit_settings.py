"""Sets, removes and lists the spending limits of a workspace's accounts and API keys."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, and_, delete, func, select, update

from app.domain.audit_actions import Action
from app.domain.errors import NotFound
from app.domain.ids import is_id, new_id
from app.domain.messages import Message
from app.domain.spending import LimitUsage, Period
from app.engine.accounts import workspaces
from app.engine.accounts.accounts import Account
from app.engine.accounts.api_keys import ApiKey
from app.engine.accounts.workspaces import Workspace
from app.engine.audit_log import entries as audit_log
from app.engine.ledger import limit_alerts
from app.engine.ledger.credits import LedgerEntry
from app.engine.ledger.spending_limits import JOBS, SpendingCounter, SpendingLimit, is_counter_at, usage_of
from app.infra.database.session import Session

MAX_LIMIT = 1_000_000_000
NO_SUBJECT = Message(
    "The workspace has no account or API key with this id. GET /api/permissions lists the accounts, and "
    "GET /api/keys your keys."
)


@dataclass(frozen=True, slots=True)
class LimitSubject:
    """An account or API key of a workspace; `account_id` is the account itself, or the owner of the key."""

    type: Literal["account", "key"]
    id: str
    account_id: str
    name: str


@dataclass(frozen=True, slots=True)
class SubjectLimit:
    """A limit in force, with its subject and its use in the current period."""

    id: str
    subject: LimitSubject
    usage: LimitUsage


def subject(session: Session, workspace_id: str, subject_id: str) -> LimitSubject:
    """Return the workspace's account or unrevoked API key with this id.

    Raises:
        NotFound: the workspace has none.

    """
    is_key = is_id(subject_id, "key")
    columns = (
        (ApiKey.id, ApiKey.account_id, ApiKey.name) if is_key else (Account.id, Account.id, Account.name)
    )
    query = select(*columns).where(Account.workspace_id == workspace_id)
    if is_key:
        query = query.join(Account, Account.id == ApiKey.account_id).where(ApiKey.revoked_at.is_(None))
        query = query.where(ApiKey.id == subject_id)
    else:
        query = query.where(Account.id == subject_id)
    row = session.execute(query).one_or_none() if is_key or is_id(subject_id, "acc") else None
    if row is None:
        raise NotFound(NO_SUBJECT)
    return LimitSubject("key" if is_key else "account", *row)


def subjects(session: Session, workspace_id: str, *, limit: int) -> list[LimitSubject]:
    """Return accounts of the workspace that are not disabled, by name, and then keys that are not revoked."""
    of_workspace = (Account.workspace_id == workspace_id, Account.disabled_at.is_(None))
    accounts = select(Account.id, Account.id, Account.name).where(*of_workspace).order_by(Account.name)
    keys = (
        select(ApiKey.id, ApiKey.account_id, ApiKey.name)
        .join(Account, Account.id == ApiKey.account_id)
        .where(*of_workspace, ApiKey.revoked_at.is_(None))
        .order_by(ApiKey.name, ApiKey.id)
    )
    return [
        *(LimitSubject("account", *row) for row in session.execute(accounts.limit(limit))),
        *(LimitSubject("key", *row) for row in session.execute(keys.limit(limit))),
    ]


def put(
    session: Session,
    workspace_id: str,
    subject: LimitSubject,
    period: Period,
    credits_: int | None,
    *,
    now: datetime,
) -> None:
    """Set the subject's limit for the period, or remove it if `credits_` is None.

    What its jobs have held and spent in the current period counts from the start. The lock of the workspace's
    row keeps entries of the ledger out until the end of the transaction.
    """
    workspaces.lock(session, [workspace_id])
    column = SpendingLimit.account_id if subject.type == "account" else SpendingLimit.key_id
    is_this: ColumnElement[bool] = and_(column == subject.id, SpendingLimit.period == period.value)
    if credits_ is None:
        session.execute(delete(SpendingLimit).where(is_this))
    elif (limit := session.scalar(select(SpendingLimit).where(is_this))) is not None:
        limit.credits = credits_
        _report_again(session, limit, now)
    else:
        limit = SpendingLimit(
            id=new_id("lim"),
            workspace_id=workspace_id,
            period=period.value,
            credits=credits_,
            created_at=now,
            **{column.key: subject.id},
        )
        session.add(limit)
        session.flush()
        _start_counting(session, limit)
        _report_again(session, limit, now)
    session.flush()
    action = Action.LIMIT_REMOVE if credits_ is None else Action.LIMIT_SET
    audit_log.record(session, action, object_id=subject.id, workspace_id=workspace_id, reason=period.value)
    has_limits = select(SpendingLimit.id).where(SpendingLimit.workspace_id == workspace_id).exists()
    session.execute(
        update(Workspace)
        .where(Workspace.id == workspace_id)
        .values(is_limited=has_limits)
        .execution_options(synchronize_session=False)
    )


def _start_counting(session: Session, limit: SpendingLimit) -> None:
    """Insert the counter of the current period, with the sums of the ledger."""
    starts_at, ends_at = Period(limit.period).bounds(limit.created_at)
    of_subject = JOBS.c.account_id == limit.account_id if limit.account_id else JOBS.c.key_id == limit.key_id
    held, spent = session.execute(
        select(func.coalesce(func.sum(LedgerEntry.held), 0), func.coalesce(func.sum(LedgerEntry.spent), 0))
        .join(JOBS, JOBS.c.id == LedgerEntry.job_id)
        .where(
            LedgerEntry.workspace_id == limit.workspace_id,
            LedgerEntry.created_at >= starts_at,
            of_subject,
            JOBS.c.created_at >= starts_at,
            JOBS.c.created_at < ends_at,
        )
    ).one()
    session.add(
        SpendingCounter(
            limit_id=limit.id, starts_at=starts_at, ends_at=ends_at, held=int(held), spent=int(spent)
        )
    )
    session.flush()


def _report_again(session: Session, limit: SpendingLimit, now: datetime) -> None:
    """Record an event if the changed limit is spent already, and let later charges record others."""
    counter = session.get(
        SpendingCounter, (limit.id, Period(limit.period).bounds(now)[0]), populate_existing=True
    )
    if counter is not None:
        counter.alerted = 0
        limit_alerts.record(session, limit, counter, now=now)


def in_force(
    session: Session,
    workspace_id: str,
    *,
    now: datetime,
    account_id: str | None = None,
    subject_ids: Collection[str] | None = None,
    before: str | None = None,
    limit: int | None = None,
) -> list[SubjectLimit]:
    """Return the limits of the workspace, newest first, except the limits of revoked keys.

    `account_id` restricts them to an account and its keys, `subject_ids` to these accounts and keys.
    They are older than the limit `before`.
    """
    query = (
        select(SpendingLimit, SpendingCounter, Account.id, Account.name, ApiKey.name)
        .outerjoin(ApiKey, ApiKey.id == SpendingLimit.key_id)
        .join(Account, Account.id == func.coalesce(SpendingLimit.account_id, ApiKey.account_id))
        .outerjoin(SpendingCounter, is_counter_at(now))
        .where(SpendingLimit.workspace_id == workspace_id, ApiKey.revoked_at.is_(None))
        .order_by(SpendingLimit.id.desc())
        .limit(limit)
        .execution_options(populate_existing=True)
    )
    if before is not None:
        query = query.where(SpendingLimit.id < before)
    if account_id is not None:
        query = query.where(Account.id == account_id)
    if subject_ids is not None:
        query = query.where(func.coalesce(SpendingLimit.account_id, SpendingLimit.key_id).in_(subject_ids))
    return [_to_limit(*row, now=now) for row in session.execute(query)]


def _to_limit(
    limit: SpendingLimit,
    counter: SpendingCounter | None,
    account_id: str,
    account_name: str,
    key_name: str | None,
    *,
    now: datetime,
) -> SubjectLimit:
    usage = usage_of(limit, counter, at=now)
    subject = LimitSubject(usage.subject, usage.subject_id, account_id, key_name or account_name)
    return SubjectLimit(limit.id, subject, usage)


def to_public(limit: SubjectLimit) -> dict[str, Any]:
    """Return the limit as the API represents it."""
    usage = limit.usage.as_dict()
    owner = {"type": usage.pop("subject"), "id": usage.pop("id"), "name": limit.subject.name}
    return {"subject": owner | {"account_id": limit.subject.account_id}, **usage}
