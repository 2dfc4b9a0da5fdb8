"""Attempts at a password: who may make one now, and what a wrong one costs the next."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from app.api.http.failure_limits import FailureCounter, network
from app.api.http.services import services
from app.core.accounts import accounts, login_throttle, sessions
from app.core.accounts.accounts import Account
from app.domain.errors import TooManyAttempts, Unavailable
from app.infra import database_clock, metrics, passwords

MAX_PER_NETWORK = (passwords.MAX_PARALLEL_HASHES + passwords.MAX_QUEUED_HASHES) // 2
"""Checks of one network at once, per process: no network alone can take every place in the queue."""
RETRY_SECONDS = 1
_checking: Counter[str] = Counter()
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class LoginAttempt:
    """A password tried for an e-mail, from the network of this request.

    It is counted in two ways. Failures are counted by network, and by e-mail and network: strangers
    elsewhere use up neither. And they are counted by e-mail alone, which slows guessing from many networks,
    but never a network that the account has signed in from.
    """

    email: str

    @property
    def network(self) -> bytes:
        """Give a digest of the network as this e-mail's."""
        return login_throttle.keyed("network", self.email, network())

    def check_limits(self) -> None:
        """Let it pass unless too many from this network failed.

        Raises:
            TooManyAttempts: they did.

        """
        for failures in self._failures():
            failures.check()

    def account(self) -> Account | None:
        """Read the account; the same queries are made for an e-mail that has none.

        Raises:
            TooManyAttempts: too many failed elsewhere, and the account never signed in from here.

        """
        with services().database.reading() as session:
            found = accounts.by_email(session, self.email)
            known = sessions.has_signed_in_from(session, found.id if found else None, self.network)
            wait = login_throttle.wait(session, self.email, now=database_clock.now())
        if wait and not known:
            raise TooManyAttempts(retry_after=wait)
        return found

    def verify(self, stored: str | None, password: str) -> bool:
        """Check the password against what is kept; it takes as long with nothing kept.

        Raises:
            TooManyAttempts: this network has many checked already; one that others fail must be told nothing.
            Unavailable: too many wait to be checked.

        """
        with _network_slot(network()):
            right = passwords.verify(stored, password)
        if right:
            self.check_limits()
            metrics.SIGN_INS.labels(outcome="right").inc()
        return right

    def record_failure(self) -> None:
        """Count a failure.

        Raises:
            TooManyAttempts: there were too many already.

        """
        with services().database.transaction() as session:
            login_throttle.failed(session, self.email, now=database_clock.now())
        for failures in self._failures():
            failures.add()
        metrics.SIGN_INS.labels(outcome="wrong").inc()

    def _failures(self) -> tuple[FailureCounter, FailureCounter]:
        settings = services().settings
        return (
            FailureCounter.for_client("login", settings.limit_login_address),
            FailureCounter.for_client("login_account", settings.limit_login_account, self.email),
        )


@contextmanager
def record_outcome() -> Iterator[None]:
    """Count for the operator the attempts that are not answered; the others are counted by their outcome."""
    try:
        yield
    except (TooManyAttempts, Unavailable) as problem:
        metrics.SIGN_INS.labels(outcome=problem.code).inc()
        raise


@contextmanager
def _network_slot(origin: str) -> Iterator[None]:
    with _lock:
        if _checking[origin] >= MAX_PER_NETWORK:
            raise TooManyAttempts(retry_after=RETRY_SECONDS)
        _checking[origin] += 1
    try:
        yield
    finally:
        with _lock:
            _checking[origin] -= 1
            if not _checking[origin]:
                del _checking[origin]
