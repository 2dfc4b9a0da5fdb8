"""The time to live of a verification verdict for an e-mail address.

`default_max_age` is the age at which a value is requested again. The verdict `valid` lasts that long,
because a valid mailbox usually ends only when its owner leaves the company. The others expire sooner:

- accept_all, a third: the domain accepts every address, so the verdict does not confirm this one.
- invalid, a third: a mailbox is seldom created later, but a wrong verdict hides a value that was paid for.
- risky and unknown, a sixth: a full inbox is emptied within weeks, and an unreachable server comes back.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from app.domain.findings import EmailStatus

_PARTS = {
    EmailStatus.VALID: 1,
    EmailStatus.ACCEPT_ALL: 3,
    EmailStatus.INVALID: 3,
    EmailStatus.RISKY: 6,
    EmailStatus.UNKNOWN: 6,
}


def lifetime(status: EmailStatus, default_max_age: timedelta) -> timedelta:
    """Return the time to live of a verdict with this status."""
    return default_max_age / _PARTS[status]


def expires_at(status: EmailStatus, verified_at: datetime, default_max_age: timedelta) -> datetime:
    """Return the time at which the verdict expires."""
    return verified_at + lifetime(status, default_max_age)


def is_fresh(
    status: EmailStatus, verified_at: datetime, default_max_age: timedelta, *, now: datetime
) -> bool:
    """Return whether the verdict has not expired."""
    return now < expires_at(status, verified_at, default_max_age)
