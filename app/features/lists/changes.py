"""Changes of the lists of the caller's workspace, which endpoints and pages share."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from app.domain.errors import PersonSuppressed
from app.engine.contacts.saved import contact_lists
from app.engine.lookups import profile_snapshots
from app.engine.lookups.profile_snapshots import ProfileSnapshot
from app.engine.owned import owned_edits
from app.engine.owned.owned_edits import Edit, ListChange
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.web import admission
from app.web.bodies.idempotency_header import begin, finish, is_replay
from app.web.owned import owned_changes
from app.web.sign_in.auth import caller


@dataclass(frozen=True, slots=True)
class ChangedList:
    """A list as it is after a change, whether it was created, and whether the request is a replay."""

    shown: dict[str, Any]
    is_new: bool = False
    replayed: bool = False


def create(name: str) -> ChangedList:
    """Create a list, or return the one that the workspace has of this name."""
    workspace_id = caller().workspace_id
    with admission.transaction() as session:
        now = database_clock.value(session)
        list_id, is_new = begin(session, now=now), False
        replayed = list_id is not None
        if list_id is None:
            contact_list, is_new = contact_lists.ensure(session, workspace_id, name, now=now)
            list_id = contact_list.id
            finish(session, list_id)
        shown = contact_lists.public(contact_lists.get_with_count(session, workspace_id, list_id))
    return ChangedList(shown, is_new=is_new, replayed=replayed)


def rename(list_id: str, name: str) -> ChangedList:
    """Rename a list.

    Raises:
        ValidationFailed: another list of the workspace has the name.

    """
    workspace_id = caller().workspace_id
    with admission.transaction() as session:
        now = database_clock.value(session)
        replayed = is_replay(session, list_id, now=now)
        if not replayed:
            contact_lists.rename(session, workspace_id, list_id, name, now=now)
        shown = contact_lists.public(contact_lists.get_with_count(session, workspace_id, list_id))
    return ChangedList(shown, replayed=replayed)


def delete(list_id: str) -> None:
    """Delete a list; the people on it stay saved."""
    with admission.transaction() as session:
        contact_lists.remove(session, caller().workspace_id, list_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class MembersChange:
    """How many people were new to a list, removed from it, and left out because they are suppressed."""

    added: int = 0
    removed: int = 0
    suppressed: int = 0
    replayed: bool = False


def change_members(
    list_id: str,
    *,
    add: Collection[str] = (),
    remove: Collection[str] = (),
    profiles: Sequence[ProfileSnapshot] = (),
) -> MembersChange:
    """Add people to a list, by id or by the profiles that are saved for it, and remove others."""
    workspace_id = caller().workspace_id
    with admission.transaction() as session:
        now = database_clock.value(session)
        replayed = is_replay(session, list_id, now=now)
        contact_lists.get(session, workspace_id, list_id)
        if replayed:
            return MembersChange(replayed=True)
        edit = owned_changes.edit(now)
        saved = _save(session, edit, profiles)
        change = owned_edits.change_list(session, edit, list_id, add=[*add, *saved], remove=remove)
    return MembersChange(added=change.added, removed=change.removed, suppressed=len(profiles) - len(saved))


def _save(session: Session, edit: Edit, profiles: Sequence[ProfileSnapshot]) -> list[str]:
    """Save the profiles of people who are not suppressed; return the ids of the saved people."""
    saved = []
    for snapshot in profiles:
        with suppress(PersonSuppressed):  # raised before anything is written
            result = profile_snapshots.save(
                session,
                workspace_id=edit.workspace_id,
                account_id=edit.account_id,
                snapshot=snapshot,
                now=edit.now,
            )
            saved.append(result.profile.id)
    return saved


def add_to_named(name: str, people: Collection[str]) -> ListChange:
    """Add people to the list of this name, which is created if needed."""
    with admission.transaction() as session:
        now = database_clock.value(session)
        contact_list, _ = contact_lists.ensure(session, caller().workspace_id, name, now=now)
        edit = owned_changes.edit(now)
        return owned_edits.change_list(session, edit, contact_list.id, add=people, remove=())
