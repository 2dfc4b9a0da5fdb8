"""Lists of a workspace: named groups of its saved people. A person may be on several lists.

Every change takes the lock for entity resolution first, as saving a profile does: a save locks a profile and
then its lists, a rename a list and then its profiles.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Row, String, UniqueConstraint, delete, func, select, update
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.errors import FieldError, NotFound, ValidationFailed
from app.domain.ids import new_id
from app.engine.accounts.workspaces import foreign_key
from app.engine.contacts.bulk import lock_resolution
from app.engine.contacts.saved.saved_profiles import SavedProfile
from app.infra.clock import rfc3339
from app.infra.database.db import Base, insert
from app.infra.database.session import Session


class ContactList(Base):
    """A list; `updated_at` is when its name or its members last changed."""

    __tablename__ = "contact_lists"
    __table_args__ = (UniqueConstraint("workspace_id", "name"),)

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    workspace_id: Mapped[str] = mapped_column(foreign_key())
    name: Mapped[str]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class ListMember(Base):
    """A saved person on a list."""

    __tablename__ = "list_members"

    list_id: Mapped[str] = mapped_column(
        String(28), ForeignKey("contact_lists.id", ondelete="CASCADE"), primary_key=True
    )
    profile_id: Mapped[str] = mapped_column(
        String(28), ForeignKey("saved_profiles.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    created_at: Mapped[datetime]


_COUNT = (
    select(func.count()).select_from(ListMember).where(ListMember.list_id == ContactList.id).scalar_subquery()
)
_DESCRIBED = select(ContactList.id, ContactList.name, ContactList.updated_at, _COUNT.label("count"))


def page(session: Session, workspace_id: str, *, after: str | None, limit: int) -> Sequence[Row[Any]]:
    """Return lists with the number of their members, by name; `after` is the last name of the page before."""
    query = _DESCRIBED.where(ContactList.workspace_id == workspace_id)
    if after is not None:
        query = query.where(ContactList.name > after)
    return session.execute(query.order_by(ContactList.name).limit(limit)).all()


def latest(session: Session, workspace_id: str, *, limit: int) -> Sequence[Row[Any]]:
    """Return the lists that were changed last, as `page` does."""
    query = _DESCRIBED.where(ContactList.workspace_id == workspace_id)
    return session.execute(query.order_by(ContactList.updated_at.desc(), ContactList.id).limit(limit)).all()


def get_with_count(session: Session, workspace_id: str, list_id: str) -> Row[Any]:
    """Return one list with the number of its members, as `page` does."""
    query = _DESCRIBED.where(ContactList.workspace_id == workspace_id, ContactList.id == list_id)
    row = session.execute(query).first()
    if row is None:
        raise _not_found()
    return row


def public(row: Row[Any]) -> dict[str, Any]:
    """Return the representation of a row of `page`."""
    return {
        "id": row.id,
        "name": row.name,
        "count": row.count,
        "updated_at": rfc3339(row.updated_at),
    }


def get(session: Session, workspace_id: str, list_id: str, *, lock: bool = False) -> ContactList:
    """Return the workspace's list with this id."""
    query = select(ContactList).where(ContactList.id == list_id, ContactList.workspace_id == workspace_id)
    found = session.scalar(query.with_for_update() if lock else query)
    if found is None:
        raise _not_found()
    return found


def ensure(session: Session, workspace_id: str, name: str, *, now: datetime) -> tuple[ContactList, bool]:
    """Return the workspace's list of this name, and whether it was inserted now."""
    lock_resolution(session)
    row = session.execute(
        insert(session, ContactList)
        .values(id=new_id("lst"), workspace_id=workspace_id, name=name, created_at=now, updated_at=now)
        .on_conflict_do_nothing(index_elements=["workspace_id", "name"])
        .returning(ContactList.id)
    ).first()
    of_name = select(ContactList).where(ContactList.workspace_id == workspace_id, ContactList.name == name)
    return session.scalars(of_name).one(), row is not None


