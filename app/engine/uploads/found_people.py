"""The people whom an uploaded list found, as contacts of the workspace."""

from __future__ import annotations

from sqlalchemy import select, tuple_

from app.engine.ledger.reveals import RevealedValue
from app.engine.uploads import results
from app.engine.uploads.upload_tables import Upload
from app.infra.crypto.blind_indexes import stored_forms
from app.infra.database.session import Session


def contact_ids(session: Session, upload: Upload, *, first: int, limit: int) -> tuple[list[str], int | None]:
    """Return the contacts whom these rows found, and the number of the next row, or None after the last.

    A result names values. Its contact is the one under which the workspace revealed them.
    """
    rows = results.rows(session, upload, first=first, limit=limit)
    emails = stored_forms(session, "email", [row.email for row in rows if row.email])
    phones = stored_forms(session, "phone", [row.phone for row in rows if row.phone])
    values = [*(("email", form) for form in emails), *(("phone", form) for form in phones)]
    query = select(RevealedValue.contact_id).where(
        RevealedValue.workspace_id == upload.workspace_id,
        tuple_(RevealedValue.field, RevealedValue.value_index).in_(values),
    )
    found = sorted(set(session.scalars(query))) if values else []
    return found, rows[-1].number + 1 if len(rows) == limit else None
