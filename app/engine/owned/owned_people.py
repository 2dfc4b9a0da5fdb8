"""The people of a workspace as rows of SQL: those it revealed, and those it saved.

A person who was both revealed and saved is one row, joined by profile or by contact. What the workspace saved
of a person takes precedence over what is stored, because it read that itself. Nothing is copied: a row is
what the tables say when it is read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    SQLColumnExpression,
    String,
    and_,
    bindparam,
    case,
    false,
    func,
    literal,
    literal_column,
    null,
    or_,
    select,
    true,
)
from sqlalchemy.orm import aliased

from app.domain.findings import COMPANY_FIELDS, PERSON_FIELDS
from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.engine.contacts.saved.saved_profiles import SavedProfile
from app.engine.jobs.jobs import Job
from app.engine.ledger.reveals import OWNED, Reveal

WORKSPACE = bindparam("workspace_id", type_=String())
_SAVED = (
    "id", "linkedin_url", "full_name", "headline", "title", "location", "company_name", "company_domain",
    "company_linkedin_url", "tags", "note", "created_at", "updated_at",
)  # fmt: skip

NAME = func.coalesce(SavedProfile.full_name, Contact.full_name)
HAS_SAVED_COMPANY = or_(SavedProfile.company_name.is_not(None), SavedProfile.company_domain.is_not(None))
COMPANY_NAME = case((HAS_SAVED_COMPANY, SavedProfile.company_name), else_=Company.name)
COMPANY_DOMAIN = case((HAS_SAVED_COMPANY, SavedProfile.company_domain), else_=Company.domain)
_EMPTY = literal_column("''", String())
SORT_NAME = func.lower(func.coalesce(NAME, _EMPTY))
SORT_COMPANY = func.lower(func.coalesce(COMPANY_NAME, COMPANY_DOMAIN, _EMPTY))
# A subquery instead of a join: PostgreSQL runs it for the rows of the page only.
_REVEALED_BY = select(Job.account_id).where(Job.id == Reveal.job_id).scalar_subquery()
_OWNER_ID = case(
    (or_(Reveal.created_at.is_(None), SavedProfile.created_at < Reveal.created_at), SavedProfile.saved_by),
    else_=_REVEALED_BY,
)
_SAVED_ID = func.coalesce(Contact.id, SavedProfile.id)


@dataclass(frozen=True, slots=True)
class Branch:
    """A part of the people: its statement, and the expressions by which it is filtered and sorted.

    The rows are reveals if `is_revealed`, else saved profiles.
    """

    query: Select[Any]
    person_id: SQLColumnExpression[str]
    owner_id: SQLColumnExpression[str | None]
    added_at: SQLColumnExpression[Any]
    updated_at: SQLColumnExpression[Any]
    has_contact: Callable[[str], ColumnElement[bool]]
    is_revealed: bool = False


def revealed() -> Branch:
    """Return the people of whom the workspace owns an e-mail or a phone, each with its first reveal."""
    query = (
        select(*_columns(_OWNER_ID, Reveal.created_at))
        .select_from(Reveal)
        .join(Contact, Contact.id == Reveal.contact_id)
        .outerjoin(SavedProfile, SavedProfile.id == saved_id_of(Contact))
        .where(Reveal.workspace_id == WORKSPACE, OWNED, ~_has_earlier_reveal())
    )
    updated_at = _later(_later(Reveal.created_at, Contact.updated_at), SavedProfile.updated_at)
    return Branch(
        _with_employer(query),
        person_id=Reveal.contact_id,
        owner_id=_OWNER_ID,
        added_at=Reveal.created_at,
        updated_at=updated_at,
        has_contact=lambda contact_id: Reveal.contact_id == contact_id,
        is_revealed=True,
    )


def saved() -> Branch:
    """Return all saved people, with their first reveal if there is one."""
    first_reveal = and_(
        Reveal.workspace_id == WORKSPACE, Reveal.contact_id == Contact.id, OWNED, ~_has_earlier_reveal()
    )
    # The time of a change of a contact that is not owned would tell what another workspace did.
    of_owned = case((Reveal.contact_id.is_not(None), Contact.updated_at))
    return Branch(
        _with_employer(_saved(_OWNER_ID, Reveal.created_at).outerjoin(Reveal, first_reveal)),
        person_id=_SAVED_ID,
        owner_id=_OWNER_ID,
        added_at=func.coalesce(Reveal.created_at, SavedProfile.created_at),
        updated_at=_later(_later(SavedProfile.updated_at, Reveal.created_at), of_owned),
        has_contact=_is_saved_contact,
    )


def only_saved() -> Branch:
    """Return the saved people of whom the workspace owns nothing, whose times are in an index."""
    # PostgreSQL turns NOT EXISTS into an anti join, estimates that it leaves no rows, and sorts all saved
    # people instead of reading the first of them from their index.
    reveal = (
        select(true())
        .where(Reveal.workspace_id == WORKSPACE, Reveal.contact_id == Contact.id, OWNED)
        .limit(literal(1))
        .scalar_subquery()
    )
    is_revealed = func.coalesce(reveal, false())
    nothing = null().cast(Reveal.__table__.c.created_at.type)
    return Branch(
        _with_employer(_saved(SavedProfile.saved_by, nothing).where(~is_revealed)),
        person_id=_SAVED_ID,
        owner_id=SavedProfile.saved_by,
        added_at=SavedProfile.created_at,
        updated_at=SavedProfile.updated_at,
        has_contact=_is_saved_contact,
    )


def _saved(owner_id: SQLColumnExpression[Any], revealed_at: SQLColumnExpression[Any]) -> Select[Any]:
    by_url = aliased(Contact)
    of_profile = select(by_url.id).where(by_url.linkedin_url == SavedProfile.linkedin_url).scalar_subquery()
    return (
        select(*_columns(owner_id, revealed_at))
        .select_from(SavedProfile)
        .outerjoin(Contact, Contact.id == func.coalesce(SavedProfile.contact_id, of_profile))
        .where(SavedProfile.workspace_id == WORKSPACE, ~_is_saved_by_profile_too())
    )


def _columns(
    owner_id: SQLColumnExpression[Any], revealed_at: SQLColumnExpression[Any]
) -> list[ColumnElement[Any]]:
    return [
        *(getattr(Contact, name).label(f"contact_{name}") for name in ("id", *PERSON_FIELDS)),
        *(getattr(Company, name).label(f"company_{name}") for name in COMPANY_FIELDS),
        *(getattr(SavedProfile, name).label(f"saved_{name}") for name in _SAVED),
        owner_id.label("owner_id"),
        revealed_at.label("revealed_at"),
    ]


def _with_employer(query: Select[Any]) -> Select[Any]:
    return query.outerjoin(Company, Company.id == Contact.company_id)


def saved_id_of(contact: type[Contact]) -> ColumnElement[str]:
    """Return the id of the workspace's saved row of a contact: the row of its profile, or else its own."""
    return func.coalesce(_saved_id("linkedin_url", contact.linkedin_url), _saved_id("contact_id", contact.id))


