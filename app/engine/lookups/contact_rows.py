"""The statement that reads all that is stored of contacts, and its rows by kind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Label,
    Select,
    String,
    Subquery,
    cast,
    func,
    literal_column,
    null,
    select,
    union_all,
)
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.types import TypeEngine

from app.engine.call_registers import registers
from app.engine.contacts import switchboards, value_reports
from app.engine.contacts.bounce_reports import IS_OPEN, Feedback, reasons_with_bounce
from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email, at_most_risky
from app.engine.contacts.phones import Phone
from app.engine.contacts.saved import saved_profiles
from app.engine.contacts.saved.saved_profiles import SavedProfile, SavedSummary
from app.engine.contacts.stored_rows import StoredEmail, StoredPhone
from app.engine.ledger import ownership
from app.engine.ledger.ownership import OwnedField
from app.engine.ledger.reveals import Reveal
from app.infra.database.session import Session
from app.infra.database.statements import Statement, any_of, rows_of

_EMAIL: Final = "email"
_PHONE: Final = "phone"
_OWNED, _SAVED, _EMPLOYER = "owned", "saved", "employer"
_ALWAYS = (_EMAIL, _PHONE, _OWNED)
_READER = "reader_id"
"""The column with the workspace for which a row was read."""
_PAIR = {name: String() for name in ("workspace_id", "value")}
"""The columns of the parameters: a workspace, with the id of a contact or the URL of a saved profile.

Each query has the lists of them, too: without statistics, PostgreSQL reads a whole table for a join alone.
"""


class WantedRows(NamedTuple):
    """The ids of contacts, and the URLs of saved profiles, that are to be read for a workspace."""

    workspace_id: str
    contact_ids: Collection[str]
    saved_urls: Collection[str] = ()


class Employer(NamedTuple):
    """What suppressions, exclusions and regional rules read of a person and their company."""

    contact_id: str
    person_key: str | None
    person_country: str | None
    employer_domain: str | None
    employer_key: str | None
    employer_page: str | None


@dataclass(frozen=True, slots=True)
class ContactRows:
    """The rows that are stored of some contacts, and of a workspace's saved profiles by URL."""

    emails: dict[str, list[StoredEmail]] = field(default_factory=lambda: defaultdict(list))
    phones: dict[str, list[StoredPhone]] = field(default_factory=lambda: defaultdict(list))
    owned: set[OwnedField] = field(default_factory=set)
    saved: dict[str, SavedSummary] = field(default_factory=dict)
    employers: dict[str, Employer] = field(default_factory=dict)

    @property
    def values(self) -> chain[StoredEmail | StoredPhone]:
        """The e-mails and the phones."""
        return chain(*self.emails.values(), *self.phones.values())

    def of(self, wanted: WantedRows) -> ContactRows:
        """Return the rows of these contacts and saved profiles."""
        ids = wanted.contact_ids
        return ContactRows(
            {id_: self.emails[id_] for id_ in ids if id_ in self.emails},
            {id_: self.phones[id_] for id_ in ids if id_ in self.phones},
            {field for field in self.owned if field.contact_id in ids},
            {url: self.saved[url] for url in wanted.saved_urls if url in self.saved},
            {id_: self.employers[id_] for id_ in ids if id_ in self.employers},
        )


def read(session: Session, wanted: Sequence[WantedRows], *, with_employers: bool) -> list[ContactRows]:
    """Read, for each workspace, the rows of the contacts and the saved profiles that it wants, at once."""
    contacts = {(one.workspace_id, id_) for one in wanted for id_ in one.contact_ids}
    saved = {(one.workspace_id, url) for one in wanted for url in one.saved_urls}
    if not contacts and not saved:
        return [ContactRows() for _one in wanted]
    parameters: dict[str, Any] = {
        name: [dict(zip(_PAIR, pair, strict=True)) for pair in sorted(pairs)]
        for name, pairs in (("contacts", contacts), ("saved", saved))
    }
    parameters |= {
        "workspace_ids": sorted({one.workspace_id for one in wanted}),
        "contact_ids": sorted({id_ for _workspace_id, id_ in contacts}),
        "urls": sorted({url for _workspace_id, url in saved}),
    }
    query = _QUERIES[with_employers, bool(saved)]
    rows: dict[str, ContactRows] = defaultdict(ContactRows)
    for row in query.statement.all(session, parameters):
        query.add(rows, row)
    return [rows[one.workspace_id].of(one) for one in wanted]


