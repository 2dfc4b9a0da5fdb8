"""/admin: the workspace at a glance, for its admins."""

from __future__ import annotations

from datetime import timedelta

from flask import Response
from sqlalchemy import func, select

from app.engine.accounts import accounts
from app.engine.jobs.jobs import Job
from app.infra.database import database_clock
from app.web.pages.access import admin_only
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.rendering import page
from app.web.rate_limits import Policy, limited
from app.web.services import services
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("admin", __name__)
DAYS = 7


@blueprint.get("/admin")
@admin_only
@limited(Policy.READ)
def index() -> Response:
    """Show accounts, credits, and what became of the requests of the last days."""
    with services().database.reading() as session:
        rows = accounts.of_workspace(session, caller().workspace_id)
        since = database_clock.value(session) - timedelta(days=DAYS)
        query = (
            select(Job.kind, Job.status, Job.outcome, func.count(), func.sum(Job.charged))
            .where(Job.workspace_id == caller().workspace_id, Job.created_at >= since)
            .group_by(Job.kind, Job.status, Job.outcome)
            .order_by(func.count().desc())
        )
        results = session.execute(query).all()
    return page(
        "admin/start.html",
        active=sum(row.disabled_at is None for row in rows),
        disabled=sum(row.disabled_at is not None for row in rows),
        results=results,
        charged=sum(row[4] for row in results),
        days=DAYS,
    )
