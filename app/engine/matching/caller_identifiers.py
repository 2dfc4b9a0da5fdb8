"""Identifiers by which a workspace requested the contacts it has bought, as keyed digests.

Identifiers from a caller are never stored with a contact, because contacts are shared by all workspaces. If
the contact does not have such an identifier itself, this table finds the contact again, for that workspace
only.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, bindparam, delete, select
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.normal.companies.company_names import company_key
from app.domain.normal.names.name_keys import person_key
from app.domain.records.profile_links import spellings
from app.domain.records.subjects import EXACT, Subject
from app.engine.accounts.workspaces import foreign_key
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.db import Base, insert
from app.infra.database.session import Session

WORDS = "words"
"""The kind of a whole subject; the other kinds are its single identifiers and its name at a company."""
_NAME = "name"
KINDS = (WORDS, *EXACT, _NAME)  # in the order of lookup


class CallerIdentifier(Base):
    """An identifier by which a workspace requested a contact that does not have it itself."""

    __tablename__ = "caller_identifiers"
    __table_args__ = (
        Index("ix_caller_identifiers_contact_id", "contact_id"),
        Index("ix_caller_identifiers_digest", "digest"),
    )

    workspace_id: Mapped[str] = mapped_column(foreign_key(), primary_key=True)
    digest: Mapped[bytes] = mapped_column(primary_key=True)
    contact_id: Mapped[str] = mapped_column(
        String(28), ForeignKey("contacts.id", ondelete="CASCADE"), primary_key=True
    )
    kind: Mapped[str]
    created_at: Mapped[datetime]


def remember(
    session: Session, workspace_id: str, subject: Subject, contact_id: str, *, now: datetime
) -> None:
    """Insert the digests of the whole subject and of each of its identifiers for the contact."""
    keys = session.keys
    rows = [
        {
            "workspace_id": workspace_id,
            "digest": _digest(keys, identifier),
            "contact_id": contact_id,
            "kind": identifier.kind,
            "created_at": now,
        }
        for identifier in _identifiers(subject)
    ]
    session.execute(insert(session, CallerIdentifier).values(rows).on_conflict_do_nothing())


_FOUND = (
    select(CallerIdentifier.digest, CallerIdentifier.contact_id)
    .where(
        CallerIdentifier.workspace_id == bindparam("workspace_id"),
        CallerIdentifier.digest.in_(bindparam("digests", expanding=True)),
    )
    .order_by(CallerIdentifier.created_at, CallerIdentifier.contact_id)
)


def find(
    session: Session, workspace_id: str, subjects: Sequence[tuple[Subject, Collection[str]]]
) -> list[tuple[str, list[str]]]:
    """Return for each subject the kind of identifier that was found for the workspace, and its contact ids.

    Each subject comes with the kinds to search. If none is found, the kind is an empty string.
    """
    keys = session.keys
    searched = [
        [
            (item.kind, value)
            for item in _identifiers(subject)
            if item.kind in kinds
            for value in _digests(keys, [item])
        ]
        for subject, kinds in subjects
    ]
    digests = {key for candidates in searched for _kind, key in candidates}
    ids: dict[bytes, list[str]] = {}
    if digests:
        for row in session.execute(_FOUND, {"workspace_id": workspace_id, "digests": list(digests)}):
            ids.setdefault(row.digest, []).append(row.contact_id)
    return [
        next(((kind, ids[key]) for kind, key in candidates if key in ids), ("", []))
        for candidates in searched
    ]


def only_named_by(session: Session, identifiers: Collection[Identifier]) -> frozenset[str]:
    """Return the ids of contacts requested by one of these identifiers and by no other of its kind."""
    keys = session.keys
    digests = _digests(keys, identifiers)
    row = CallerIdentifier
    rows = session.execute(select(row.contact_id, row.kind).where(row.digest.in_(digests))).all()
    pairs = {(contact_id, kind) for contact_id, kind in rows}
    others = select(row.contact_id, row.kind).where(
        row.contact_id.in_({contact_id for contact_id, _kind in pairs}), row.digest.not_in(digests)
    )
    pairs -= {(contact_id, kind) for contact_id, kind in session.execute(others)}
    return frozenset(contact_id for contact_id, _kind in pairs)


def delete_all(session: Session, identifiers: Collection[Identifier]) -> None:
    """Delete all rows of these identifiers."""
    keys = session.keys
    digests = _digests(keys, identifiers)
    session.execute(delete(CallerIdentifier).where(CallerIdentifier.digest.in_(digests)))


def _digest(keys: DigestKeys, identifier: Identifier) -> bytes:
    return keys.suppression_digest(identifier.kind, identifier.value)


def _digests(keys: DigestKeys, identifiers: Collection[Identifier]) -> list[bytes]:
    """Return the digests by which the identifiers may be stored."""
    return [
        keys.suppression_digest(identifier.kind, value)
        for identifier in identifiers
        for value in spellings(identifier.value)
    ]


def _identifiers(subject: Subject) -> list[Identifier]:
    """Return the identifiers of the subject in the order of KINDS, without a contact id."""
    values = {name: value for name, value in subject.question().items() if name != "contact_id"}
    identifiers = [Identifier(WORDS, json.dumps(values, sort_keys=True))]
    identifiers += [Identifier(kind, value) for kind in EXACT if (value := getattr(subject, kind))]
    identifiers += [Identifier("linkedin_url", subject.member_url)] if subject.member_url else []
    employer = subject.company_domain or (subject.company_name and company_key(subject.company_name))
    if subject.name and employer:
        identifiers.append(Identifier(_NAME, json.dumps([person_key(subject.name), employer])))
    return identifiers
