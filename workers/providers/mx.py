"""Verifies an address by its domain's name servers and, if the operator lets it, by its mail servers."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from app.domain.addresses import is_public
from app.domain.emails import email_domain, email_kind, email_reasons
from app.domain.findings import EmailStatus, FoundEmail
from app.domain.kinds import TraceOutcome
from app.settings import Access
from workers.mail import settings as mail_settings
from workers.mail import verdicts
from workers.mail.dns import Names, Unanswered
from workers.mail.settings import MailSettings
from workers.mail.smtp import Postmasters
from workers.mail.turns import Busy
from workers.mail.verdicts import Answer, Heard
from workers.providers.base import FREE, Ask, Field, Pending, Reply
from workers.providers.reading import said_by

MOST_TRIES = 3
SECONDS_BETWEEN_TRIES = 300.0
"""Postgrey and its like let a second try in after five minutes."""
PATIENCE = 1200.0
"""Enough for the tries, and for jobs that come back late."""


class Mx:
    """The domain's MX records, and its mail servers' answers to RCPT TO; no mail is sent."""

    name: ClassVar[str] = "mx"
    fields: ClassVar[frozenset[Field]] = frozenset({Field.VERIFICATION})
    guesses: ClassVar[bool] = False

    def __init__(
        self, _access: Access, mail: MailSettings | None = None, *, allowed: Callable[[str], bool] = is_public
    ) -> None:
        self._mail = mail or mail_settings.load()
        self.terms = replace(FREE, patience=PATIENCE) if self._mail.smtp else FREE
        self._names = Names(self._mail)
        self._postmasters = Postmasters(self._mail, self._names, allowed=allowed)

    def refusal(self, ask: Ask) -> TraceOutcome | None:
        """Tell whether there is an address to verify."""
        is_about_one = ask.field is Field.VERIFICATION and ask.subject.email
        return None if is_about_one else TraceOutcome.INELIGIBLE

    def ask(self, ask: Ask, *, seconds: float) -> Reply | Pending:
        """Verify the address; a miss if nothing can be said of it.

        Greylisting (RFC 6647) and other passing refusals are waited for, a few times.
        """
        until = time.monotonic() + seconds
        email = str(ask.subject.email)
        try:
            hosts = self._names.mail_hosts(email_domain(email), seconds=seconds)
        except Unanswered:
            return _reply(email, Heard(Answer.UNCLEAR))
        if not hosts:
            return _hit(email, EmailStatus.INVALID, ("no_mx", *email_reasons(email)))
        if not self._mail.smtp:
            return _reply(email, Heard(Answer.UNCLEAR))
        return self._ask_postmasters(hosts, email, ask.ticket, until)

    def _ask_postmasters(
        self, hosts: tuple[str, ...], email: str, ticket: str | None, until: float
    ) -> Reply | Pending:
        tries, nobody = _read(ticket)
        try:
            heard = self._postmasters.ask(hosts, email, f"{nobody}@{email_domain(email)}", until=until)
        except Busy as busy:
            return Pending(_ticket(tries, nobody), after=max(busy.after, 1.0))
        if heard.is_for_later and tries + 1 < MOST_TRIES:
            return Pending(_ticket(tries + 1, nobody), after=SECONDS_BETWEEN_TRIES)
        return _reply(email, heard)


def _reply(email: str, heard: Heard) -> Reply:
    status, reasons = verdicts.verdict(email, heard)
    if status is EmailStatus.UNKNOWN:
        return Reply(outcome=TraceOutcome.MISS)
    return _hit(email, status, reasons)


def _hit(email: str, status: EmailStatus, reasons: tuple[str, ...]) -> Reply:
    source = said_by(Mx.name)
    verdict = FoundEmail(
        email=email,
        type=email_kind(email),
        status=status,
        reasons=reasons,
        source=source,
        verified_at=source.at,
    )
    return Reply(outcome=TraceOutcome.HIT, emails=(verdict,))


def _ticket(tries: int, nobody: str) -> str:
    """Write down what the next try needs: a greylist lets in only whom it has seen before."""
    return f"{tries}.{nobody}"


def _read(ticket: str | None) -> tuple[int, str]:
    """Give the tries so far and the mailbox that nobody can have, at first a new one."""
    tries, _, nobody = (ticket or "").partition(".")
    return (int(tries), nobody) if tries.isdecimal() and nobody else (0, secrets.token_hex(10))