class _Query:
    """The statement for rows of these kinds, and where the fields of each kind are in a row of it."""

    def __init__(self, *kinds: str) -> None:
        self.statement = Statement(tuple, partial(_union, kinds))
        names = _names(kinds)
        self._pick = {kind: itemgetter(*map(names.index, _ROWS[kind]._fields)) for kind in kinds}

    def add(self, rows_by_workspace: Mapping[str, ContactRows], row: tuple[Any, ...]) -> None:
        """Add a row of the statement to the rows of its workspace and kind."""
        kind, rows = row[0], rows_by_workspace[row[1]]
        values = self._pick[kind](row)
        if kind == _EMAIL:
            email = StoredEmail._make(values)
            rows.emails[email.contact_id].append(_as_bounced(email) if email.bounce_id else email)
        elif kind == _PHONE:
            phone = StoredPhone._make(values)
            rows.phones[phone.contact_id].append(phone)
        elif kind == _OWNED:
            rows.owned.add(OwnedField._make(values))
        elif kind == _SAVED:
            summary = SavedSummary._make(values)
            rows.saved[summary.linkedin_url] = summary
        else:
            employer = Employer._make(values)
            rows.employers[employer.contact_id] = employer


def _as_bounced(row: StoredEmail) -> StoredEmail:
    """Return the address as seen by the workspace that reported its bounce: risky at best."""
    return row._replace(
        status=at_most_risky(row.status), status_reasons=reasons_with_bounce(row.status_reasons)
    )


_ROWS: Mapping[str, Any] = {
    _EMAIL: StoredEmail,
    _PHONE: StoredPhone,
    _OWNED: OwnedField,
    _SAVED: SavedSummary,
    _EMPLOYER: Employer,
}


def _names(kinds: Sequence[str]) -> list[str]:
    """Return the columns of the union: the kind, the workspace, and the fields of all rows."""
    return list(dict.fromkeys(("kind", _READER, *chain.from_iterable(_ROWS[kind]._fields for kind in kinds))))


def _union(kinds: Sequence[str], dialect: str) -> CompoundSelect[Any]:
    """Return the query for all that is stored of contacts; the column `kind` tells the rows apart."""
    selects = {kind: _SELECTS[kind](dialect).subquery() for kind in kinds}
    types = {column.key: column.type for rows in selects.values() for column in rows.c}
    names = _names(kinds)[1:]
    return union_all(*(_in_union(kind, rows, names, types) for kind, rows in selects.items()))


def _in_union(
    kind: str, rows: Subquery, names: Sequence[str], types: Mapping[str, TypeEngine[Any]]
) -> Select[Any]:
    """Select the rows with all columns of the union, NULL where they have none."""
    columns = (rows.c[name] if name in rows.c else cast(null(), types[name]).label(name) for name in names)
    return select(literal_column(f"'{kind}'").label("kind"), *columns)


def _emails(dialect: str) -> Select[Any]:
    emails, wanted = Email.__table__, rows_of(dialect, "contacts", _PAIR).c
    bounce = (
        select(Feedback.id)
        .where(Feedback.email_id == emails.c.id, Feedback.workspace_id == wanted.workspace_id, IS_OPEN)
        .scalar_subquery()
    )
    owned_as = ownership.owned_value(_EMAIL, emails.c.email_index, wanted.workspace_id)
    return select(
        wanted.workspace_id.label(_READER),
        emails,
        bounce.label("bounce_id"),
        *_reported(_EMAIL, emails.c.email_index, wanted.workspace_id),
        owned_as.label("owned_as"),
    ).where(any_of(dialect, emails.c.contact_id, "contact_ids"), emails.c.contact_id == wanted.value)


