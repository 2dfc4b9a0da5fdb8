"""/admin/queues: what waits in the queues, and who works on it, for operators."""

from __future__ import annotations

from flask import Response

from app.engine.queues import backlog, queue_health, worker_heartbeats
from app.infra.database import database_clock
from app.web.pages.access import operator_only
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.rendering import page
from app.web.rate_limits import Policy, limited
from app.web.services import services

blueprint = PageBlueprint("admin_queues", __name__)


@blueprint.get("/admin/queues")
@operator_only
@limited(Policy.READ)
def index() -> Response:
    """Show each queue's jobs, its oldest wait and its workers."""
    with services().database.reading() as session:
        now = database_clock.value(session)
        queues = queue_health.by_queue(session, now=now)
        waiting = backlog.by_queue(session)
        counts = [count for count in backlog.counts(session) if count.jobs]
        workers = [
            (row, worker_heartbeats.state(row, now=now)) for row in worker_heartbeats.list_all(session)
        ]
    return page(
        "admin/queues.html",
        queues=list(queues.values()),
        waiting=waiting,
        counts=counts,
        workers=workers,
        limit=services().settings.ready_progress_seconds,
        flower_url=services().settings.flower_url,
    )
