"""A worker's turn with one CRM connection: tokens, the check of credentials, then contact after contact."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import TypeVar

from app.features.crm import mapping, outbox, push_attempts
from app.features.crm.outbox import Turn
from app.features.crm.push_attempts import Attempt, ItemResult
from app.features.crm.pushes import PushOutcome
from app.features.crm.turn import accounts, authorization, results
from app.features.crm.turn.pushing import ContactPush
from app.features.crm.turn.transport import Transport
from app.features.crm.vendors.errors import NOT_ACCEPTED, AccessRefused, Rejected, Throttled, Unreachable
from app.features.crm.vendors.exchange import Request, Response
from app.features.crm.vendors.vendor import Crm
from app.infra.database import database_clock
from app.infra.database.db import Database
from app.infra.telemetry.log import log
from workers.webhook_client import WebhookClient

T = TypeVar("T")

TURN_SECONDS = 10.0
"""How long a turn begins contacts; then the worker is free for others, and the connection due again."""
TURNS_PER_MINUTE = 4
"""The requests of a minute are spread over at least so many turns."""
THROTTLED_SECONDS = 10.0
MAX_THROTTLED_SECONDS = 86_400.0
UNREACHABLE_SECONDS = 30.0
CHECK_SECONDS = 300.0
"""The pause between checks of a CRM that has never answered: its address may be wrong."""
UNEXPECTED = (LookupError, TypeError, ValueError, AttributeError, RecursionError)
"""What reading a response raises that is not as the CRM documents it."""


class CrmTurn:
    """The work on a connection whose lease was taken; no transaction is open during a request."""

    def __init__(self, database: Database, crm: Crm, turn: Turn, client: WebhookClient) -> None:
        self._database = database
        self._crm = crm.for_turn(turn.new_people)
        self._turn = turn
        self._credentials = turn.credentials
        self._granted_account: str | None = None
        self._started = time.monotonic()
        base_url = self._credentials.api_url or turn.base_url or crm.base_url
        self._transport = Transport(client, base_url, authorization.headers(self._crm, self._credentials))
        self._tokens = Transport(client, (crm.oauth and crm.oauth.server) or turn.base_url or crm.base_url)

    def run(self) -> None:
        """Work until nothing is due, the time or the requests of the turn are used up, or the CRM refuses."""
        try:
            self._authorize()
            while self._may_go_on() and self._push_next():
                pass
        except (AccessRefused, Rejected) as refusal:
            log.warning("crm refused access", connection=self._turn.connection_id, reason=refusal.reason)
            self._end(refused=refusal.reason)
        except Throttled as throttle:
            seconds = min(throttle.seconds or THROTTLED_SECONDS, MAX_THROTTLED_SECONDS)
            self._end(pause=seconds, error="rate_limited")
        except Unreachable as failure:
            pause = UNREACHABLE_SECONDS if self._turn.is_checked else CHECK_SECONDS
            self._end(pause=pause, error=failure.reason)
        else:
            self._end(pause=0.0 if self._may_go_on() else self._pause())

    def _authorize(self) -> None:
        """Renew the tokens if they expire, and check the credentials if they are new."""
        if authorization.is_due(self._credentials):
            self._renew()
        if not self._turn.is_checked:
            self._reading(lambda: self._crm.check(self._send))
        if not self._turn.is_checked or self._turn.account is None:
            self._identify()
        if not self._turn.is_checked:
            self._read_properties()
            with self._database.transaction() as session:
                outbox.confirm(session, self._turn, now=database_clock.now())

    def _identify(self) -> None:
        """Store the account of the CRM to which new credentials belong, which it keeps from then on."""
        account = self._granted_account or self._reading(
            lambda: accounts.read(self._crm, self._send, self._credentials.token)
        )
        accounts.compare(self._turn.account, account)
        if account is not None and not self._turn.account:
            with self._database.transaction() as session:
                outbox.store_account(session, self._turn, account, now=database_clock.now())

    def _read_properties(self) -> None:
        """Store the properties that the CRM has; without them, what is mapped is not checked."""
        try:
            found = self._reading(lambda: self._crm.properties(self._send))
        except AccessRefused as refusal:
            if refusal.reason == NOT_ACCEPTED:
                raise
            return
        except (Rejected, Throttled, Unreachable):
            return
        with self._database.transaction() as session:
            outbox.store_properties(session, self._turn, found, now=database_clock.now())

    def _renew(self) -> None:
        grant = authorization.renew(self._crm, self._tokens, self._credentials)
        self._credentials, self._granted_account = grant.credentials, grant.account
        self._transport.credentials = authorization.headers(self._crm, self._credentials)
        self._transport.base_url = self._credentials.api_url or self._transport.base_url
        with self._database.transaction() as session:
            outbox.store_credentials(session, self._turn, self._credentials, now=database_clock.now())

    def _send(self, request: Request) -> Response:
        """Send the request; renew a token that the CRM does not accept any more, once."""
        response = self._transport.send(request)
        if not (self._credentials.refresh_token and self._crm.is_token_refused(response)):
            return response
        self._renew()
        return self._transport.send(request)

    def _push_next(self) -> bool:
        """Push the next contact that is due, or end it if it may not be pushed; return False without one."""
        with self._database.transaction() as session:
            attempt = push_attempts.next_attempt(session, self._turn, now=database_clock.now())
        if attempt is None:
            return False
        if attempt is PushOutcome.SKIPPED:
            return True
        started = time.monotonic()
        try:
            pushed = self._reading(self._contact_push(attempt).run)
        except Rejected as rejection:
            self._finish(attempt, results.rejected(rejection, started))
        except Unreachable as failure:
            self._postpone(attempt, failure)
            raise
        except (AccessRefused, Throttled):
            with self._database.transaction() as session:
                push_attempts.requeue(session, self._turn, attempt, now=database_clock.now())
            raise
        else:
            self._finish(attempt, results.pushed(pushed, started))
        return True

    def _reading(self, call: Callable[[], T]) -> T:
        """Call a function that reads responses; one that is not as documented counts as none.

        Raises:
            Unreachable: it was not, or there was none; what it contained is not logged.

        """
        try:
            return call()
        except UNEXPECTED:
            raise Unreachable("unexpected_response") from None

    def _contact_push(self, attempt: Attempt) -> ContactPush:
        def note(values: Mapping[str, str]) -> None:
            with self._database.transaction() as session:
                push_attempts.note_values(session, self._turn, attempt, values, now=database_clock.now())

        fields, person = mapping.applied(self._turn.mapping, self._turn.constants, attempt.person)
        return ContactPush(
            crm=self._crm,
            send=self._send,
            mapping=fields,
            person=person,
            written=attempt.written,
            company_id=attempt.company_id,
            dry_run=attempt.dry_run,
            updates_only=attempt.updates_only,
            indexed=attempt.indexed,
            before_writing=note,
        )

    def _finish(self, attempt: Attempt, result: ItemResult) -> None:
        with self._database.transaction() as session:
            push_attempts.finish(session, self._turn, attempt, result, now=database_clock.now())
        log.info(
            "contact pushed",
            crm=self._crm.name,
            connection=self._turn.connection_id,
            item=attempt.item_id,
            outcome=result.outcome.value,
            error=result.error,
            ms=result.latency_ms,
        )

    def _postpone(self, attempt: Attempt, failure: Unreachable) -> None:
        with self._database.transaction() as session:
            now = database_clock.now()
            push_attempts.postpone(session, self._turn, attempt, failure.reason, now=now)

    def _may_go_on(self) -> bool:
        is_in_time = time.monotonic() - self._started < TURN_SECONDS
        return is_in_time and self._transport.calls < self._crm.calls_per_minute / TURNS_PER_MINUTE

    def _pause(self) -> float:
        """Return the seconds until the requests of a turn that was cut short are within the CRM's rate."""
        earned = self._transport.calls * 60 / self._crm.calls_per_minute
        return max(0.0, earned - (time.monotonic() - self._started))

    def _end(self, *, pause: float = 0.0, refused: str | None = None, error: str | None = None) -> None:
        with self._database.transaction() as session:
            outbox.end(
                session,
                self._turn,
                pause=timedelta(seconds=pause),
                refused=refused,
                error=error,
                now=database_clock.now(),
            )