def rename(session: Session, workspace_id: str, list_id: str, name: str, *, now: datetime) -> ContactList:
    """Rename the list, also in the saved profiles that name it as the list of their last save.

    Raises:
        ValidationFailed: another list of the workspace has the name.

    """
    lock_resolution(session)
    renamed = get(session, workspace_id, list_id, lock=True)
    others = select(ContactList.id).where(
        ContactList.workspace_id == workspace_id, ContactList.name == name, ContactList.id != list_id
    )
    if session.scalar(others) is not None:
        detail = "Another list has this name. Choose a different one, or add the contacts to that list."
        raise ValidationFailed(errors=(FieldError("/name", detail),))
    _replace_name(session, workspace_id, renamed.name, name)
    renamed.name, renamed.updated_at = name, now
    session.flush()
    return renamed


def remove(session: Session, workspace_id: str, list_id: str) -> None:
    """Delete the list; the people on it stay saved."""
    lock_resolution(session)
    removed = get(session, workspace_id, list_id, lock=True)
    _replace_name(session, workspace_id, removed.name, None)
    session.execute(delete(ContactList).where(ContactList.id == list_id))


def add_members(session: Session, list_id: str, profile_ids: Collection[str], *, now: datetime) -> int:
    """Add saved people to the list; return how many were not on it."""
    if not profile_ids:
        return 0
    rows = [
        {"list_id": list_id, "profile_id": profile_id, "created_at": now}
        for profile_id in sorted(set(profile_ids))
    ]
    statement = insert(session, ListMember).on_conflict_do_nothing().returning(ListMember.profile_id)
    added = len(session.scalars(statement, rows).all())
    if added:
        _touch(session, list_id, now)
    return added


def remove_members(
    session: Session, contact_list: ContactList, profile_ids: Collection[str], *, now: datetime
) -> int:
    """Remove saved people from the list; return how many were on it. They stay saved."""
    statement = delete(ListMember).where(
        ListMember.list_id == contact_list.id, ListMember.profile_id.in_(profile_ids)
    )
    removed = len(session.scalars(statement.returning(ListMember.profile_id)).all())
    if removed:
        _touch(session, contact_list.id, now)
        named = (SavedProfile.id.in_(profile_ids), SavedProfile.list_name == contact_list.name)
        session.execute(update(SavedProfile).where(*named).values(list_name=None))
    return removed


def follow_save(session: Session, profile: SavedProfile, before: str | None, *, now: datetime) -> None:
    """Move the profile from the list that its previous save named to the one that this save names."""
    if before is not None:
        of_name = select(ContactList.id).where(
            ContactList.workspace_id == profile.workspace_id, ContactList.name == before
        )
        session.execute(
            delete(ListMember).where(ListMember.profile_id == profile.id, ListMember.list_id.in_(of_name))
        )
    if profile.list_name is not None:
        contact_list, _ = ensure(session, profile.workspace_id, profile.list_name, now=now)
        add_members(session, contact_list.id, [profile.id], now=now)


def by_profile(session: Session, profile_ids: Collection[str]) -> dict[str, list[dict[str, str]]]:
    """Return the id and name of the lists of each saved person, by name."""
    query = (
        select(ListMember.profile_id, ContactList.id, ContactList.name)
        .join(ContactList, ContactList.id == ListMember.list_id)
        .where(ListMember.profile_id.in_(profile_ids))
        .order_by(ContactList.name)
    )
    found: dict[str, list[dict[str, str]]] = {}
    for row in session.execute(query) if profile_ids else ():
        found.setdefault(row.profile_id, []).append({"id": row.id, "name": row.name})
    return found


def _not_found() -> NotFound:
    return NotFound("There is no such list. GET /api/lists returns the lists of your workspace.")


def _touch(session: Session, list_id: str, now: datetime) -> None:
    session.execute(update(ContactList).where(ContactList.id == list_id).values(updated_at=now))


def _replace_name(session: Session, workspace_id: str, name: str, new: str | None) -> None:
    named = (SavedProfile.workspace_id == workspace_id, SavedProfile.list_name == name)
    session.execute(update(SavedProfile).where(*named).values(list_name=new))
