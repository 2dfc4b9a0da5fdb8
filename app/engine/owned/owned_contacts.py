"""Pages of a workspace's people, with the values that it owns, its lists and its notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Row, Select, func, literal, select, union_all

from app.domain import ids
from app.domain.errors import ContactNotFound
from app.domain.normal.places.places import parse_location
from app.domain.records.subjects import Subject
from app.engine.accounts.accounts import Account
from app.engine.contacts.saved import contact_lists
from app.engine.contacts.stored_rows import StoredEmail, StoredPhone
from app.engine.lookups import contact_data, job_change_descriptions, representations
from app.engine.lookups.contact_data import ContactData, Person
from app.engine.lookups.job_change_descriptions import JobChange
from app.engine.owned import common_names
from app.engine.owned.owned_filters import Cursor, Selection
from app.infra.clock import rfc3339
from app.infra.database.session import Session

MAX_COUNTED = 1_000_000


@dataclass(frozen=True, slots=True)
class OwnedContact:
    """One person of a workspace: a row of the query, what is stored of them, and the lists they are on.

    `job_change` is the latest change of company that the workspace was informed of.
    """

    row: Row[Any]
    data: ContactData
    lists: Sequence[dict[str, str]]
    job_change: JobChange | None = None

    @property
    def id(self) -> str:
        """The id of the contact, or else the id of the saved profile."""
        return str(self.row.contact_id or self.row.saved_id)

    @property
    def revealed(self) -> dict[str, Any]:
        """The values that the workspace owns, as a lookup returns them."""
        return representations.revealed(self.data, self.row.contact_id or "")

    @property
    def owned_rows(self) -> tuple[list[StoredEmail], list[StoredPhone]]:
        """The rows of the owned e-mails and of the owned phones, best first."""
        data, contact_id = self.data, self.row.contact_id
        emails = filter(data.owns, data.emails.get(contact_id, ()))
        phones = filter(data.owns, data.phones.get(contact_id, ()))
        key = representations.quality_key
        return sorted(emails, key=key), sorted(phones, key=key)

    @property
    def has_saved_company(self) -> bool:
        """Whether the workspace saved a company for the person."""
        return bool(self.row.saved_company_name or self.row.saved_company_domain)

    @property
    def company(self) -> dict[str, str | None]:
        """The company that the workspace saved, or else the stored one."""
        row = self.row
        if self.has_saved_company:
            names = ("company_name", "company_domain", "company_linkedin_url")
            name, domain, linkedin_url = (getattr(row, f"saved_{each}") for each in names)
        else:
            name, domain, linkedin_url = row.company_name, row.company_domain, row.company_linkedin_url
        return {"name": name, "domain": domain, "linkedin_url": linkedin_url}

    @property
    def location(self) -> dict[str, str | None]:
        """The city and the country: the stored ones, or else the ones of the saved profile."""
        city, country = self.row.contact_city, self.row.contact_country
        if city is None and country is None:
            city, country = parse_location(self.row.saved_location or "")
        return {"city": city, "country": country}

    @property
    def saved(self) -> dict[str, Any] | None:
        """The lists, the tags and the note, or None if the workspace did not save the person."""
        row = self.row
        if row.saved_id is None:
            return None
        return {
            "id": row.saved_id,
            "lists": list(self.lists),
            "tags": row.saved_tags,
            "note": row.saved_note,
            "updated_at": rfc3339(row.saved_updated_at),
        }

    @property
    def owner(self) -> dict[str, str] | None:
        """The account that revealed or saved the person first; None once it is deleted."""
        return None if self.row.owner_name is None else {"id": self.row.owner_id, "name": self.row.owner_name}

    def public(self, *, with_values: bool) -> dict[str, Any]:
        """Return the representation; without values, `revealed` is None."""
        row = self.row
        return {
            "id": self.id,
            "contact_id": row.contact_id,
            "full_name": row.saved_full_name or row.contact_full_name,
            "title": row.saved_title or row.contact_title,
            "company": self.company,
            "location": self.location,
            "linkedin_url": row.saved_linkedin_url or row.contact_linkedin_url,
            "revealed": self.revealed if with_values else None,
            "saved": self.saved,
            "owner": self.owner,
            "revealed_at": rfc3339(row.revealed_at),
            "updated_at": rfc3339(row.updated_at),
            "job_change": self.job_change and self.job_change.to_public(),
        }


@dataclass(frozen=True, slots=True)
class OwnedPage:
    """A page of people, and the cursor of the next page, None at the end."""

    contacts: Sequence[OwnedContact]
    next_cursor: Cursor | None


def page(
    session: Session,
    workspace_id: str,
    selection: Selection,
    *,
    after: Cursor | None = None,
    limit: int,
    as_admin: bool = False,
) -> OwnedPage:
    """Return a page of the workspace's people, in at most twelve queries regardless of its size.

    A page may be shorter than its limit, because suppressed people are removed from it. Numbers that
    do-not-call registers hide from members are in it if the reader `as_admin`.
    """
    rows = _rows(session, workspace_id, selection, after, limit + 1)
    shown = rows[:limit]
    people = [contact for row in shown if (contact := _contact(row))]
    urls = [Subject(linkedin_url=row.saved_linkedin_url) for row in shown if row.saved_linkedin_url]
    data = contact_data.load(session, workspace_id, people, urls, as_admin=as_admin)
    lists = contact_lists.by_profile(session, [row.saved_id for row in shown if row.saved_id])
    changes = job_change_descriptions.latest_of(session, workspace_id, [person.id for person in people])
    contacts = [
        OwnedContact(row, data, lists.get(row.saved_id, ()), changes.get(row.contact_id))
        for row in shown
        if not _is_suppressed(row, data)
    ]
    is_last = len(rows) <= limit
    return OwnedPage(contacts, None if is_last else Cursor(shown[-1].sort_key, shown[-1].person_id))


def places(
    session: Session, workspace_id: str, selection: Selection, *, after: Cursor | None, limit: int
) -> list[Cursor]:
    """Return the places of people in the order, the suppressed included."""
    read = partial(_ordered, session, selection, after, limit, is_place=True)
    rows = _until_enough(session, workspace_id, selection, read, after=after, limit=limit)
    return [Cursor(row.sort_key, row.person_id) for row in rows]


def count(session: Session, workspace_id: str, selection: Selection) -> int:
    """Return how many people the selection matches, at most `MAX_COUNTED`."""
    dialect, rules = session.get_bind().dialect.name, session.settings.regional_rules
    parts = [
        select(
            branch.query.with_only_columns(branch.person_id.label("person_id"))
            .where(*selection.conditions(branch, dialect, rules))
            .limit(literal(MAX_COUNTED))
            .subquery()
        )
        for branch in selection.branches
    ]
    people = (parts[0] if len(parts) == 1 else union_all(*parts)).subquery("people")
    counted = session.scalar(select(func.count()).select_from(people), {"workspace_id": workspace_id})
    return min(counted or 0, MAX_COUNTED)


def cursor_of(session: Session, workspace_id: str, selection: Selection, person_id: str) -> Cursor | None:
    """Return the position of a person in this order, for URLs that must not name anybody; None if unknown."""
    if not (ids.is_id(person_id, "con") or ids.is_id(person_id, "prf")):
        return None
    of_person = Selection(person_id=person_id, sort=selection.sort, order=selection.order)
    rows = _rows(session, workspace_id, of_person, None, 1)
    return Cursor(rows[0].sort_key, rows[0].person_id) if rows else None


def get(session: Session, workspace_id: str, person_id: str, *, as_admin: bool = False) -> OwnedContact:
    """Return the workspace's person with this id, of a contact or of a saved profile."""
    chosen = Selection(person_id=person_id)
    found = page(session, workspace_id, chosen, limit=1, as_admin=as_admin).contacts
    if not found:
        raise ContactNotFound
    return found[0]


