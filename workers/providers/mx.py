"""Verifies an address by its domain's MX records and, if `VERIFY_SMTP` is on, by its mail servers."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from app.domain.findings import EmailStatus, FoundEmail
from app.domain.kinds import TraceOutcome
from app.domain.normal.emails import email_domain, email_kind, email_reasons
from app.domain.normal.webhook_addresses import is_public
from app.settings import ProviderSettings
from workers.mail import settings as mail_settings
from workers.mail import smtp_replies
from workers.mail.dns import MailResolver, ResolutionFailed
from workers.mail.host_locks import HostBusy
from workers.mail.settings import MailSettings
from workers.mail.smtp import MailboxProber
from workers.mail.smtp_replies import ProbeResult, SmtpReply
from workers.providers.base import FREE, Pending, ProviderField, ProviderRequest, ProviderResponse
from workers.providers.parsing import source_of

RETRY_SECONDS = (300.0, 900.0, 1500.0)
"""The delays before further attempts. Postgrey and sqlgrey accept one after five minutes, milter-greylist and
OpenBSD's spamd after 25 to 30; a reply that names a longer delay is obeyed."""
NOT_PROBED = "smtp_off"
"""The reason of a missing verdict if `VERIFY_SMTP` is off."""
MAX_RETRY_SECONDS = 2700.0
POLL_TIMEOUT = 3300.0
"""Enough for all attempts; within the default deadline of a job."""


class Mx:
    """A verifier by MX records and the replies to RCPT TO; no mail is sent."""

    name: ClassVar[str] = "mx"
    fields: ClassVar[frozenset[ProviderField]] = frozenset({ProviderField.VERIFICATION})
    guesses: ClassVar[bool] = False
    takes_member_ids: ClassVar[bool] = False

    def __init__(
        self,
        _access: ProviderSettings,
        mail: MailSettings | None = None,
        *,
        allowed: Callable[[str], bool] = is_public,
    ) -> None:
        self._mail = mail or mail_settings.load()
        self.terms = replace(FREE, poll_timeout=POLL_TIMEOUT) if self._mail.smtp else FREE
        self._resolver = MailResolver(self._mail)
        self._prober = MailboxProber(self._mail, self._resolver, allowed=allowed)

    def unavailability(self, request: ProviderRequest) -> TraceOutcome | None:
        """Return ineligible unless the request has an address to verify."""
        is_verification = request.field is ProviderField.VERIFICATION and request.subject.email
        return None if is_verification else TraceOutcome.INELIGIBLE

    def call(self, request: ProviderRequest, *, seconds: float) -> ProviderResponse | Pending:
        """Verify the address; return a miss if there is no verdict.

        Return `Pending` after greylisting (RFC 6647) and other transient refusals, a few times.
        """
        deadline = time.monotonic() + seconds
        email = str(request.subject.email)
        try:
            hosts = self._resolver.mail_hosts(email_domain(email), seconds=seconds)
        except ResolutionFailed:
            return _response(email, ProbeResult(SmtpReply.UNREACHABLE))
        if not hosts:
            return _hit(email, EmailStatus.INVALID, ("no_mx", *email_reasons(email)))
        if not self._mail.smtp:
            return _response(email, ProbeResult(SmtpReply.UNCLEAR), NOT_PROBED)
        return self._probe(hosts, email, request.poll_token, deadline)

    def _probe(
        self, hosts: tuple[str, ...], email: str, poll_token: str | None, deadline: float
    ) -> ProviderResponse | Pending:
        attempts, random_name = _parse_poll_token(poll_token)
        try:
            result = self._prober.probe(
                hosts, email, f"{random_name}@{email_domain(email)}", deadline=deadline
            )
        except HostBusy as busy:
            return Pending(_format_poll_token(attempts, random_name), after=max(busy.after, 1.0))
        if result.should_retry and attempts < len(RETRY_SECONDS):
            after = max(RETRY_SECONDS[attempts], min(result.retry_after or 0.0, MAX_RETRY_SECONDS))
            return Pending(_format_poll_token(attempts + 1, random_name), after=after)
        return _response(email, result)


def _response(email: str, result: ProbeResult, reason: str | None = None) -> ProviderResponse:
    """Return the verdict or, without one, a miss with the reason, by default the result's."""
    status, reasons = smtp_replies.verdict(email, result)
    if status is EmailStatus.UNKNOWN:
        return ProviderResponse(outcome=TraceOutcome.MISS, reason=reason or result.reason)
    return _hit(email, status, reasons)


def _hit(email: str, status: EmailStatus, reasons: tuple[str, ...]) -> ProviderResponse:
    source = source_of(Mx.name)
    verdict = FoundEmail(
        email=email,
        type=email_kind(email),
        status=status,
        reasons=reasons,
        source=source,
        verified_at=source.at,
    )
    return ProviderResponse(outcome=TraceOutcome.HIT, emails=(verdict,))


def _format_poll_token(attempts: int, random_name: str) -> str:
    """Return the poll token for the next attempt; a greylist only accepts recipients it has seen before."""
    return f"{attempts}.{random_name}"


def _parse_poll_token(poll_token: str | None) -> tuple[int, str]:
    """Return the number of attempts and the random mailbox name; a new name on the first attempt."""
    attempts, _, random_name = (poll_token or "").partition(".")
    return (
        (int(attempts), random_name) if attempts.isdecimal() and random_name else (0, secrets.token_hex(10))
    )
