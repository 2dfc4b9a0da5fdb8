"""Checks whether mail servers accept mail for an address, without sending any.

The SMTP dialogue of RFC 5321 up to RCPT TO, then RSET and QUIT: for the address, and for a random mailbox of
the same domain, because acceptance by a server that accepts every mailbox proves nothing.
"""

from __future__ import annotations

import smtplib
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from app.domain.normal.emails import email_domain
from app.domain.normal.webhook_addresses import is_public
from workers.mail import smtp_replies
from workers.mail.catch_all_cache import CatchAllCache
from workers.mail.client import FAILURES, SmtpClient
from workers.mail.dns import MailResolver, ResolutionFailed
from workers.mail.host_locks import HostLocks
from workers.mail.provider_pauses import ProviderPauses
from workers.mail.settings import MailSettings
from workers.mail.smtp_replies import ProbeResult, SmtpReply

MAX_HOSTS = 3
MAX_ADDRESSES = 3


class MailboxProber:
    """Probes mailboxes at the mail hosts of their domain."""

    def __init__(
        self, settings: MailSettings, resolver: MailResolver, *, allowed: Callable[[str], bool] = is_public
    ) -> None:
        self._settings = settings
        self._resolver = resolver
        self._allowed = allowed
        self._host_locks = HostLocks(settings.pause_seconds)
        self._catch_all_cache = CatchAllCache()
        self._pauses = ProviderPauses()
        self._tls = _opportunistic_tls()

    def probe(self, hosts: tuple[str, ...], email: str, random_email: str, *, deadline: float) -> ProbeResult:
        """Probe the first reachable host; `deadline` is a time of the monotonic clock.

        `random_email` is an address of the same domain that cannot exist. Hosts without a public address are
        skipped: the owner of a domain chooses where its MX records point. A mail provider that has refused
        this client is not connected to for a while, for none of its customers.

        Raises:
            HostBusy: other connections to that host come first.

        """
        for host in hosts[:MAX_HOSTS]:
            if self._pauses.is_paused(host):
                return ProbeResult(SmtpReply.BLOCKED)
            for address in self._addresses(host, deadline):
                with self._host_locks.lock_host(host, deadline=deadline):
                    client = self._open(host, address, deadline)
                    if client is not None:
                        result = self._converse(client, host, email, random_email)
                        self._pauses.note(host, result.mailbox)
                        return result
        return ProbeResult(SmtpReply.UNREACHABLE)

    def _addresses(self, host: str, deadline: float) -> list[str]:
        """Return the public addresses of a host, the first few: one of them may be down."""
        try:
            addresses = self._resolver.addresses(host, seconds=deadline - time.monotonic())
        except ResolutionFailed:
            return []
        return list(filter(self._allowed, addresses))[:MAX_ADDRESSES]

    def _open(self, host: str, address: str, deadline: float) -> SmtpClient | None:
        """Connect and send EHLO, with STARTTLS if possible; return None if the server is unreachable."""
        client = self._connect(host, address, deadline)
        if client is None or not self._settings.starttls or self._encrypt(client):
            return client
        return self._connect(host, address, deadline)

    def _connect(self, host: str, address: str, deadline: float) -> SmtpClient | None:
        client = None
        try:
            client = SmtpClient(host, address, self._settings, deadline)
            client.ehlo_or_helo_if_needed()
        except FAILURES:
            if client:
                client.close()
            return None
        return client

    def _encrypt(self, client: SmtpClient) -> bool:
        """Encrypt the connection if the server offers it; return False if that broke the connection."""
        if not client.has_extn("starttls"):
            return True
        try:
            client.starttls(context=self._tls)
            client.ehlo_or_helo_if_needed()
        except smtplib.SMTPResponseException:  # refused despite the offer; the connection is still usable
            return True
        except FAILURES:
            client.close()
            return False
        return True

    def _converse(self, client: SmtpClient, host: str, email: str, random_email: str) -> ProbeResult:
        result = ProbeResult(SmtpReply.UNCLEAR)
        options = () if email.isascii() else ("SMTPUTF8",)
        with suppress(*FAILURES):  # replies before the failure count
            code, text = _decoded(client.mail(self._settings.sender, options))
            sender = smtp_replies.of_sender(code, text)
            if sender is SmtpReply.ACCEPTED:
                code, text = _decoded(client.rcpt(email))
                result = _result(smtp_replies.of_mailbox(code, text), text)
            else:
                result = _result(sender, text)
            if sender is SmtpReply.ACCEPTED and result.mailbox in {SmtpReply.ACCEPTED, SmtpReply.LATER}:
                random_mailbox = self._probe_random_mailbox(client, host, random_email)
                result = replace(result, random_mailbox=random_mailbox)
        client.quit_and_close()
        return result

    def _probe_random_mailbox(self, client: SmtpClient, host: str, random_email: str) -> SmtpReply:
        """Probe the random mailbox, unless the reply of this host for the domain is cached.

        A backup host may accept every mailbox where the usual one does not. The random mailbox is also probed
        while the mailbox in question is greylisted, so that both are accepted next time.
        """
        domain = email_domain(random_email)
        cached = self._catch_all_cache.get(domain, host)
        if cached is not None:
            return cached
        reply = smtp_replies.of_random_mailbox(*_decoded(client.rcpt(random_email)))
        self._catch_all_cache.store(domain, host, reply)
        return reply


def _result(reply: SmtpReply, text: str) -> ProbeResult:
    delay = smtp_replies.retry_seconds(text) if reply is SmtpReply.LATER else None
    return ProbeResult(reply, retry_after=delay)


def _decoded(response: tuple[int, bytes]) -> tuple[int, str]:
    code, text = response
    return code, text.decode("utf-8", "replace")


def _opportunistic_tls() -> ssl.SSLContext:
    """Return a context without certificate checks (RFC 7435): few certificates match the MX name."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # without the trusted certificates, which load slowly
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
