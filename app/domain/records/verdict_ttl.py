"""How long a verdict about an e-mail address holds.

`usual_age` is how old a value may be before it is asked for again; a valid mailbox keeps it whole, for what
ends it is that somebody leaves. The others are shorter:

- accept_all, a third: it says that the domain hides its mailboxes, and nothing of this one.
- invalid, a third: a mailbox seldom comes to life, but a wrong verdict hides a value somebody paid for.
- risky and unknown, a sixth: an inbox is emptied within weeks, and a server that was away is back.
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


def lifetime(status: EmailStatus, usual_age: timedelta) -> timedelta:
    """Give for how long a verdict of this status holds."""
    return usual_age / _PARTS[status]


def expires_at(status: EmailStatus, verified_at: datetime, usual_age: timedelta) -> datetime:
    """Give the moment from which the verdict holds no longer."""
    return verified_at + lifetime(status, usual_age)


def is_fresh(status: EmailStatus, verified_at: datetime, usual_age: timedelta, *, now: datetime) -> bool:
    """Tell whether the verdict still holds."""
    return now < expires_at(status, verified_at, usual_age)
