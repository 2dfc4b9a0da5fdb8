"""Waits for a worker's check of new credentials, so that an admin learns at once what is wrong with them.

The web process calls no CRM. If no worker gets to the check in time, or the CRM is slow, the connection stays
as it is, and the worker checks it as soon as it can.
"""

from __future__ import annotations

import time
from contextlib import suppress
from urllib.parse import urlsplit

from app.domain.errors import FieldError, Unavailable
from app.domain.kinds import PUSH, Queue
from app.domain.messages import Message
from app.features.crm import connections, sentences
from app.features.crm.connections import ConnectionStatus, CrmConnection
from app.features.crm.vendors.errors import NOT_ACCEPTED
from app.features.crm.vendors.vendor import Crm
from app.web import admission
from app.web.jobs.waiting import wait_budget
from app.web.services import services

SECONDS = 3
READ_SECONDS = 1.0
"""The time after which a waiting request reads the connection without a notification."""
_WRONG_HOST = frozenset({"refused", "unresolved", "connection", "unexpected_response", "http_404"})
"""What a host answers that is not the one of the CRM; a slow one may be."""


def awaited(connection: CrmConnection) -> CrmConnection:
    """Publish the check of new credentials; return the connection once it was made, or the wait is over.

    The transaction that stored the credentials must be committed.
    """
    app, current = services(), connection
    with wait_budget(app, SECONDS) as preference, app.listener.subscribe(connection.id) as checked:
        deadline = time.monotonic() + preference.seconds
        if not app.publisher.push(PUSH, Queue.UPKEEP, [connection.id]):
            return connection
        with admission.suspended():
            while (
                _is_open(current)
                and not app.listener.is_closed
                and (remaining := deadline - time.monotonic()) > 0
            ):
                checked.wait(min(READ_SECONDS, remaining))
                checked.clear()
                with suppress(Unavailable):
                    current = _read(connection)
    return current


def refusal(crm: Crm, connection: CrmConnection) -> FieldError | None:
    """Return what is wrong with the credentials of a checked connection, and what to do; None if nothing is.

    The host is wrong only if each workspace has its own.
    """
    error = connection.error or ""
    is_refused = connection.status == ConnectionStatus.RECONNECT
    if crm.needs_url and error in _WRONG_HOST:
        host = urlsplit(connection.base_url or "").hostname
        reason = sentences.HOSTS.get(error, sentences.NOT_THE_CRM).format(host=host, crm=crm.title)
        return FieldError("/base_url", Message("{reason} Check the address.", reason=reason))
    if error == NOT_ACCEPTED:
        detail = Message(
            "{crm} does not accept the token. Copy {key} again.", crm=crm.title, key=crm.key_name
        )
        return FieldError("/token", detail)
    if error == "forbidden":
        detail = Message("The token lacks a permission in {crm}. {help}", crm=crm.title, help=crm.key_help)
        return FieldError("/token", detail)
    return FieldError("/token", sentences.sentence(error)) if is_refused else None


def _is_open(connection: CrmConnection) -> bool:
    return connection.status == ConnectionStatus.CHECKING and connection.error is None


def _read(connection: CrmConnection) -> CrmConnection:
    app = services()
    with app.bulkhead.db_slot(connection.workspace_id), app.database.reading() as session:
        return connections.get(session, connection.workspace_id, connection.id)
