"""Changes of the people of the caller's workspace."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from app.engine.owned import owned_contacts, owned_edits
from app.engine.owned.owned_contacts import OwnedContact
from app.engine.owned.owned_edits import Edit
from app.infra.database import database_clock
from app.web import admission
from app.web.bodies.idempotency_header import is_replay
from app.web.sign_in.admins import acts_as_admin
from app.web.sign_in.auth import caller


def edit(now: datetime) -> Edit:
    """Return the edit of the caller."""
    return Edit(workspace_id=caller().workspace_id, account_id=caller().account_id, now=now)


def annotate(person_id: str, notes: Mapping[str, Any]) -> tuple[OwnedContact, bool]:
    """Replace the notes (see `NotesSchema`); return the person, and whether the request is a replay."""
    with admission.transaction() as session:
        now = database_clock.value(session)
        replayed = is_replay(session, person_id, now=now)
        if not replayed:
            owned_edits.annotate(session, edit(now), person_id, **notes)
        who = caller()
        return owned_contacts.get(
            session, who.workspace_id, person_id, as_admin=acts_as_admin(session, who)
        ), replayed
