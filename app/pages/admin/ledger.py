"""/admin/ledger: every movement of the workspace's credits, with the balance after it."""

from __future__ import annotations

from flask import Response

from app.api.http.auth import caller
from app.api.http.rate_limits import Policy, limited
from app.api.http.services import services
from app.core.ledger import ledger_pages
from app.pages.http import paging
from app.pages.http.access import admin_only
from app.pages.http.blueprint import PageBlueprint
from app.pages.http.rendering import page

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