def _rows(
    session: Session, workspace_id: str, selection: Selection, after: Cursor | None, limit: int
) -> Sequence[Row[Any]]:
    """Return the rows of the people, with the names of their owners."""

    def read(end: datetime | None) -> Select[Any]:
        people = _ordered(session, selection, after, limit, end).subquery("ordered")
        return (
            select(people, Account.name.label("owner_name"))
            .outerjoin(Account, Account.id == people.c.owner_id)
            .order_by(*selection.ordered(people.c.sort_key, people.c.person_id))
        )

    return _until_enough(session, workspace_id, selection, read, after=after, limit=limit)


def _until_enough(
    session: Session,
    workspace_id: str,
    selection: Selection,
    read: Callable[[datetime | None], Select[Any]],
    *,
    after: Cursor | None,
    limit: int,
) -> Sequence[Row[Any]]:
    """Return the rows of the query for people up to a time, or for all of them if some went meanwhile."""
    end = common_names.end_of(session, workspace_id, selection, after=after, limit=limit)
    rows = session.execute(read(end), {"workspace_id": workspace_id}).all()
    if end is None or len(rows) == limit:
        return rows
    return session.execute(read(None), {"workspace_id": workspace_id}).all()


def _ordered(
    session: Session,
    selection: Selection,
    after: Cursor | None,
    limit: int,
    end: datetime | None,
    *,
    is_place: bool = False,
) -> Select[Any]:
    """Return the query for people in order; each branch is limited on its own, so that it can use its index.

    It reads the people up to the `end`, if there is one. With `is_place`, only their places in the order are
    read.
    """
    dialect, rules = session.get_bind().dialect.name, session.settings.regional_rules
    parts = []
    for branch in selection.branches:
        key = selection.key(branch)
        place: tuple[ColumnElement[Any], ...] = (
            key.label("sort_key"),
            branch.person_id.label("person_id"),
        )
        query = (
            branch.query.with_only_columns(*place)
            if is_place
            else branch.query.add_columns(*place, branch.updated_at.label("updated_at"))
        ).where(*selection.conditions(branch, dialect, rules, in_order=end is not None))
        if end is not None:
            query = query.where(selection.until(branch, end))
        if after is not None:
            query = query.where(selection.after(branch, after))
        ordered = query.order_by(*selection.ordered(key, branch.person_id))
        parts.append(select(ordered.limit(literal(limit)).subquery()))
    people = (parts[0] if len(parts) == 1 else union_all(*parts)).subquery("people")
    order = selection.ordered(people.c.sort_key, people.c.person_id)
    return select(people).order_by(*order).limit(literal(limit))


class _Contact(NamedTuple):
    """The identifiers of a contact."""

    id: str
    linkedin_url: str | None
    member_url: str | None


def _contact(row: Row[Any]) -> Person | None:
    """Return the contact of the row."""
    if row.contact_id is None:
        return None
    return _Contact(row.contact_id, row.contact_linkedin_url, row.contact_member_url)


def _is_suppressed(row: Row[Any], data: ContactData) -> bool:
    return data.is_suppressed(_contact(row), Subject(linkedin_url=row.saved_linkedin_url))
