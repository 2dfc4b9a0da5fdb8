"""A cache of domains whose mail hosts do or do not accept mail for any mailbox (catch-all)."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict

from workers.mail.smtp_replies import SmtpReply

TTL_SECONDS = 24 * 3600.0
MAX_ENTRIES = 10_000


class CatchAllCache:
    """Replies per domain and mail host for a mailbox that cannot exist; the oldest are evicted first."""

    def __init__(self) -> None:
        self._replies: OrderedDict[tuple[str, str], tuple[SmtpReply, float]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, domain: str, host: str) -> SmtpReply | None:
        """Return the cached reply of the host; None if there is none or it has expired."""
        reply, cached_at = self._replies.get((domain, host), (None, 0.0))
        return reply if time.monotonic() - cached_at < TTL_SECONDS else None

    def store(self, domain: str, host: str, reply: SmtpReply) -> None:
        """Cache a conclusive reply; others are ignored."""
        if reply not in {SmtpReply.ACCEPTED, SmtpReply.NO_MAILBOX}:
            return
        with self._lock:
            self._replies.pop((domain, host), None)
            self._replies[domain, host] = (reply, time.monotonic())
            while len(self._replies) > MAX_ENTRIES:
                self._replies.popitem(last=False)
