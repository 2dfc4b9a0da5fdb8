"""Changes of a list by everybody whom a selection matches, in rounds: a request is answered within seconds.

Who is changed is read while it is done, not taken from a list of ids: people who come to match meanwhile are
included, and those who no longer match are not. The caller is told how many there were.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

from app.engine.owned import owned_contacts, owned_edits
from app.engine.owned.owned_filters import Cursor, Selection
from app.infra.database import database_clock
from app.web import admission
from app.web.owned import owned_changes
from app.web.sign_in.auth import caller

BATCH = 500
MAX_SECONDS = 4.0
"""How long a round lasts, apart from its last batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """How many people matched, how many of them were added or removed, and where the next round starts."""

    matched: int = 0
    changed: int = 0
    after: Cursor | None = None


def change(selection: Selection, list_id: str, *, remove: bool, after: Cursor | None = None) -> Round:
    """Add the people to the list, or remove them; each batch is one transaction, so nothing is done twice.

    The selection must be in the order of `revealed_at`: a change of a list does not move people in it.
    """
    matched = changed = 0
    end = monotonic() + MAX_SECONDS
    while True:
        with admission.transaction() as session:
            edit = owned_changes.edit(database_clock.value(session))
            workspace_id = caller().workspace_id
            people, after = owned_contacts.ids_page(
                session, workspace_id, selection, after=after, limit=BATCH
            )
            done = owned_edits.change_list(
                session,
                edit,
                list_id,
                add=() if remove else people,
                remove=people if remove else (),
                are_all_needed=False,
            )
        matched += len(people)
        changed += done.removed if remove else done.added
        if after is None or monotonic() > end:
            return Round(matched=matched, changed=changed, after=after)
