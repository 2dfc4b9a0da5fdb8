"""Verdicts that a workspace has: its verifications repeat them instead of asking and charging again.

Beside the verdicts on addresses (`own_verifications`), the domains that accept all mail are stored, as the
address `*@<domain>`: no address there is `valid`, whichever job finds that out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from app.domain.findings import EmailStatus
from app.domain.normal.emails import email_domain
from app.domain.records.verdict_ttl import is_fresh
from app.engine.contacts import bounce_reports, emails
from app.engine.contacts.bulk import batched
from app.engine.contacts.suppressions import suppression_checks
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.own_records import own_verifications
from app.engine.own_records.own_verifications import OwnAddress, Verdict
from app.infra.database import database_clock
from app.infra.database.session import Session

_TOGETHER = timedelta(days=1)
"""The verdicts of one list are found within this time, in any order."""
_ALL = "*@"


def reusable(
    session: Session, workspace_id: str, addresses: Iterable[str], *, max_age: timedelta, now: datetime
) -> dict[str, Verdict]:
    """Return the verdicts that have not expired, by address; `max_age` is the one of a valid verdict.

    Left out are those of suppressed addresses, and of addresses that have bounced since.
    """
    fresh = {
        email: verdict
        for email, verdict in _stored(session, workspace_id, addresses).items()
        if verdict.status != EmailStatus.UNKNOWN
        if is_fresh(EmailStatus(verdict.status), verdict.verified_at, max_age, now=now)
    }
    suppressed = suppression_checks.any_suppressed(session, [Identifier("email", email) for email in fresh])
    bounced = _bounced(session, workspace_id, fresh)
    domains = accept_all(session, workspace_id, fresh)
    return {
        email: Verdict(status_at(domains, email, verdict), verdict.verified_at)
        for email, verdict in fresh.items()
        if Identifier("email", email) not in suppressed and email not in bounced
    }


def store(session: Session, workspace_id: str, verdicts: Mapping[str, Verdict]) -> None:
    """Store verdicts by address, and which domains accept all mail."""
    domains = {
        f"{_ALL}{email_domain(email)}": verdict
        for email, verdict in verdicts.items()
        if verdict.status == EmailStatus.ACCEPT_ALL
    }
    own_verifications.store(session, workspace_id, {**verdicts, **domains})


def store_new(
    session: Session, workspace_id: str, email: str, verdict: Verdict, *, max_age: timedelta
) -> bool:
    """Store the verdict; return False if the workspace had one already that is repeated.

    Of two jobs that verify an address at the same time, the second one waits for the first.
    """
    is_new = own_verifications.add_or_lock(session, OwnAddress(workspace_id, email), verdict) or not reusable(
        session, workspace_id, [email], max_age=max_age, now=database_clock.value(session)
    )
    store(session, workspace_id, {email: verdict})
    return is_new


def accept_all(session: Session, workspace_id: str, addresses: Iterable[str]) -> dict[str, datetime]:
    """Return which domains of the addresses accept all mail, and when the workspace found that out."""
    domains = {f"{_ALL}{email_domain(email)}" for email in addresses}
    stored = _stored(session, workspace_id, sorted(domains))
    return {name.removeprefix(_ALL): verdict.verified_at for name, verdict in stored.items()}


def status_at(domains: Mapping[str, datetime], email: str, verdict: Verdict) -> str:
    """Return the status of an address: not valid if its domain was found to accept all mail.

    What was found more than a day before the verdict does not count: the domain may have changed.
    """
    found_at = domains.get(email_domain(email))
    is_overruled = found_at is not None and found_at > verdict.verified_at - _TOGETHER
    is_valid = verdict.status == EmailStatus.VALID
    return EmailStatus.ACCEPT_ALL.value if is_valid and is_overruled else verdict.status


def _stored(session: Session, workspace_id: str, addresses: Iterable[str]) -> dict[str, Verdict]:
    return {
        address.email: verdict
        for part in batched(addresses)
        for address, verdict in own_verifications.find(
            session, [OwnAddress(workspace_id, email) for email in part]
        ).items()
    }


def _bounced(session: Session, workspace_id: str, verdicts: Mapping[str, Verdict]) -> set[str]:
    """Return the addresses that have bounced since their verdict.

    Few have: all are asked about at once, then each half of those among which is one.
    """
    since = min((verdict.verified_at for verdict in verdicts.values()), default=None)
    if since is None or not (
        emails.any_bounced(session, verdicts, since=since)
        or bounce_reports.any_bounced(session, workspace_id, verdicts, since=since)
    ):
        return set()
    if len(verdicts) == 1:
        return set(verdicts)
    pairs = list(verdicts.items())
    halves = (pairs[: len(pairs) // 2], pairs[len(pairs) // 2 :])
    return {email for half in halves for email in _bounced(session, workspace_id, dict(half))}
