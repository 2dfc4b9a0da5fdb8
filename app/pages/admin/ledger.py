"""/admin/ledger: every movement of the workspace's credits, with the balance after it."""

from __future__ import annotations

from flask import Response

from app.engine.ledger import ledger_pages
from app.web.pages import paging
from app.web.pages.access import admin_only
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.rendering import page
from app.web.rate_limits import Policy, limited
from app.web.services import services
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("admin_ledger", __name__)


@blueprint.get("/admin/ledger")
@admin_only
@limited(Policy.READ)
def index() -> Response:
    """List the entries, newest first."""
    before = paging.cursor("led")
    with services().database.reading() as session:
        rows = ledger_pages.latest(session, caller().workspace_id, before=before, limit=paging.ROWS + 1)
    entries, older = paging.split(rows, lambda row: row.entry.id)
    return page("admin/ledger.html", entries=entries, older=older)
