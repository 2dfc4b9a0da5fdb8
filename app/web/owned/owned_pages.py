"""Reads the caller's people: one page, or all of them in batches for a download."""

from __future__ import annotations

from collections.abc import Iterator

from flask import Response

from app.domain.audit_actions import Action
from app.domain.callers import Scope
from app.domain.errors import FieldError, InvalidValue, ValidationFailed
from app.engine.owned import owned_contacts, owned_exports
from app.engine.owned.owned_contacts import OwnedContact, OwnedPage
from app.engine.owned.owned_filters import Cursor, Selection
from app.infra.database.db import Database
from app.web.bodies.downloads import json_download, table_download
from app.web.export_records import record_export
from app.web.services import services
from app.web.sign_in.admins import acts_as_admin, reads_as_admin
from app.web.sign_in.auth import caller

BATCH_SIZE = 500


def may_see_values() -> bool:
    """Return whether the caller may see revealed values: a session, or a key with the scope `reveal`."""
    return Scope.REVEAL in caller().scopes


def parse_cursor(text: str | None, selection: Selection) -> Cursor | None:
    """Return the cursor in a query string."""
    if text is None:
        return None
    try:
        return Cursor.parse(text, selection)
    except InvalidValue as error:
        raise ValidationFailed(errors=(FieldError("/cursor", str(error)),)) from error


def read_page(selection: Selection, *, after: Cursor | None, limit: int) -> OwnedPage:
    """Return one page of the caller's people."""
    with services().database.reading() as session:
        return owned_contacts.page(
            session,
            caller().workspace_id,
            selection,
            after=after,
            limit=limit,
            as_admin=acts_as_admin(session, caller()),
        )


def download(selection: Selection, file_format: str, *, for_spreadsheet: bool = False) -> Response:
    """Return all of the caller's people that the selection matches, as a file."""
    record_export(Action.EXPORT_CONTACTS)
    workspace_id, with_values = caller().workspace_id, may_see_values()
    people = _all(services().database, workspace_id, selection, as_admin=reads_as_admin())
    if file_format == "json":
        return json_download("contacts", (person.public(with_values=with_values) for person in people))
    with services().database.reading() as session:
        columns = owned_exports.columns(session, workspace_id)
    rows = (owned_exports.row(person, with_values=with_values) for person in people)
    return table_download("contacts", columns, rows, file_format, for_spreadsheet=for_spreadsheet)


def _all(
    database: Database, workspace_id: str, selection: Selection, *, as_admin: bool
) -> Iterator[OwnedContact]:
    """Yield all people in batches, each read in a session of its own: a slow reader holds no connection."""
    cursor = None
    while True:
        with database.reading() as session:
            batch = owned_contacts.page(
                session, workspace_id, selection, after=cursor, limit=BATCH_SIZE, as_admin=as_admin
            )
        yield from batch.contacts
        cursor = batch.next_cursor
        if cursor is None:
            return