def _phones(dialect: str) -> Select[Any]:
    phones, wanted = Phone.__table__, rows_of(dialect, "contacts", _PAIR).c
    owned_as = ownership.owned_value(_PHONE, phones.c.e164_index, wanted.workspace_id)
    return select(
        wanted.workspace_id.label(_READER),
        phones,
        switchboards.is_one(phones).label("is_switchboard"),
        *_reported(_PHONE, phones.c.e164_index, wanted.workspace_id),
        owned_as.label("owned_as"),
        registers.ANY.label("has_registers"),
        cast(null(), String).label("listings"),
    ).where(any_of(dialect, phones.c.contact_id, "contact_ids"), phones.c.contact_id == wanted.value)


def _reported(
    field: value_reports.Field, value_index: ColumnElement[Any], workspace_id: ColumnElement[str]
) -> list[Label[Any]]:
    """Return the columns of what the workspace reported last of a value, and when."""
    columns: Sequence[tuple[str, InstrumentedAttribute[Any]]] = (
        ("report_kind", Feedback.kind),
        ("report_at", Feedback.created_at),
    )
    return [
        value_reports.last(column, field, value_index, workspace_id).label(name) for name, column in columns
    ]


def _owned(dialect: str) -> Select[Any]:
    wanted = rows_of(dialect, "contacts", _PAIR).c
    fields = ownership.owned_fields(dialect, any_of(dialect, Reveal.workspace_id, "workspace_ids"))
    is_wanted = (Reveal.workspace_id == wanted.workspace_id, Reveal.contact_id == wanted.value)
    return fields.add_columns(wanted.workspace_id.label(_READER)).where(*is_wanted)


def _saved(dialect: str) -> Select[Any]:
    wanted = rows_of(dialect, "saved", _PAIR).c
    saved = saved_profiles.summaries_by_url(wanted.value, wanted.workspace_id)
    of_these = any_of(dialect, SavedProfile.workspace_id, "workspace_ids")
    is_wanted = (of_these, any_of(dialect, SavedProfile.linkedin_url, "urls"))
    return saved.add_columns(wanted.workspace_id.label(_READER)).where(*is_wanted)


def _employers(dialect: str) -> Select[Any]:
    people, companies = Contact.__table__.c, Company.__table__.c
    wanted = rows_of(dialect, "contacts", _PAIR)
    joined = wanted.join(Contact.__table__, people.id == wanted.c.value)
    return (
        select(
            wanted.c.workspace_id.label(_READER),
            people.id.label("contact_id"),
            people.name_key.label("person_key"),
            companies.domain.label("employer_domain"),
            companies.name_key.label("employer_key"),
            companies.linkedin_url.label("employer_page"),
            func.coalesce(people.country, companies.country).label("person_country"),
        )
        .select_from(joined.outerjoin(Company.__table__, companies.id == people.company_id))
        .where(any_of(dialect, people.id, "contact_ids"))
    )


_SELECTS = {_EMAIL: _emails, _PHONE: _phones, _OWNED: _owned, _SAVED: _saved, _EMPLOYER: _employers}
# One statement, because a lookup takes as long as its statements.
_QUERIES = {
    (False, False): _Query(*_ALWAYS),
    (True, False): _Query(*_ALWAYS, _EMPLOYER),
    (False, True): _Query(*_ALWAYS, _SAVED),
    (True, True): _Query(*_ALWAYS, _EMPLOYER, _SAVED),
}
"""By whether the contacts are read with their companies, and whether saved profiles are read."""
