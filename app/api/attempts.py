"""Attempts at a password: who may make one now, and what a wrong one costs the next."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from flask import current_app

from app.api.strangers import Failures, network
from app.core import accounts, sessions, sign_ins
from app.core.accounts import Account
from app.domain.errors import TooManyAttempts, Unavailable
from app.infra import database_clock, metrics, passwords
from app.infra.db import Database
from app.settings import Settings

MOST_OF_A_NETWORK = (passwords.AT_ONCE + passwords.WAITING) // 2
"""Checks of one network at once, per process: no network alone can take every place in the queue."""
RETRY_SECONDS = 1
_checking: Counter[str] = Counter()
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Attempt:
    """A password tried for an e-mail, from the network of this request.

    It is counted in two ways. Failures are counted by network, and by e-mail and network: strangers
    elsewhere use up neither. And they are counted by e-mail alone, which slows guessing from many networks,
    but never a network that the account has signed in from.
    """

    email: str

    @property
    def network(self) -> bytes:
        """Give a digest of the network as this e-mail's."""
        return sign_ins.keyed("network", self.email, network())

    def require_turn(self) -> None:
        """Let it pass unless too many from this network failed.

        Raises:
            TooManyAttempts: they did.

        """
        for failures in self._failures():
            failures.require_turn()

    def account(self) -> Account | None:
        """Read the account; the same queries are made for an e-mail that has none.

        Raises:
            TooManyAttempts: too many failed elsewhere, and the account never signed in from here.

        """
        with _database().reading() as session:
            found = accounts.by_email(session, self.email)
            known = sessions.came_from(session, found.id if found else None, self.network)
            wait = sign_ins.wait(session, self.email, now=database_clock.now())
        if wait and not known:
            raise TooManyAttempts(retry_after=wait)
        return found

    def is_right(self, stored: str | None, password: str) -> bool:
        """Check the password against what is kept; it takes as long with nothing kept.

        Raises:
            TooManyAttempts: this network has many checked already; one that others fail must be told nothing.
            Unavailable: too many wait to be checked.

        """
        with _place(network()):
            right = passwords.verify(stored, password)
        if right:
            self.require_turn()
            metrics.SIGN_INS.labels(outcome="right").inc()
        return right

    def failed(self) -> None:
        """Count a failure.

        Raises:
            TooManyAttempts: there were too many already.

        """
        with _database().transaction() as session:
            sign_ins.failed(session, self.email, now=database_clock.now())
        for failures in self._failures():
            failures.add()
        metrics.SIGN_INS.labels(outcome="wrong").inc()

    def _failures(self) -> tuple[Failures, Failures]:
        settings: Settings = current_app.extensions["settings"]
        return (
            Failures.from_here("login", settings.limit_login_address),
            Failures.from_here("login_account", settings.limit_login_account, self.email),
        )


@contextmanager
def counted() -> Iterator[None]:
    """Count for the operator the attempts that are not answered; the others are counted by their outcome."""
    try:
        yield
    except (TooManyAttempts, Unavailable) as problem:
        metrics.SIGN_INS.labels(outcome=problem.code).inc()
        raise


@contextmanager
def _place(origin: str) -> Iterator[None]:
    with _lock:
        if _checking[origin] >= MOST_OF_A_NETWORK:
            raise TooManyAttempts(retry_after=RETRY_SECONDS)
        _checking[origin] += 1
    try:
        yield
    finally:
        with _lock:
            _checking[origin] -= 1
            if not _checking[origin]:
                del _checking[origin]


def _database() -> Database:
    database: Database = current_app.extensions["database"]
    return database
