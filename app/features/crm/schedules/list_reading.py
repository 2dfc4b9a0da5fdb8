"""A worker's turn at reading the list of a schedule: page after page, in a share of the CRM's rate."""

from __future__ import annotations

from datetime import timedelta

from app.features.crm.schedules import marking, runs, selection
from app.features.crm.schedules.runs import LIST_FORBIDDEN, LIST_GONE, LIST_REFUSED, Access, Step
from app.features.crm.turn import authorization
from app.features.crm.turn.pace import Pace
from app.features.crm.turn.reading import SHARE_BESIDE_PUSHES, THROTTLED_SECONDS, UNREACHABLE
from app.features.crm.turn.transport import Transport
from app.features.crm.turn.turn import MAX_THROTTLED_SECONDS, UNEXPECTED
from app.features.crm.vendors.errors import NOT_ACCEPTED, AccessRefused, Rejected, Throttled, Unreachable
from app.features.crm.vendors.exchange import Request, Response
from app.features.crm.vendors.members import NOT_OF_PEOPLE, WITHOUT_IDS, Members
from app.features.crm.vendors.vendor import Crm
from app.infra.database import database_clock
from app.infra.database.db import Database
from app.infra.telemetry.log import log
from workers.webhook_client import WebhookClient

_NOT_FOUND = "http_404"


class ListReading:
    """The reading of a list whose schedule has a turn; no transaction is open during a request."""

    def __init__(
        self, database: Database, crm: Crm, step: Step, access: Access, client: WebhookClient
    ) -> None:
        self._database = database
        self._crm = crm.for_turn()
        self._step = step
        self._access = access
        self._pace = Pace(crm.calls_per_minute * SHARE_BESIDE_PUSHES, step.work.late)
        self._transport = Transport(
            client, access.base_url or crm.base_url, authorization.headers(crm, access.credentials)
        )

    def run(self) -> None:
        """Read until the list ends, the rate allows no more at the moment, or the CRM refuses."""
        if authorization.is_due(self._access.credentials):
            with self._database.transaction() as session:
                runs.await_renewal(session, self._step, now=database_clock.now())
            return
        try:
            self._read_pages()
        except AccessRefused as refusal:
            self._refused(refusal.reason)
        except Rejected as rejection:
            self._rejected(rejection.reason)
        except Throttled as throttle:
            seconds = min(throttle.seconds or THROTTLED_SECONDS, MAX_THROTTLED_SECONDS)
            self._wait("rate_limited", timedelta(seconds=seconds))
        except Unreachable as failure:
            self._wait(failure.reason, UNREACHABLE)
        else:
            with self._database.transaction() as session:
                pause = self._pace.pause(self._transport.calls)
                runs.go_on(session, self._step, pause=pause, now=database_clock.now())

    def _read_pages(self) -> None:
        position = self._access.position
        while True:
            page = self._page(position)
            if page.position is not None and page.position == position:
                raise Unreachable("same_page")  # it would be read for ever
            with self._database.transaction() as session:
                now = database_clock.now()
                held = runs.hold(session, self._step, now=now)
                at = database_clock.value(session, now)
                position = selection.store(session, held, page, at=at)
                marking.store(session, held, page.ids, at=at)
            if position is None or not self._pace.may_go_on(self._transport.calls):
                return

    def _page(self, position: str | None) -> Members:
        """Return the page at this position.

        Raises:
            CrmError: the CRM did not do what was asked, or answered not as it documents.

        """
        access = self._access
        try:
            page = self._crm.member_lists.page(self._ask, access.list_id, access.kind, position)
        except UNEXPECTED:
            raise Unreachable("unexpected_response") from None
        log.info("crm list read", crm=access.vendor, schedule=self._step.schedule_id, members=len(page.ids))
        return page

    def _ask(self, request: Request) -> Response:
        return self._crm.raise_for_status(self._transport.send(request))

    def _refused(self, reason: str) -> None:
        """Have the credentials checked, or stop: they lack the permission to read lists."""
        log.warning("crm refused its list", schedule=self._step.schedule_id, reason=reason)
        with self._database.transaction() as session:
            now = database_clock.now()
            if reason == NOT_ACCEPTED:
                runs.have_checked(session, self._step, now=now)
            else:
                runs.refuse(session, self._step, LIST_FORBIDDEN, now=now)

    def _rejected(self, reason: str) -> None:
        """Stop: the CRM has no such list, or one that does not name people."""
        log.warning("crm refused its list", schedule=self._step.schedule_id, reason=reason)
        known = {_NOT_FOUND: LIST_GONE, NOT_OF_PEOPLE: NOT_OF_PEOPLE, WITHOUT_IDS: WITHOUT_IDS}
        with self._database.transaction() as session:
            runs.refuse(session, self._step, known.get(reason, LIST_REFUSED), now=database_clock.now())

    def _wait(self, reason: str, pause: timedelta) -> None:
        with self._database.transaction() as session:
            runs.wait(session, self._step, reason, pause=pause, now=database_clock.now())
