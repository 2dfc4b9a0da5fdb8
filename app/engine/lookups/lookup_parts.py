"""What features add to the results of lookups, such as where else the workspace has the person."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from app import feature_registry
from app.domain.records.profile_links import urls_of
from app.engine.call_registers import listed_records
from app.engine.call_registers.listed_records import Reader
from app.engine.lookups.contact_data import ContactData
from app.engine.matching.contact_matching import Match
from app.infra.database.session import Session
from app.settings import Settings


class CurrentCompany(NamedTuple):
    """The company at which the person is stored."""

    name: str | None
    domain: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedUp:
    """A person whom a workspace looked up: what it gave, what it is shown for free, and what it owns.

    What it gave is without the values about which it is told nothing, and what it owns without the numbers of
    companies. An e-mail address or a number that it neither gave nor owns is not here, because an answer that
    depends on it would tell it. Of a suppressed person there is nothing but the reader: the workspace, and
    whether an admin of it reads what was found (`as_admin`).
    """

    workspace_id: str
    profiles: Sequence[str] = field(default=(), repr=False)
    emails: Sequence[str] = field(default=(), repr=False)
    phones: Sequence[str] = field(default=(), repr=False)
    name: str = field(default="", repr=False)
    companies: Sequence[str] = field(default=(), repr=False)
    domains: Sequence[str] = field(default=(), repr=False)
    current_company: CurrentCompany | None = field(default=None, repr=False)
    as_admin: bool = False


Find: TypeAlias = Callable[[Session, Sequence[LookedUp]], Sequence[dict[str, Any]]]
"""Returns the fields to add to the result of each person; the people may be of several workspaces.

It executes two statements at most, for any number of people.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupPart:
    """What a feature adds: `load` returns its function for the settings of the process."""

    load: Callable[[Settings], Find]


def load_all(settings: Settings) -> list[Find]:
    """Return the functions of all features."""
    return [module.LOOKUP.load(settings) for module in feature_registry.parts("lookup")]


def add(
    session: Session, finds: Sequence[Find], people: Sequence[LookedUp], results: Sequence[dict[str, Any]]
) -> None:
    """Add to each person's result what the features have of the person, without numbers that are hidden."""
    added = [dict[str, Any]() for _person in people]
    for find in finds:
        for fields, of_feature in zip(added, find(session, people), strict=True):
            fields.update(of_feature)
    readers = [Reader(person.workspace_id, person.as_admin) for person in people]
    for result, fields in zip(results, listed_records.shown(session, readers, added), strict=True):
        result.update(fields)


def of_match(
    workspace_id: str, match: Match, data: ContactData, *, is_barred: bool, as_admin: bool = False
) -> LookedUp:
    """Return the person for the features; nothing of one who is barred."""
    if is_barred:
        return LookedUp(workspace_id=workspace_id, as_admin=as_admin)
    subject, contact = match.subject, match.contact
    company = match.company if contact else None
    people = match.remembered or ([contact] if contact else [])
    owned = [row for person in people for row in data.values_of(person.id) if data.owns(row)]
    emails = (row.email for row in owned if row.kind == "email")
    phones = (row.e164 for row in owned if row.kind == "phone" and not row.is_switchboard)
    return LookedUp(
        workspace_id=workspace_id,
        profiles=distinct(*urls_of(subject), *(urls_of(contact) if contact else ())),
        emails=distinct(subject.email, *emails),
        phones=distinct(subject.phone, *phones),
        name=(contact.full_name if contact else None) or subject.name or "",
        companies=distinct(subject.company_name, company.name if company else None),
        domains=distinct(subject.company_domain, company.domain if company else None),
        current_company=CurrentCompany(company.name, company.domain) if company else None,
        as_admin=as_admin,
    )


def distinct(*values: str | None) -> list[str]:
    """Return the values without empty ones and duplicates, in order."""
    return list(dict.fromkeys(filter(None, values)))
