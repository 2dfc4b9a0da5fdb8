"""Changes of a list by everybody whom a selection matches, in rounds: a request is answered within seconds.

Who is changed is read while it is done, not taken from a list of ids: people who come to match meanwhile are
included, and those who no longer match are not. The caller is told how many there were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic

from app.engine.owned import owned_contacts, owned_edits
from app.engine.owned.owned_filters import Cursor, Selection
from app.infra.database import database_clock
from app.web import admission
from app.web.owned import owned_changes
from app.web.services import services
from app.web.sign_in.auth import caller

MAX_READ = 5_000
"""People who are read at once: a search by name takes longer than reading who was found."""
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
        with services().database.reading() as session:
            places = owned_contacts.places(
                session, caller().workspace_id, selection, after=after, limit=MAX_READ
            )
        is_last_read = len(places) < MAX_READ
        for start in range(0, len(places), BATCH):
            batch = places[start : start + BATCH]
            changed += _change(list_id, [place.person_id for place in batch], remove=remove)
            matched += len(batch)
            after = batch[-1]
            is_last = is_last_read and after == places[-1]
            if monotonic() > end and not is_last:
                return Round(matched=matched, changed=changed, after=after)
        if is_last_read:
            return Round(matched=matched, changed=changed)


def _change(list_id: str, people: Sequence[str], *, remove: bool) -> int:
    """Add people to the list or remove them; return how many were added or removed."""
    with admission.transaction() as session:
        done = owned_edits.change_list(
            session,
            owned_changes.edit(database_clock.value(session)),
            list_id,
            add=() if remove else people,
            remove=people if remove else (),
            are_all_needed=False,
        )
    return done.removed if remove else done.added
