"""/admin/imports: the imports that workers run, and the runs of imports, for operators."""

from __future__ import annotations

from flask import Response

from app.engine.lists import import_runs
from app.features.imports import queued_imports
from app.web.pages.access import operator_only
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.rendering import page
from app.web.rate_limits import Policy, limited
from app.web.services import services

blueprint = PageBlueprint("admin_imports", __name__, template_folder="templates")
ROWS = 100


@blueprint.get("/admin/imports")
@operator_only
@limited(Policy.READ)
def index() -> Response:
    """List the queued imports with their progress, and the latest runs with their rows and times."""
    with services().database.reading() as session:
        return page(
            "imports.html",
            queued=queued_imports.latest(session, limit=ROWS),
            runs=import_runs.latest(session, limit=ROWS),
            limit=ROWS,
        )
