"""A worker's turn at reading the people of one CRM: page after page, in a share of the CRM's rate."""

from __future__ import annotations

from datetime import timedelta

from app.features.crm.index import readings
from app.features.crm.index.readings import INTERVAL, Place, Turn
from app.features.crm.turn import authorization
from app.features.crm.turn.pace import Pace
from app.features.crm.turn.transport import Transport
from app.features.crm.turn.turn import MAX_THROTTLED_SECONDS, UNEXPECTED
from app.features.crm.vendors.errors import NOT_ACCEPTED, AccessRefused, Rejected, Throttled, Unreachable
from app.features.crm.vendors.reading import Page
from app.features.crm.vendors.vendor import Crm
from app.infra.database import database_clock
from app.infra.database.db import Database
from app.infra.telemetry.log import log
from workers.webhook_client import WebhookClient

SHARE, SHARE_BESIDE_PUSHES = 0.5, 0.1
"""The share of the CRM's rate; pushes and the smaller one are together below the limits that CRMs publish."""
THROTTLED_SECONDS = 60.0
UNREACHABLE = timedelta(minutes=5)
REFUSED = timedelta(hours=1)


class ReadingTurn:
    """The reading of a CRM whose lease was taken; no transaction is open during a request.

    `crm` is the connection's own: what it remembers costs no requests in the other turns of a pass.
    """

    def __init__(self, database: Database, crm: Crm, turn: Turn, client: WebhookClient) -> None:
        self._database = database
        self._crm = crm
        self._turn = turn
        share = SHARE_BESIDE_PUSHES if turn.waits_for_pushes else SHARE
        self._pace = Pace(crm.calls_per_minute * share, turn.work.late)
        base_url = turn.credentials.api_url or turn.base_url or crm.base_url
        self._transport = Transport(client, base_url, authorization.headers(crm, turn.credentials))

    def run(self) -> None:
        """Read until the pass ends, the rate allows no more at the moment, or the CRM refuses."""
        if authorization.is_due(self._turn.credentials):
            with self._database.transaction() as session:
                readings.await_renewal(session, self._turn, now=database_clock.now())
            return
        try:
            is_over = self._read_pages()
        except AccessRefused as refusal:
            self._refused(refusal)
        except Rejected as rejection:
            self._end(REFUSED, rejection.reason, starts_over=True)
        except Throttled as throttle:
            seconds = min(throttle.seconds or THROTTLED_SECONDS, MAX_THROTTLED_SECONDS)
            self._end(timedelta(seconds=seconds), "rate_limited")
        except Unreachable as failure:
            self._end(UNREACHABLE, failure.reason)
        else:
            self._end(INTERVAL if is_over else self._pace.pause(self._transport.calls))

    def _read_pages(self) -> bool:
        """Read and store pages; return whether the pass is over."""
        place: Place | None = self._turn.place
        while place is not None:
            page = self._page(place)
            with self._database.transaction() as session:
                place = readings.store(session, self._turn, page, now=database_clock.now())
            if not self._pace.may_go_on(self._transport.calls):
                break
        return place is None and self._end_pass()

    def _end_pass(self) -> bool:
        """Delete what the CRM no longer has after a full pass; return whether the pass is over."""
        if self._turn.place.since is not None:
            return True
        while True:
            with self._database.transaction() as session:
                if readings.end_full(session, self._turn, now=database_clock.now()):
                    return True
            if not self._pace.has_time:
                return False

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
        if refusal.reason != NOT_ACCEPTED or self._turn.is_refused_again:
            self._end(REFUSED, refusal.reason)
            return
        with self._database.transaction() as session:
            readings.refuse(session, self._turn, now=database_clock.now())

    def _end(self, pause: timedelta, error: str | None = None, *, starts_over: bool = False) -> None:
        with self._database.transaction() as session:
            readings.end(
                session,
                self._turn,
                pause=pause,
                error=error,
                starts_over=starts_over,
                now=database_clock.now(),
            )
