"""The index of a workspace's CRM: its people by keyed digests, with their values encrypted.

A digest contains the workspace, so that equal people of two workspaces have different ones. It is made of an
address, a number, a profile, or a name with its company or the company's domain.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import ForeignKey, LargeBinary, Select, String, UniqueConstraint, delete, func, select
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.errors import InvalidValue
from app.domain.normal.companies.company_domains import mail_company_domain
from app.domain.normal.companies.company_names import company_key
from app.domain.normal.emails import email_domain, email_kind
from app.domain.normal.names.name_keys import person_key
from app.domain.normal.names.name_parts import plain_full_name
from app.domain.records.person_matcher import PersonMatcher
from app.domain.suppression_lists import forms
from app.engine.accounts.workspaces import foreign_key
from app.engine.contacts.bulk import new_ids
from app.engine.contacts.suppressions import suppression_checks
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.features.crm.connections import CrmConnection
from app.features.crm.index.crm_people import CrmPerson, RecordKind
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.bulk_statements import insert_all, is_among
from app.infra.database.db import Base
from app.infra.database.encrypted_columns import EncryptedJson, encrypted
from app.infra.database.session import Session
from app.infra.database.statements import Statement, any_of

T = TypeVar("T")

_PURPOSE = "crm_index"
_DIGEST_BYTES = 16
BATCH = 50_000
"""The records that are deleted in one transaction when a CRM is disconnected: about a second."""
EMAIL, PHONE, PROFILE, NAME = "email", "phone", "linkedin_url", "name"
"""What a person in the CRM is recognized by, in order of certainty: `PROFILE` first."""
_CERTAINTY = (PROFILE, EMAIL, PHONE, NAME)


class CrmIndexRecord(Base):
    """A person in a CRM; `changed_at` is by the CRM's clock, `read_at` when the record was last read."""

    __tablename__ = "crm_index"
    __table_args__ = (UniqueConstraint("connection_id", "kind", "crm_id"),)

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    connection_id: Mapped[str] = mapped_column(ForeignKey("crm_connections.id", ondelete="CASCADE"))
    kind: Mapped[str]
    crm_id: Mapped[str]
    workspace_id: Mapped[str] = mapped_column(foreign_key(), index=True)
    changed_at: Mapped[datetime | None]
    read_at: Mapped[datetime]
    person: Mapped[dict[str, Any]] = mapped_column(EncryptedJson("crm_index.person"))


