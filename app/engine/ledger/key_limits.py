"""API keys with their spending limits, read in one query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Select, select

from app.domain.spending import LimitUsage, Period
from app.engine.accounts import api_keys
from app.engine.accounts.api_keys import ApiKey
from app.engine.ledger import limit_settings
from app.engine.ledger.limit_settings import LimitSubject
from app.engine.ledger.spending_limits import SpendingCounter, SpendingLimit, is_counter_at, usage_of
from app.infra.database import database_clock
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session


@dataclass(frozen=True, slots=True)
class LimitedKey:
    """An API key, and the use of its limits by their period."""

    key: ApiKey
    usage: Mapping[Period, LimitUsage] = field(default_factory=dict)


def create(
    session: Session,
    workspace_id: str,
    account_id: str,
    *,
    spending_cap: int | None = None,
    monthly_limit: int | None = None,
    now: datetime,
    **values: Any,
) -> tuple[LimitedKey, str]:
    """Insert a key with its limits, as `api_keys.create` does with these values; return it with its token.

    Raises:
        ValidationFailed: the account has too many keys.

    """
    key, token = api_keys.create(session, account_id, **values, now=now)
    subject = LimitSubject("key", key.id, account_id, key.name)
    for period, credits_ in ((Period.TOTAL, spending_cap), (Period.MONTH, monthly_limit)):
        if credits_ is not None:
            limit_settings.put(session, workspace_id, subject, period, credits_, now=now)
    if spending_cap is None and monthly_limit is None:
        return LimitedKey(key), token
    return get(session, account_id, key.id, now=now), token


def get(session: Session, account_id: str, key_id: str, *, now: Moment) -> LimitedKey:
    """Return a key of the account, revoked or not, with its limits."""
    key = api_keys.get(session, account_id, key_id)
    return _read(session, _keys(now).where(ApiKey.id == key.id))[0]


def of_account(session: Session, account_id: str, *, now: Moment) -> Sequence[LimitedKey]:
    """Return the account's keys that are not revoked, newest first, with their limits."""
    query = _keys(now).where(ApiKey.account_id == account_id, ApiKey.revoked_at.is_(None))
    return _read(session, query.order_by(ApiKey.created_at.desc(), ApiKey.id.desc()))


def _keys(now: Moment) -> Select[*tuple[Any, ...]]:
    """Return the query for keys, with a row for each limit of a key."""
    at = database_clock.column(now)
    return (
        select(ApiKey, SpendingLimit, SpendingCounter, at)
        .outerjoin(SpendingLimit, SpendingLimit.key_id == ApiKey.id)
        .outerjoin(SpendingCounter, is_counter_at(at))
    )


def _read(session: Session, query: Select[*tuple[Any, ...]]) -> list[LimitedKey]:
    keys: dict[str, LimitedKey] = {}
    for key, limit, counter, current in session.execute(query):
        usage = {} if limit is None else {Period(limit.period): usage_of(limit, counter, at=current)}
        before = keys.get(key.id, LimitedKey(key))
        keys[key.id] = LimitedKey(key, {**before.usage, **usage})
    return list(keys.values())
