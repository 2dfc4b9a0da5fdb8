"""Maintenance steps: work beside jobs, started by Celery beat, by a message, or by the sweeper."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from app.domain.errors import Unavailable
from app.infra.broker import celery_app
from app.infra.telemetry.log import log
from workers.execution import worker_services

Work: TypeAlias = Callable[..., object]


def task(name: str) -> Callable[[Work], Callable[..., None]]:
    """Register a function as the Celery task of this name; its failure is logged as by `attempt`.

    It receives the id in the message, if there is one, and the services of the process.
    """

    def register(work: Work) -> Callable[..., None]:
        def run(*ids: str) -> None:
            fields = {"id": ids[0]} if ids else {}
            attempt(lambda: work(*ids, worker_services.current()), step=name, **fields)

        registered: Callable[..., None] = celery_app.celery.task(run, name=name)
        return registered

    return register


def attempt(work: Callable[[], object], *, step: str | None = None, **fields: Any) -> None:
    """Call the function and log its failure, so that other steps still run; what is due remains due.

    Celery, like Python in a thread, would log the exception's text, which may contain personal data. `step`
    is the name of the step in the log, by default the name of the function.
    """
    try:
        work()
    except Unavailable:
        log.warning("database unavailable, maintenance step postponed", step=step or _name(work), **fields)
    except Exception as error:  # noqa: BLE001 -- nothing above catches it
        log.error("maintenance step failed", step=step or _name(work), **fields, exc_info=error)


def _name(work: Callable[..., object]) -> str:
    """Return the module and name of the function that is called, as in `sessions.purge_expired`."""
    while isinstance(work, partial):
        work = next(filter(callable, work.args), work.func)
    return f"{work.__module__.rpartition('.')[2]}.{work.__name__}"
