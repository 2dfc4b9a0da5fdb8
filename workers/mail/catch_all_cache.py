"""A cache of domains that do or do not accept mail for any mailbox (catch-all)."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict

from workers.mail.smtp_replies import SmtpReply

TTL_SECONDS = 24 * 3600.0
MAX_DOMAINS = 10_000


class CatchAllCache:
    """Replies per domain for a mailbox that cannot exist; the oldest are evicted first."""

    def __init__(self) -> None:
        self._replies: OrderedDict[str, tuple[SmtpReply, float]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, domain: str) -> SmtpReply | None:
        """Return the cached reply of the domain; None if there is none or it has expired."""
        reply, cached_at = self._replies.get(domain, (None, 0.0))
        return reply if time.monotonic() - cached_at < TTL_SECONDS else None

    def store(self, domain: str, reply: SmtpReply) -> None:
        """Cache a conclusive reply; others are ignored."""
        if reply not in {SmtpReply.ACCEPTED, SmtpReply.NO_MAILBOX}:
            return
        with self._lock:
            self._replies.pop(domain, None)
            self._replies[domain] = (reply, time.monotonic())
            while len(self._replies) > MAX_DOMAINS:
                self._replies.popitem(last=False)
