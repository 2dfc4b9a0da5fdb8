"""Asking mail servers whether they would take mail for an address, without ever sending any.

The conversation of RFC 5321 up to RCPT TO, then RSET and QUIT: for the address, and for one at the same
domain that nobody can have, because a server that takes everything says nothing about anybody.
"""

from __future__ import annotations

import smtplib
import ssl
import time
from collections.abc import Callable
from contextlib import suppress

from app.domain.normal.emails import email_domain
from app.domain.normal.webhook_addresses import is_public
from workers.mail import smtp_replies
from workers.mail.catch_all_cache import CatchAllCache
from workers.mail.client import FAILURES, SmtpClient
from workers.mail.dns import MailResolver, ResolutionFailed
from workers.mail.host_locks import HostLocks
from workers.mail.settings import MailSettings
from workers.mail.smtp_replies import ProbeResult, SmtpReply

MAX_HOSTS = 3


class MailboxProber:
    """Those who answer for the mailboxes of a domain: its mail hosts."""

    def __init__(
        self, settings: MailSettings, names: MailResolver, *, allowed: Callable[[str], bool] = is_public
    ) -> None:
        self._settings = settings
        self._names = names
        self._allowed = allowed
        self._turns = HostLocks(settings.pause_seconds)
        self._accept_all = CatchAllCache()
        self._tls = _opportunistic_tls()

    def ask(self, hosts: tuple[str, ...], email: str, nobody: str, *, until: float) -> ProbeResult:
        """Ask the first host that can be talked to, at most until the monotonic clock says so.

        `nobody` is an address of the same domain that nobody can have. A host whose address is not public is
        not called: a domain's owner says where its MX record leads.

        Raises:
            Busy: other conversations with that host come first.

        """
        for host in hosts[:MAX_HOSTS]:
            address = self._address(host, until)
            if address is None:
                continue
            with self._turns.turn(host, until=until):
                client = self._open(host, address, until)
                if client is not None:
                    return self._converse(client, email, nobody)
        return ProbeResult(SmtpReply.UNCLEAR)

    def _address(self, host: str, until: float) -> str | None:
        try:
            found = self._names.addresses(host, seconds=until - time.monotonic())
        except ResolutionFailed:
            return None
        return next(filter(self._allowed, found), None)

    def _open(self, host: str, address: str, until: float) -> SmtpClient | None:
        """Connect and say hello, encrypted if that works; None if the server cannot be talked to."""
        client = self._connect(host, address, until)
        if client is None or not self._settings.starttls or self._encrypt(client):
            return client
        return self._connect(host, address, until)

    def _connect(self, host: str, address: str, until: float) -> SmtpClient | None:
        client = None
        try:
            client = SmtpClient(host, address, self._settings, until)
            client.ehlo_or_helo_if_needed()
        except FAILURES:
            if client:
                client.close()
            return None
        return client

    def _encrypt(self, client: SmtpClient) -> bool:
        """Encrypt the connection if the server offers it; False if the connection is lost over it."""
        if not client.has_extn("starttls"):
            return True
        try:
            client.starttls(context=self._tls)
            client.ehlo_or_helo_if_needed()
        except smtplib.SMTPResponseException:  # it will not, after all; the connection stands
            return True
        except FAILURES:
            client.close()
            return False
        return True

    def _converse(self, client: SmtpClient, email: str, nobody: str) -> ProbeResult:
        heard = ProbeResult(SmtpReply.UNCLEAR)
        options = () if email.isascii() else ("SMTPUTF8",)
        with suppress(*FAILURES):  # what was heard before it broke off stands
            sender = smtp_replies.of_sender(*_reply_text(client.mail(self._settings.sender, options)))
            if sender is SmtpReply.ACCEPTED:
                heard = ProbeResult(smtp_replies.of_mailbox(*_reply_text(client.rcpt(email))))
            else:
                heard = ProbeResult(sender)
            if sender is SmtpReply.ACCEPTED and heard.mailbox in {SmtpReply.ACCEPTED, SmtpReply.LATER}:
                heard = ProbeResult(heard.mailbox, self._hear_of_nobody(client, nobody))
        client.leave()
        return heard

    def _hear_of_nobody(self, client: SmtpClient, nobody: str) -> SmtpReply:
        """Ask for the mailbox that nobody can have, unless the domain was asked lately.

        It is asked for also where the mailbox in question is greylisted, so that both are let in next time.
        """
        domain = email_domain(nobody)
        known = self._accept_all.heard(domain)
        if known is not None:
            return known
        answer = smtp_replies.of_random_mailbox(*_reply_text(client.rcpt(nobody)))
        self._accept_all.remember(domain, answer)
        return answer


def _reply_text(reply: tuple[int, bytes]) -> tuple[int, str]:
    code, text = reply
    return code, text.decode("utf-8", "replace")


def _opportunistic_tls() -> ssl.SSLContext:
    """Encrypt whoever it is (RFC 7435): most mail servers' certificates are not in their MX's name."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
