"""Changes of a workspace's people: who is on which list, tags and notes. All are free."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from app.domain import ids
from app.domain.errors import ContactNotFound
from app.engine.contacts.bulk import lock_resolution
from app.engine.contacts.contacts import Contact
from app.engine.contacts.saved import contact_lists, saved_contacts
from app.engine.contacts.saved.contact_lists import ContactList
from app.engine.contacts.saved.saved_profiles import SavedProfile
from app.engine.lookups import contact_data
from app.infra.clock import rfc3339
from app.infra.database.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """The account that changes people of a workspace, and the time."""

    workspace_id: str
    account_id: str
    now: datetime


@dataclass(frozen=True, slots=True)
class ListChange:
    """A list after a change, and how many people were added and removed."""

    contact_list: ContactList
    added: int
    removed: int


def change_list(
    session: Session,
    edit: Edit,
    list_id: str,
    *,
    add: Collection[str],
    remove: Collection[str],
    are_all_needed: bool = True,
) -> ListChange:
    """Add people to the list and remove others; both are named by contact or saved profile.

    Adding people also saves them. Removing a person who is not on the list changes nothing. Who is not
    stored any more, or is suppressed, is left out if they are not all needed.

    Raises:
        ContactNotFound: one of those to add is left out.

    """
    lock_resolution(session)
    contact_list = contact_lists.get(session, edit.workspace_id, list_id, lock=True)
    rows = _saved(session, edit, add, are_all_needed=are_all_needed)
    added = contact_lists.add_members(session, list_id, [row.id for row in rows], now=edit.now)
    for row in rows:
        if row.list_name is None:  # so that the extension shows the list
            _annotate(row, edit.now, list_name=contact_list.name)
    removed = contact_lists.remove_members(
        session, contact_list, _saved_ids(session, edit.workspace_id, remove), now=edit.now
    )
    session.flush()
    return ListChange(contact_list, added, removed)


def add_contacts(session: Session, edit: Edit, list_id: str, contact_ids: Collection[str]) -> int:
    """Add the contacts who are not suppressed to the list; return how many of them were not on it."""
    contacts = [contact.id for contact in _contacts(session, edit.workspace_id, contact_ids)]
    return change_list(session, edit, list_id, add=contacts, remove=()).added


def annotate(session: Session, edit: Edit, person_id: str, **annotations: list[str] | str | None) -> None:
    """Replace the given ones of `tags` and `note` of a person, who is saved by that."""
    lock_resolution(session)
    (row,) = _saved(session, edit, [person_id])
    _annotate(row, edit.now, **annotations)
    session.flush()


def _saved(
    session: Session, edit: Edit, person_ids: Collection[str], *, are_all_needed: bool = True
) -> list[SavedProfile]:
    """Return the saved rows of these people, inserted if needed."""
    contacts = _contacts(session, edit.workspace_id, _of_kind(person_ids, "con"))
    rows = list(
        saved_contacts.save(session, edit.workspace_id, edit.account_id, contacts, now=edit.now).values()
    )
    wanted = _of_kind(person_ids, "prf")
    found = saved_contacts.by_id(session, edit.workspace_id, wanted)
    if are_all_needed and len(found) + len(contacts) < len(set(person_ids)):
        raise ContactNotFound
    return rows + list(found.values())


def _contacts(session: Session, workspace_id: str, contact_ids: Collection[str]) -> list[Contact]:
    """Return the contacts that are not suppressed."""
    contacts = session.scalars(select(Contact).where(Contact.id.in_(contact_ids))).all()
    data = contact_data.load(session, workspace_id, contacts)
    return [contact for contact in contacts if not data.is_suppressed(contact)]


def _saved_ids(session: Session, workspace_id: str, person_ids: Collection[str]) -> list[str]:
    """Return the ids of the saved rows of these people; those who are not saved have none."""
    query = select(Contact).where(Contact.id.in_(_of_kind(person_ids, "con")))
    of_contacts = saved_contacts.find(session, workspace_id, session.scalars(query).all())
    rows = saved_contacts.by_id(session, workspace_id, _of_kind(person_ids, "prf"))
    return [row.id for row in (*of_contacts.values(), *rows.values())]


def _annotate(row: SavedProfile, now: datetime, **annotations: list[str] | str | None) -> None:
    """Set annotations; a save that was captured earlier does not overwrite them."""
    stamp = rfc3339(now)
    for name, value in annotations.items():
        setattr(row, name, value)
    row.captured = row.captured | dict.fromkeys(annotations, stamp)
    row.updated_at = now


def _of_kind(person_ids: Iterable[str], prefix: ids.Prefix) -> list[str]:
    return sorted({person_id for person_id in person_ids if ids.is_id(person_id, prefix)})
