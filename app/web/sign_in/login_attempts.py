"""Password attempts: their limits, their check and the counting of failures."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from app.domain.audit_actions import Action, Outcome
from app.domain.errors import InvalidCredentials, TooManyAttempts, Unavailable
from app.engine.accounts import accounts, login_throttle, sessions, totp
from app.engine.accounts.accounts import Account
from app.engine.audit_log import entries as audit_log
from app.infra.crypto import passwords
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.infra.telemetry import metrics
from app.web.failure_limits import FailureCounter, network
from app.web.request_actor import account_actor, network_digest, request_actor
from app.web.services import services

MAX_PER_NETWORK = (passwords.MAX_PARALLEL_HASHES + passwords.MAX_QUEUED_HASHES) // 2
"""Parallel checks per network and process, so that one network cannot fill the queue."""
RETRY_SECONDS = 1
TOTP_RATE = "20/hour"
"""Wrong codes of an app. 3 of 1,000,000 are right (RFC 4226, 7.3): guessing takes 1.9 years on average."""
RECOVERY_RATE = "20/hour"
"""Wrong recovery codes per account and network. 10 of 31^12 are right: a million networks that guess for ten
years find one with a probability of 1 in 45,000."""
_checking: Counter[str] = Counter()
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class LoginAttempt:
    """A password attempt for an e-mail address, from the network of this request.

    Failures are counted per network and per e-mail address and network; attackers in other networks cannot
    use up these limits. Failures are also counted per e-mail address alone. This slows down guessing from
    many networks, but never a network that the account has signed in from.

    Whoever enters wrong codes of two-factor sign-in knows the password, and must neither guess a code nor
    keep the owner out. So each network that the account has signed in from has a limit of its own, all
    others share one, and recovery codes, which cannot be guessed, are limited per network.
    """

    email: str

    @property
    def network(self) -> bytes:
        """Return a digest of the network and the e-mail address."""
        return login_throttle.digest(services().digest_keys, "network", self.email, network())

    def check_limits(self) -> None:
        """Check the limits of this network."""
        for failures in self._failures():
            failures.check()

    def account(self) -> Account | None:
        """Return the account; an unknown e-mail address causes the same queries.

        Raises:
            TooManyAttempts: too many attempts failed, and the account never signed in from this network.

        """
        with services().database.reading() as session:
            account = accounts.by_email(session, self.email)
            is_known = sessions.has_signed_in_from(session, account.id if account else None, self.network)
            retry_after = login_throttle.retry_after(session, self.email, now=database_clock.now())
        if retry_after and not is_known:
            raise TooManyAttempts(retry_after=retry_after)
        return account

    def verify(self, password_hash: str | None, password: str) -> bool:
        """Return whether the password matches the hash; without a hash the check takes as long.

        Raises:
            TooManyAttempts: too many checks of this network are running, or its failures reached the limit
                meanwhile, so that the outcome must not be revealed.
            Unavailable: too many checks are queued.

        """
        with _network_slot(network()):
            is_correct = passwords.verify(password_hash, password)
        if is_correct:
            self.check_limits()
            metrics.SIGN_INS.labels(outcome="right").inc()
        return is_correct

    def record_failure(
        self,
        account: Account | None,
        *,
        action: Action = Action.SIGN_IN,
        reason: str = InvalidCredentials.code,
        slows_other_networks: bool = True,
    ) -> None:
        """Count a failure, and record it in the audit log; without an account, no one is named there."""
        with services().database.transaction() as session:
            if slows_other_networks:
                login_throttle.record_failure(session, self.email, now=database_clock.now())
            record_refusal(session, account, action=action, reason=reason)
        for failures in self._failures():
            failures.add()
        metrics.SIGN_INS.labels(outcome="wrong").inc()

    def wrong_codes(self, session: Session, account_id: str, code: str) -> FailureCounter:
        """Return the counter of wrong codes that limits this one."""
        if not totp.is_app_code(code):
            return FailureCounter.for_client("recovery_code", RECOVERY_RATE, account_id)
        if sessions.has_signed_in_from(session, account_id, self.network):
            return FailureCounter.for_client("totp", TOTP_RATE, account_id)
        return FailureCounter.for_account("totp", TOTP_RATE, account_id)

    def _failures(self) -> tuple[FailureCounter, FailureCounter]:
        settings = services().settings
        return (
            FailureCounter.for_client("login", settings.limit_login_address),
            FailureCounter.for_client("login_account", settings.limit_login_account, self.email),
        )


def record_refusal(
    session: Session, account: Account | None, *, action: Action = Action.SIGN_IN, reason: str
) -> None:
    """Record a refused sign-in in the audit log; the same statement with and without an account."""
    audit_log.record(
        session,
        action,
        object_id=account.id if account else None,
        workspace_id=account.workspace_id if account else None,
        reason=reason,
        network=network_digest(),
        outcome=Outcome.FAILED,
        actor=account_actor(account.id) if account else request_actor(),
    )


@contextmanager
def record_outcome() -> Iterator[None]:
    """Count rejected attempts in the metrics; checked attempts are counted by their outcome."""
    try:
        yield
    except (TooManyAttempts, Unavailable) as problem:
        metrics.SIGN_INS.labels(outcome=problem.code).inc()
        raise


@contextmanager
def _network_slot(client_network: str) -> Iterator[None]:
    with _lock:
        if _checking[client_network] >= MAX_PER_NETWORK:
            raise TooManyAttempts(retry_after=RETRY_SECONDS)
        _checking[client_network] += 1
    try:
        yield
    finally:
        with _lock:
            _checking[client_network] -= 1
            if not _checking[client_network]:
                del _checking[client_network]
