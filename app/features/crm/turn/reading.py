"""A worker's turn at reading the people of one CRM: page after page, in a share of the CRM's rate."""

from __future__ import annotations

import time
from datetime import timedelta

from app.features.crm.index import readings
from app.features.crm.index.readings import INTERVAL, UNAUTHORIZED, Place, Turn
from app.features.crm.turn import authorization
from app.features.crm.turn.transport import Transport
from app.features.crm.turn.turn import MAX_THROTTLED_SECONDS, TURN_SECONDS, TURNS_PER_MINUTE, UNEXPECTED
from app.features.crm.vendors.errors import AccessRefused, Rejected, Throttled, Unreachable
from app.features.crm.vendors.reading import Page
from app.features.crm.vendors.vendor import Crm
from app.infra.database import database_clock
from app.infra.database.db import Database
from app.infra.telemetry.log import log
from workers.webhook_client import WebhookClient

SHARE, SHARE_BESIDE_PUSHES = 0.5, 0.1
"""The share of the CRM's rate; pushes and the smaller one are together below the limits that CRMs publish."""
THROTTLED_SECONDS = 60.0
UNREACHABLE_SECONDS = 300.0
REFUSED_SECONDS = 3600.0


class ReadingTurn:
    """The reading of a CRM whose lease was taken; no transaction is open during a request."""

    def __init__(self, database: Database, crm: Crm, turn: Turn, client: WebhookClient) -> None:
        self._database = database
        self._crm = crm.for_turn()
        self._turn = turn
        self._started = time.monotonic()
        self._has_changed = False
        self._rate = crm.calls_per_minute * (SHARE_BESIDE_PUSHES if turn.waits_for_pushes else SHARE)
        base_url = turn.credentials.api_url or turn.base_url or crm.base_url
        self._transport = Transport(client, base_url, authorization.headers(crm, turn.credentials))

    def run(self) -> None:
        """Read until the pass ends, the time or the requests of the turn are used up, or the CRM refuses."""
        if authorization.is_due(self._turn.credentials):
            with self._database.transaction() as session:
                readings.await_renewal(session, self._turn, now=database_clock.now())
            return
        try:
            is_over = self._read_pages()
        except AccessRefused as refusal:
            self._refused(refusal)
        except Rejected as rejection:
            self._end(pause=REFUSED_SECONDS, error=rejection.reason, starts_over=True)
        except Throttled as throttle:
            seconds = min(throttle.seconds or THROTTLED_SECONDS, MAX_THROTTLED_SECONDS)
            self._end(pause=seconds, error="rate_limited")
        except Unreachable as failure:
            self._end(pause=UNREACHABLE_SECONDS, error=failure.reason)
        else:
            self._end(pause=INTERVAL.total_seconds() if is_over else self._pause())

    def _read_pages(self) -> bool:
        """Read and store pages; return whether the pass is over."""
        place: Place | None = self._turn.place
        while place is not None:
            page = self._page(place)
            with self._database.transaction() as session:
                place = readings.store(session, self._turn, page, now=database_clock.now())
            self._has_changed = self._has_changed or bool(page.people or page.gone)
            if not self._may_go_on():
                break
        return place is None

    def _page(self, place: Place) -> Page:
        """Return the page at this place.

        Raises:
            CrmError: the CRM did not do what was asked, or answered not as it documents.

        """
        try:
            page = self._crm.changed(
                self._transport.send, self._turn.mapping, since=place.since, position=place.position
            )
        except UNEXPECTED:
            raise Unreachable("unexpected_response") from None
        if page.position is not None and page.position == place.position:
            raise Rejected("same_page")  # it would be read for ever
        log.info(
            "crm page read",
            crm=self._crm.name,
            connection=self._turn.connection_id,
            records=len(page.people),
            full=place.since is None,
        )
        return page

    def _refused(self, refusal: AccessRefused) -> None:
        log.warning("crm refused to be read", connection=self._turn.connection_id, reason=refusal.reason)
        if refusal.reason != UNAUTHORIZED or self._turn.is_refused_again:
            self._end(pause=REFUSED_SECONDS, error=refusal.reason)
            return
        with self._database.transaction() as session:
            readings.refuse(session, self._turn, now=database_clock.now())

    def _may_go_on(self) -> bool:
        is_in_time = time.monotonic() - self._started < TURN_SECONDS
        return is_in_time and self._transport.calls < self._rate / TURNS_PER_MINUTE

    def _pause(self) -> float:
        """Return the seconds until the requests of a turn that was cut short are within the rate."""
        return max(0.0, self._transport.calls * 60 / self._rate - (time.monotonic() - self._started))

    def _end(self, *, pause: float, error: str | None = None, starts_over: bool = False) -> None:
        with self._database.transaction() as session:
            readings.end(
                session,
                self._turn,
                pause=timedelta(seconds=pause),
                has_changed=self._has_changed,
                error=error,
                starts_over=starts_over,
                now=database_clock.now(),
            )
