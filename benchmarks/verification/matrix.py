"""Verifies the two mailboxes of a mail system, and counts the verdicts."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from aiosmtpd.smtp import SMTP, Envelope, Session
from dnslib import MX, A
from mail_support import (
    LOOPBACK,
    ZONE,
    FakeDnsServer,
    Zone,
    dns_server,
    mail_server,
    mx,
    settings,
    summary,
    verify,
)

from benchmarks.verification.mail_systems import MailSystem
from workers.providers.base import Pending
from workers.providers.mx import RETRY_SECONDS, Mx

VERDICTS = ("valid", "accept_all", "risky", "unknown", "invalid")
SECONDS, TARPIT_SECONDS = 10.0, 1.0
"""The time limits of each verification: one that a busy machine keeps, and one that a tarpit exceeds."""
EXISTS, MISSING = "exists", "missing"
EMAILS = {EXISTS: "ada@acme.com", MISSING: "nobody@acme.com"}
ZONES: dict[str, Zone] = {
    "mx": ZONE,
    "null": {("acme.com", "MX"): (MX(".", 0),)},
    "address": {("acme.com", "A"): (A(LOOPBACK),)},
}


@dataclass(frozen=True, slots=True)
class Row:
    """The verdicts for one mailbox of a system, and how many were wrong or needlessly unknown."""

    system: str
    truth: str
    counts: Counter[str]
    wrong: int
    missed: int


@dataclass
class SimulatedServer:
    """The handler of a mail server with the replies of a system."""

    system: MailSystem
    seen: set[str] = field(default_factory=set)

    async def handle_RCPT(  # noqa: N802 -- aiosmtpd's
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        """Reply to RCPT TO."""
        reply = self._reply(address, is_first=not envelope.rcpt_tos)
        envelope.rcpt_tos.append(address)
        is_refusal = not reply.startswith("2")
        await asyncio.sleep(self.system.slow + self.system.seconds * is_refusal)
        return reply.replace("{email}", address)

    def _reply(self, address: str, *, is_first: bool) -> str:
        is_new = address not in self.seen
        self.seen.add(address)
        if self.system.first and is_new:
            return self.system.first
        if self.system.second and not is_first:
            return self.system.second
        return self.system.exists if address == EMAILS[EXISTS] else self.system.missing


def measure(system: MailSystem) -> tuple[Row, Row]:
    """Verify both mailboxes in both orders; return a row for each."""
    seconds = TARPIT_SECONDS if system.slow else SECONDS
    verdicts: dict[str, list[str]] = {EXISTS: [], MISSING: []}
    for order in ((EXISTS, MISSING), (MISSING, EXISTS)):
        with _verifier(system) as verifier:
            for truth in order:
                verdicts[truth].append(_verdict(verifier, EMAILS[truth], seconds))
    return _row(system, EXISTS, verdicts[EXISTS]), _row(system, MISSING, verdicts[MISSING])


@contextmanager
def _verifier(system: MailSystem) -> Iterator[Mx]:
    with (
        mail_server(SimulatedServer(system)) as port,
        dns_server(FakeDnsServer(ZONES[system.mx])) as dns_port,
    ):
        yield mx(settings(port, dns_port))


def _verdict(verifier: Mx, email: str, seconds: float) -> str:
    """Verify an address, again while that is advised, and return the last result."""
    reply = verify(verifier, email, seconds=seconds)
    for _ in range(1 + len(RETRY_SECONDS)):
        if isinstance(reply, Pending):
            reply = verify(verifier, email, reply.poll_token, seconds=seconds)
    return summary(reply)


def _row(system: MailSystem, truth: str, verdicts: list[str]) -> Row:
    right = dict(zip((EXISTS, MISSING), system.verdicts, strict=True))[truth]
    others = [verdict for verdict in verdicts if verdict != right]
    missed = others.count("unknown")
    counts = Counter(verdict.partition(" ")[0] for verdict in verdicts)
    return Row(system.name, truth, counts, len(others) - missed, missed)
