"""/admin/audit-log: who did what in the workspace; for operators, in the whole deployment."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from urllib.parse import urlencode

from flask import Response, request, url_for

from app.domain.audit_actions import Action
from app.domain.errors import FieldError, ValidationFailed
from app.domain.messages import Message
from app.engine.accounts import accounts
from app.engine.audit_log import listing
from app.engine.audit_log.listing import EntryFilter
from app.infra.database.db import Database
from app.web.bodies.downloads import TABLES, table_download
from app.web.export_records import record_export
from app.web.pages import paging
from app.web.pages.access import admin_only, operator_only
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.rendering import page
from app.web.rate_limits import Policy, limited
from app.web.services import services
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("admin_audit_log", __name__)
BATCH_SIZE = 1000
ACTIONS = [*((action.value, action.value.replace("_", " ")) for action in Action), ("command", "commands")]
MAX_DIGITS = 18
_DATE = Message("Use a date such as 2026-11-20.")


@blueprint.get("/admin/audit-log")
@admin_only
@limited(Policy.READ)
def index() -> Response:
    """List the entries of the workspace, newest first."""
    return _page(caller().workspace_id, "admin_audit_log.index", "admin_audit_log.download")


@blueprint.get("/admin/audit-log.csv", defaults={"file_format": "csv"})
@blueprint.get("/admin/audit-log.xlsx", defaults={"file_format": "xlsx"})
@admin_only
@limited(Policy.READ)
def download(file_format: str) -> Response:
    """Download the entries of the workspace that the filters select."""
    return _download(caller().workspace_id, file_format)


@blueprint.get("/admin/all-audit-log")
@operator_only
@limited(Policy.READ)
def everything() -> Response:
    """List the entries of all workspaces and of commands, newest first."""
    return _page(None, "admin_audit_log.everything", "admin_audit_log.download_everything")


@blueprint.get("/admin/all-audit-log.csv", defaults={"file_format": "csv"})
@blueprint.get("/admin/all-audit-log.xlsx", defaults={"file_format": "xlsx"})
@operator_only
@limited(Policy.READ)
def download_everything(file_format: str) -> Response:
    """Download the entries of the deployment that the filters select."""
    return _download(None, file_format)


def _page(workspace_id: str | None, own: str, file: str) -> Response:
    entry_filter, before = _filter(workspace_id), _before()
    with services().database.reading() as session:
        rows = listing.page(session, entry_filter, before=before, limit=paging.ROWS + 1)
        team = (
            accounts.list_all(session)
            if workspace_id is None
            else accounts.of_workspace(session, workspace_id)
        )
    entries, older = paging.split(rows, lambda entry: str(entry.position))
    given = {name: request.args.get(name, "") for name in ("action", "actor", "object", "from", "to")}
    query = urlencode({name: value for name, value in given.items() if value})
    return page(
        "admin/audit_log.html",
        entries=entries,
        older=older,
        own=url_for(own),
        files={name: f"{url_for(file, file_format=name)}?{query}" for name in TABLES},
        is_of_all=workspace_id is None,
        names={account.id: account.name for account in team},
        actions=ACTIONS,
        given=given,
    )


def _download(workspace_id: str | None, file_format: str) -> Response:
    entry_filter = _filter(workspace_id)
    record_export(Action.EXPORT_AUDIT_LOG)
    rows = _all(services().database, entry_filter)
    return table_download("audit-log", listing.COLUMNS, rows, file_format, for_spreadsheet=True)


def _all(database: Database, entry_filter: EntryFilter) -> Iterator[dict[str, str]]:
    """Yield all rows in batches, each read in a session of its own: a slow reader holds no connection."""
    before = None
    while True:
        with database.reading() as session:
            batch = listing.page(session, entry_filter, before=before, limit=BATCH_SIZE)
        yield from map(listing.row, batch)
        if len(batch) < BATCH_SIZE:
            return
        before = batch[-1].position


def _filter(workspace_id: str | None) -> EntryFilter:
    """Return the filter in the query string."""
    return EntryFilter(
        workspace_id=workspace_id,
        action=_text("action"),
        actor=_text("actor"),
        object=_text("object"),
        since=_day("from", plus=0),
        until=_day("to", plus=1),
    )


def _text(name: str) -> str:
    text = request.args.get(name, "").strip()
    if not text.isprintable():
        raise ValidationFailed(errors=(FieldError(f"/{name}", "Leave out control characters."),))
    return text


def _day(name: str, *, plus: int) -> datetime | None:
    """Return the start of the day that follows the given one by `plus` days, or None if there is none."""
    text = request.args.get(name, "")
    if not text:
        return None
    try:
        return datetime.combine(date.fromisoformat(text) + timedelta(days=plus), time(), UTC)
    except (ValueError, OverflowError) as error:
        raise ValidationFailed(errors=(FieldError(f"/{name}", _DATE),)) from error


def _before() -> int | None:
    """Return the position before which this page starts, or None for the first page."""
    text = request.args.get("before")
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS):
        raise ValidationFailed(errors=(FieldError("/before", "Use the link of the previous page."),))
    return int(text)
