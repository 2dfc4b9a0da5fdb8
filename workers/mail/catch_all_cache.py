"""Which domains take mail for whatever mailbox, as far as was heard lately."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict

from workers.mail.smtp_replies import SmtpReply

TTL_SECONDS = 24 * 3600.0
MAX_DOMAINS = 10_000


class CatchAllCache:
    """What domains answered for a mailbox that nobody can have; the longest known are forgotten first."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[SmtpReply, float]] = OrderedDict()
        self._guard = threading.Lock()

    def heard(self, domain: str) -> SmtpReply | None:
        """Give what the domain answered, if that is not too long ago."""
        answer, at = self._known.get(domain, (None, 0.0))
        return answer if time.monotonic() - at < TTL_SECONDS else None

    def remember(self, domain: str, answer: SmtpReply) -> None:
        """Keep a clear answer; that none was given is not worth keeping."""
        if answer not in {SmtpReply.ACCEPTED, SmtpReply.NO_MAILBOX}:
            return
        with self._guard:
            self._known.pop(domain, None)
            self._known[domain] = (answer, time.monotonic())
            while len(self._known) > MAX_DOMAINS:
                self._known.popitem(last=False)
