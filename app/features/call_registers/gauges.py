"""The gauges of registers: how many numbers they have, and when they become too old."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from prometheus_client.core import GaugeMetricFamily, Metric
from sqlalchemy import select

from app.engine.call_registers.registers import CallRegister
from app.infra.database.session import Session


def gauges(session: Session, now: datetime) -> Iterator[Metric]:
    """Yield the numbers of each register, and the seconds until it is too old; negative if it is."""
    rows = session.scalars(select(CallRegister).order_by(CallRegister.id)).all()
    numbers = GaugeMetricFamily(
        "ext_call_register_numbers", "Numbers in a do-not-call register.", labels=["register"]
    )
    left = GaugeMetricFamily(
        "ext_call_register_seconds_left",
        "Seconds until a do-not-call register is too old to be used for calls; negative if it is.",
        labels=["register"],
    )
    for row in rows:
        numbers.add_metric([row.id], row.numbers)
        left.add_metric([row.id], (row.date + timedelta(days=row.max_age_days) - now).total_seconds())
    yield numbers
    yield left
