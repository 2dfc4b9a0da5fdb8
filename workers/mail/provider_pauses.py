"""Pauses of mail providers that refuse this client: one refusal counts for all customers of the provider."""

from __future__ import annotations

import threading
import time

from app.domain.errors import InvalidValue
from app.domain.normal.websites import normal_website
from workers.mail.smtp_replies import SmtpReply

FIRST_SECONDS = 900.0
LAST_SECONDS = 24 * 3600.0
"""The pause doubles with each refusal, up to a day: connecting again soon prolongs most blocks."""
MAX_PROVIDERS = 4096


class ProviderPauses:
    """The times until which no host of a mail provider is connected to, within this process.

    The hosts of a provider share their registrable domain: `acme-com.mail.protection.outlook.com` and the
    hosts of its other customers are at outlook.com.
    """

    def __init__(self) -> None:
        self._pauses: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def is_paused(self, host: str) -> bool:
        """Return whether the provider of the host has refused this client recently."""
        until, _seconds = self._pauses.get(_provider(host), (0.0, 0.0))
        return time.monotonic() < until

    def note(self, host: str, reply: SmtpReply) -> None:
        """Pause the provider if it refused this client; end its pauses if it told of a mailbox."""
        provider = _provider(host)
        with self._lock:
            if reply is SmtpReply.BLOCKED:
                _until, seconds = self._pauses.get(provider, (0.0, FIRST_SECONDS / 2))
                seconds = min(2 * seconds, LAST_SECONDS)
                self._pauses[provider] = (time.monotonic() + seconds, seconds)
                while len(self._pauses) > MAX_PROVIDERS:
                    del self._pauses[next(iter(self._pauses))]
            elif reply in {SmtpReply.ACCEPTED, SmtpReply.NO_MAILBOX}:
                self._pauses.pop(provider, None)


def _provider(host: str) -> str:
    try:
        return normal_website(host)
    except InvalidValue:
        return host
