"""Verifies an address by its domain's name servers and, if the operator lets it, by its mail servers."""

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

MAX_TRIES = 3
RETRY_SECONDS = 300.0
"""Postgrey and its like let a second try in after five minutes."""
POLL_TIMEOUT = 1200.0
"""Enough for the tries, and for jobs that come back late."""


class Mx:
    """The domain's MX records, and its mail servers' answers to RCPT TO; no mail is sent."""

    name: ClassVar[str] = "mx"
    fields: ClassVar[frozenset[ProviderField]] = frozenset({ProviderField.VERIFICATION})
    guesses: ClassVar[bool] = False

    def __init__(
        self,
        _access: ProviderSettings,
        mail: MailSettings | None = None,
        *,
        allowed: Callable[[str], bool] = is_public,
    ) -> None:
        self._mail = mail or mail_settings.load()
        self.terms = replace(FREE, poll_timeout=POLL_TIMEOUT) if self._mail.smtp else FREE
        self._names = MailResolver(self._mail)
        self._postmasters = MailboxProber(self._mail, self._names, allowed=allowed)

    def unavailability(self, ask: ProviderRequest) -> TraceOutcome | None:
        """Tell whether there is an address to verify."""
        is_about_one = ask.field is ProviderField.VERIFICATION and ask.subject.email
        return None if is_about_one else TraceOutcome.INELIGIBLE

    def ask(self, ask: ProviderRequest, *, seconds: float) -> ProviderResponse | Pending:
        """Verify the address; a miss if nothing can be said of it.

        Greylisting (RFC 6647) and other passing refusals are waited for, a few times.
        """
        until = time.monotonic() + seconds
        email = str(ask.subject.email)
        try:
            hosts = self._names.mail_hosts(email_domain(email), seconds=seconds)
        except ResolutionFailed:
            return _reply(email, ProbeResult(SmtpReply.UNCLEAR))
        if not hosts:
            return _hit(email, EmailStatus.INVALID, ("no_mx", *email_reasons(email)))
        if not self._mail.smtp:
            return _reply(email, ProbeResult(SmtpReply.UNCLEAR))
        return self._ask_postmasters(hosts, email, ask.poll_token, until)

    def _ask_postmasters(
        self, hosts: tuple[str, ...], email: str, ticket: str | None, until: float
    ) -> ProviderResponse | Pending:
        tries, nobody = _read(ticket)
        try:
            heard = self._postmasters.ask(hosts, email, f"{nobody}@{email_domain(email)}", until=until)
        except HostBusy as busy:
            return Pending(_ticket(tries, nobody), after=max(busy.after, 1.0))
        if heard.is_for_later and tries + 1 < MAX_TRIES:
            return Pending(_ticket(tries + 1, nobody), after=RETRY_SECONDS)
        return _reply(email, heard)


def _reply(email: str, heard: ProbeResult) -> ProviderResponse:
    status, reasons = smtp_replies.verdict(email, heard)
    if status is EmailStatus.UNKNOWN:
        return ProviderResponse(outcome=TraceOutcome.MISS)
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


def _ticket(tries: int, nobody: str) -> str:
    """Write down what the next try needs: a greylist lets in only whom it has seen before."""
    return f"{tries}.{nobody}"


def _read(ticket: str | None) -> tuple[int, str]:
    """Give the tries so far and the mailbox that nobody can have, at first a new one."""
    tries, _, nobody = (ticket or "").partition(".")
    return (int(tries), nobody) if tries.isdecimal() and nobody else (0, secrets.token_hex(10))