def _saved_id(name: str, value: object) -> ColumnElement[str]:
    """Return the id of the workspace's saved row with this value in the column."""
    row = aliased(SavedProfile)
    return select(row.id).where(row.workspace_id == WORKSPACE, getattr(row, name) == value).scalar_subquery()


def _is_saved_contact(contact_id: str) -> ColumnElement[bool]:
    profile = aliased(Contact)
    url = select(profile.linkedin_url).where(profile.id == contact_id).scalar_subquery()
    return or_(SavedProfile.contact_id == contact_id, SavedProfile.linkedin_url == url)


def _has_earlier_reveal() -> ColumnElement[bool]:
    """Return whether the workspace revealed the contact's other field earlier."""
    other = aliased(Reveal)
    is_earlier = or_(
        other.created_at < Reveal.created_at,
        and_(other.created_at == Reveal.created_at, other.field < Reveal.field),
    )
    return (
        select(other.field)
        .where(
            other.workspace_id == WORKSPACE,
            other.contact_id == Reveal.contact_id,
            other.refunded_at.is_(None),
            is_earlier,
        )
        .exists()
    )


def _is_saved_by_profile_too() -> ColumnElement[bool]:
    """Return whether a row that was saved by contact has one of the contact's profile beside it."""
    other = aliased(SavedProfile)
    return (
        select(other.id)
        .where(
            SavedProfile.contact_id.is_not(None),
            other.workspace_id == WORKSPACE,
            other.linkedin_url == Contact.linkedin_url,
        )
        .exists()
    )


def _later(first: SQLColumnExpression[Any], second: SQLColumnExpression[Any]) -> ColumnElement[Any]:
    """Return the later of two times; the first, if there is no second."""
    return case((second > first, second), else_=first)
