"""Rate limits and circuit breakers of providers, in the database so that they work without Redis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.kinds import TraceOutcome
from app.domain.providers import throttles
from app.domain.providers.rates import Rate
from app.domain.providers.throttles import BreakerState, Permit, ProviderThrottle
from app.infra.database import database_clock
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base, insert
from app.infra.database.session import Session
from app.infra.database.statements import Statement


class ProviderThrottleRow(Base):
    """The throttle of one provider, with the fields of `ProviderThrottle`; workers lock its row."""

    __tablename__ = "provider_gates"

    provider: Mapped[str] = mapped_column(primary_key=True)
    tokens: Mapped[list[Any]]
    refilled_at: Mapped[datetime]
    window_at: Mapped[datetime]
    state: Mapped[str]
    open_until: Mapped[datetime | None]
    paused_until: Mapped[datetime | None]
    failures: Mapped[int]
    window_calls: Mapped[int]
    window_failures: Mapped[int]
    last_outcome: Mapped[str | None]


class _Row(NamedTuple):
    """The columns of `ProviderThrottleRow`."""

    provider: str
    tokens: list[float]
    refilled_at: datetime
    window_at: datetime
    state: str
    open_until: datetime | None
    paused_until: datetime | None
    failures: int
    window_calls: int
    window_failures: int
    last_outcome: str | None


_ALL = Statement(_Row, lambda _dialect: select(ProviderThrottleRow.__table__))


def admit(session: Session, provider: str, rates: Sequence[Rate], *, breaker: bool, now: Moment) -> Permit:
    """Return whether the provider may be called, and take a token if so; lock the row until the commit."""
    row = _locked(session, provider, rates, now)
    throttle, permit = throttles.admit(
        _throttle(row), rates, database_clock.value(session, now), breaker=breaker
    )
    _write(row, throttle)
    return permit


def lock(session: Session, provider: str, *, now: Moment) -> None:
    """Lock the provider's throttle until the commit, so that no other worker calls the provider."""
    _locked(session, provider, (), now)


def report(
    session: Session, provider: str, outcome: TraceOutcome, *, retry_after: float | None, now: Moment
) -> None:
    """Update the throttle with the outcome of a call."""
    row = _locked(session, provider, (), now)
    _write(
        row,
        throttles.report(
            _throttle(row), outcome, retry_after=retry_after, now=database_clock.value(session, now)
        ),
    )


def health(session: Session) -> dict[str, bool]:
    """Return, for each provider ever called, whether it is healthy."""
    return {row.provider: _throttle(row).is_healthy for row in _ALL.all(session, {})}


def _locked(session: Session, provider: str, rates: Sequence[Rate], now: Moment) -> ProviderThrottleRow:
    query = select(ProviderThrottleRow).where(ProviderThrottleRow.provider == provider).with_for_update()
    query = query.execution_options(populate_existing=True)
    row = session.scalar(query)
    if row is None:
        session.execute(
            insert(session, ProviderThrottleRow)
            .values(provider=provider, **_columns(throttles.new(rates, database_clock.value(session, now))))
            .on_conflict_do_nothing()
        )
        row = session.scalars(query).one()
    return row


def _throttle(row: ProviderThrottleRow | _Row) -> ProviderThrottle:
    values = {field.name: getattr(row, field.name) for field in fields(ProviderThrottle)}
    return ProviderThrottle(**values | {"state": BreakerState(row.state), "tokens": tuple(row.tokens)})


def _write(row: ProviderThrottleRow, throttle: ProviderThrottle) -> None:
    for name, value in _columns(throttle).items():
        setattr(row, name, value)


def _columns(throttle: ProviderThrottle) -> dict[str, Any]:
    values = {field.name: getattr(throttle, field.name) for field in fields(ProviderThrottle)}
    return values | {"state": throttle.state.value, "tokens": list(throttle.tokens)}