class CrmIndexKey(Base):
    """A digest by which a record is found, and what it is of."""

    __tablename__ = "crm_index_keys"

    workspace_id: Mapped[str] = mapped_column(foreign_key(), primary_key=True)
    digest: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    record_id: Mapped[str] = mapped_column(
        ForeignKey("crm_index.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    matched_on: Mapped[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """A person who may be in the CRM: what the workspace itself gave or owns of them, in normal form."""

    profiles: Sequence[str] = field(default=(), repr=False)
    emails: Sequence[str] = field(default=(), repr=False)
    phones: Sequence[str] = field(default=(), repr=False)
    name: str = field(default="", repr=False)
    companies: Sequence[str] = field(default=(), repr=False)
    domains: Sequence[str] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexMatch:
    """A record of a person in a CRM, and what it was recognized by."""

    vendor: str
    base_url: str | None
    account: str | None
    person: CrmPerson = field(repr=False)
    read_at: datetime
    matched_on: Sequence[str]


def without_unchanged(session: Session, connection_id: str, people: Sequence[CrmPerson]) -> list[CrmPerson]:
    """Return the people who are not stored as they were changed last."""
    columns = CrmIndexRecord.__table__.c
    query = select(columns.kind, columns.crm_id, columns.changed_at).where(
        columns.connection_id == connection_id,
        is_among(session, columns.crm_id, [person.crm_id for person in people]),
    )
    stored = {(row.kind, row.crm_id): row.changed_at for row in session.execute(query)}
    return [
        person
        for person in people
        if person.changed_at is None or stored.get((person.kind, person.crm_id)) != person.changed_at
    ]


def store(session: Session, connection: CrmConnection, people: Sequence[CrmPerson], *, now: datetime) -> None:
    """Store the people of a CRM who are not suppressed, in place of what was stored of their records."""
    latest = list({(person.kind, person.crm_id): person for person in people}.values())
    for kind in {person.kind for person in latest}:
        forget(session, connection.id, kind, [person.crm_id for person in latest if person.kind is kind])
    allowed = _without_suppressed(session, latest, lambda person: person)
    ids = new_ids("crr", len(allowed))
    rows, keys = [], []
    for person in allowed:
        record_id, workspace_id = next(ids), connection.workspace_id
        rows.append(
            {
                "id": record_id,
                "connection_id": connection.id,
                "kind": person.kind.value,
                "crm_id": person.crm_id,
                "workspace_id": workspace_id,
                "changed_at": person.changed_at,
                "read_at": now,
                "person": encrypted(session, CrmIndexRecord.person, record_id, _values(person)),
            }
        )
        keys += [
            {"workspace_id": workspace_id, "digest": digest, "record_id": record_id, "matched_on": matched_on}
            for digest, matched_on in _digests(session.keys, workspace_id, _sought(person)).items()
        ]
    insert_all(session, CrmIndexRecord, rows)
    insert_all(session, CrmIndexKey, keys)


def forget(session: Session, connection_id: str, kind: str, crm_ids: Sequence[str]) -> None:
    """Delete what is stored of these records; their keys are deleted with them."""
    columns = CrmIndexRecord.__table__.c
    is_one = (columns.connection_id == connection_id, columns.kind == kind)
    session.execute(delete(CrmIndexRecord).where(*is_one, is_among(session, columns.crm_id, list(crm_ids))))


def forget_some(session: Session, connection_id: str) -> int:
    """Delete up to `BATCH` records of a CRM; return how many, 0 once there are none."""
    some = select(CrmIndexRecord.id).where(CrmIndexRecord.connection_id == connection_id).limit(BATCH)
    deleted = session.execute(
        delete(CrmIndexRecord).where(CrmIndexRecord.id.in_(some)).returning(CrmIndexRecord.id)
    )
    return len(deleted.all())


def forget_unread(session: Session, connection_id: str, *, before: datetime) -> int:
    """Delete the records that were not read since, which the CRM no longer has; return how many."""
    outdated = (CrmIndexRecord.connection_id == connection_id, CrmIndexRecord.read_at < before)
    deleted = session.execute(delete(CrmIndexRecord).where(*outdated).returning(CrmIndexRecord.id))
    return len(deleted.all())


def size(session: Session, connection_id: str) -> int:
    """Return how many records of a CRM are indexed."""
    query = select(func.count()).where(CrmIndexRecord.connection_id == connection_id)
    return session.scalars(query).one()


def find(session: Session, sought: Sequence[tuple[str, Sought]]) -> list[list[IndexMatch]]:
    """Return for each workspace and person their records in its CRMs, the most certain first.

    One statement for any number of people and workspaces, and one more if anybody is found: records of people
    who were suppressed since they were read are left out.
    """
    wanted = [(workspace_id, _digests(session.keys, workspace_id, one)) for workspace_id, one in sought]
    digests = list({digest for _workspace_id, found in wanted for digest in found})
    if not digests:
        return [[] for _ in sought]
    workspaces = list({workspace_id for workspace_id, _found in wanted})
    rows: dict[tuple[str, bytes], list[_Found]] = defaultdict(list)
    for row in _FOUND.all(session, {"workspace_ids": workspaces, "digests": digests}):
        rows[row.workspace_id, bytes(row.digest)].append(row)
    matches = [list(_matches(workspace_id, found, rows)) for workspace_id, found in wanted]
    shown = [match for found in matches for match in found]
    if not shown:
        return matches
    allowed = set(map(id, _without_suppressed(session, shown, lambda match: match.person)))
    return [[match for match in found if id(match) in allowed] for found in matches]


def records_of(session: Session, matcher: PersonMatcher) -> list[str]:
    """Return the ids of the records of a person, in the CRMs of all workspaces."""
    sought = Sought(
        profiles=sorted(matcher.linkedin_urls), emails=sorted(matcher.emails), phones=sorted(matcher.phones)
    )
    named = [(NAME, kind, "\0".join(pair)) for pair in matcher.names for kind in ("domain", "company")]
    found: dict[str, bool] = {}
    for workspace_id in session.scalars(select(CrmConnection.workspace_id).distinct()).all():
        digests = _digests_of_keys(session.keys, workspace_id, [*_keys(sought), *named])
        key = CrmIndexKey.__table__.c
        query = select(key.record_id, key.matched_on).where(
            key.workspace_id == workspace_id, is_among(session, key.digest, list(digests))
        )
        for row in session.execute(query):
            found[row.record_id] = found.get(row.record_id, False) or row.matched_on != NAME
    certain = [record_id for record_id, is_certain in found.items() if is_certain]
    rest = [record_id for record_id, is_certain in found.items() if not is_certain]
    records = session.scalars(select(CrmIndexRecord).where(CrmIndexRecord.id.in_(rest)))
    return sorted([*certain, *(record.id for record in records if matcher.matches(_subject(record.person)))])


def _subject(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a record by which a matcher knows a person."""
    return {
        "full_name": values.get("name"),
        "company_name": values.get("company"),
        "company_domain": values.get("domain"),
        "linkedin_url": next(iter(values.get("profiles", ())), None),
    }


class _Found(NamedTuple):
    workspace_id: str
    digest: bytes
    matched_on: str
    id: str
    kind: str
    crm_id: str
    changed_at: datetime | None
    read_at: datetime
    person: dict[str, Any]
    vendor: str
    base_url: str | None
    account: str | None


def _find(dialect: str) -> Select[Any]:
    key, record, connection = CrmIndexKey.__table__.c, CrmIndexRecord.__table__.c, CrmConnection.__table__.c
    return (
        select(
            key.workspace_id,
            key.digest,
            key.matched_on,
            *(record[name] for name in ("id", "kind", "crm_id", "changed_at", "read_at", "person")),
            *(connection[name] for name in ("vendor", "base_url", "account")),
        )
        .join(CrmIndexRecord.__table__, record.id == key.record_id)
        .join(CrmConnection.__table__, connection.id == record.connection_id)
        .where(
            any_of(dialect, key.workspace_id, "workspace_ids"),
            any_of(dialect, key.digest, "digests"),
            record.workspace_id == key.workspace_id,
        )
    )


_FOUND = Statement(_Found, _find)


def _matches(
    workspace_id: str, digests: Mapping[bytes, str], rows: Mapping[tuple[str, bytes], Sequence[_Found]]
) -> Iterator[IndexMatch]:
    """Yield the records of one person, each once."""
    by_record: dict[str, list[_Found]] = defaultdict(list)
    for digest in digests:
        for row in rows.get((workspace_id, digest), ()):
            by_record[row.id].append(row)
    for found in sorted(by_record.values(), key=_rank):
        first = found[0]
        kind = RecordKind(first.kind)
        person = CrmPerson(crm_id=first.crm_id, kind=kind, changed_at=first.changed_at, **first.person)
        yield IndexMatch(
            vendor=first.vendor,
            base_url=first.base_url,
            account=first.account,
            person=person,
            read_at=first.read_at,
            matched_on=[name for name in _CERTAINTY if name in {row.matched_on for row in found}],
        )


def _rank(found: Sequence[_Found]) -> tuple[int, str]:
    return min(_CERTAINTY.index(row.matched_on) for row in found), found[0].id


def _without_suppressed(session: Session, items: Sequence[T], person_of: Callable[[T], CrmPerson]) -> list[T]:
    """Return the items whose person has no identifier that is suppressed."""
    identifiers = [frozenset(_identifiers(person_of(item))) for item in items]
    suppressed = suppression_checks.suppressed(session, frozenset().union(*identifiers))
    return [item for item, own in zip(items, identifiers, strict=True) if suppressed.isdisjoint(own)]


def _identifiers(person: CrmPerson) -> Iterator[Identifier]:
    for kind, values in ((PROFILE, person.profiles), (EMAIL, person.emails), (PHONE, person.phones)):
        yield from (Identifier(kind, value) for value in values)
    name = _name_key(person.name)
    employers = filter(None, [person.domain, company_key(person.company)]) if name else ()
    yield from (Identifier("name", forms.employment(name, employer)) for employer in employers)


def _values(person: CrmPerson) -> dict[str, Any]:
    """Return what is stored of a person, without empty values."""
    plain = {"crm_id", "kind", "changed_at"}
    return {name: value for name, value in asdict(person).items() if value and name not in plain}


def _sought(person: CrmPerson) -> Sought:
    return Sought(
        profiles=person.profiles,
        emails=person.emails,
        phones=person.phones,
        name=person.name,
        companies=[person.company] if person.company else [],
        domains=sorted({*filter(None, (person.domain, *map(_company_domain, person.emails)))}),
    )


def _company_domain(email: str) -> str | None:
    """Return the domain of the company at which an address is; most records have no website."""
    return mail_company_domain(email_domain(email)) if email_kind(email) == "work" else None


def _digests(keys: DigestKeys, workspace_id: str, sought: Sought) -> dict[bytes, str]:
    """Return the digests of a person, each with what it is of."""
    return _digests_of_keys(keys, workspace_id, _keys(sought))


def _digests_of_keys(
    keys: DigestKeys, workspace_id: str, of: Iterable[tuple[str, str, str]]
) -> dict[bytes, str]:
    return {
        keys.digest(_PURPOSE, f"{workspace_id}\0{kind}\0{value}")[:_DIGEST_BYTES]: matched_on
        for matched_on, kind, value in of
    }


def _keys(sought: Sought) -> Iterator[tuple[str, str, str]]:
    """Yield the keys of a person: what each is of, its kind, and its text."""
    for matched_on, values in ((PROFILE, sought.profiles), (EMAIL, sought.emails), (PHONE, sought.phones)):
        yield from ((matched_on, matched_on, value) for value in values)
    name = _name_key(sought.name)
    if name:
        yield from ((NAME, "domain", f"{name}\0{domain}") for domain in sought.domains)
        companies = filter(None, map(company_key, sought.companies))
        yield from ((NAME, "company", f"{name}\0{company}") for company in companies)


@lru_cache(maxsize=4096)  # parsing a name takes longer than the rest of a lookup's digests
def _name_key(name: str) -> str:
    """Return the key of a full name; empty for a text that names nobody, and for a name of one word."""
    try:
        key = person_key(plain_full_name(name)) if name else ""
    except InvalidValue:
        return ""
    return key if " " in key else ""
