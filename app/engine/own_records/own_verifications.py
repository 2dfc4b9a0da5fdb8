"""What verifications said about addresses in a workspace's own systems: private to the workspace.

A row has no address, but its digest, which is keyed and contains the workspace, so that nothing of it is of
use to another one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Index, LargeBinary, delete, select
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.records.person_matcher import PersonMatcher
from app.engine.accounts.workspaces import Workspace, foreign_key
from app.infra.clock import rfc3339
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.bulk_statements import is_among
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base, insert
from app.infra.database.session import Session

_PURPOSE = "own verification"


class OwnVerification(Base):
    """The last verdict on an address that a workspace has itself."""

    __tablename__ = "own_verifications"
    __table_args__ = (Index("ix_own_verifications_verified_at", "verified_at"),)

    workspace_id: Mapped[str] = mapped_column(foreign_key(), primary_key=True)
    digest: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    status: Mapped[str]
    verified_at: Mapped[datetime]


class OwnAddress(NamedTuple):
    """An address that a workspace has itself."""

    workspace_id: str
    email: str


class Verdict(NamedTuple):
    """The status of an address, and when it was verified."""

    status: str
    verified_at: datetime


def find(session: Session, addresses: Collection[OwnAddress]) -> dict[OwnAddress, Verdict]:
    """Return the verdicts on these addresses that are stored, in one statement."""
    if not addresses:
        return {}
    by_digest = {_digest(session.keys, address): address for address in addresses}
    columns = OwnVerification.__table__.c
    rows = session.execute(
        select(*columns).where(
            columns.workspace_id.in_({address.workspace_id for address in addresses}),
            is_among(session, columns.digest, list(by_digest)),
        )
    )
    return {by_digest[bytes(row.digest)]: Verdict(row.status, row.verified_at) for row in rows}


def store(session: Session, workspace_id: str, verdicts: Mapping[str, Verdict]) -> None:
    """Store the verdicts of the workspace's verifications, by address."""
    rows = [
        {
            "workspace_id": workspace_id,
            "digest": _digest(session.keys, OwnAddress(workspace_id, email)),
            **verdict._asdict(),
        }
        for email, verdict in verdicts.items()
    ]
    if not rows:
        return
    insertion = insert(session, OwnVerification).values(rows)
    written = {name: insertion.excluded[name] for name in ("status", "verified_at")}
    session.execute(insertion.on_conflict_do_update(index_elements=["workspace_id", "digest"], set_=written))


def add_or_lock(session: Session, address: OwnAddress, verdict: Verdict) -> bool:
    """Insert the verdict and return True; lock the one that the address has, and return False.

    Another transaction that inserts a verdict on the address is waited for.
    """
    key = {"workspace_id": address.workspace_id, "digest": _digest(session.keys, address)}
    addition = insert(session, OwnVerification).values(**key, **verdict._asdict()).on_conflict_do_nothing()
    if session.scalar(addition.returning(OwnVerification.digest)) is not None:
        return True
    session.execute(select(OwnVerification.digest).filter_by(**key).with_for_update())
    return False


def forget(session: Session, addresses: Iterable[OwnAddress]) -> None:
    """Delete the verdicts on these addresses."""
    digests = [_digest(session.keys, address) for address in addresses]
    session.execute(
        delete(OwnVerification).where(is_among(session, OwnVerification.__table__.c.digest, digests))
    )


def forget_of(session: Session, records: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
    """Delete the verdicts on the addresses of records: of each, the workspace and the stored values."""
    addresses = (
        OwnAddress(workspace_id, email)
        for workspace_id, person in records
        for email in person.get("emails", ())
    )
    forget(session, addresses)


def purge_expired(session: Session, *, before: Moment) -> None:
    """Delete the verdicts of verifications before this time: nobody relies on them any more."""
    session.execute(delete(OwnVerification).where(OwnVerification.verified_at < before))


@dataclass(frozen=True, slots=True)
class PersonVerifications:
    """The verdicts on a person's addresses, in all workspaces."""

    addresses: Sequence[OwnAddress]
    verdicts: Mapping[OwnAddress, Verdict]

    @property
    def rows(self) -> int:
        """Return how many verdicts there are."""
        return len(self.verdicts)

    @property
    def notes(self) -> int:
        """Return 0: a verdict is about one address only."""
        return 0

    def export(self, session: Session) -> dict[str, list[dict[str, Any]]]:
        """Return the verdicts, with the workspace."""
        ids = {address.workspace_id for address in self.verdicts}
        names = {row.id: row.name for row in session.scalars(select(Workspace).where(Workspace.id.in_(ids)))}
        return {
            "own_verifications": [
                {
                    "workspace_id": address.workspace_id,
                    "workspace": names[address.workspace_id],
                    "email": address.email,
                    "status": verdict.status,
                    "verified_at": rfc3339(verdict.verified_at),
                }
                for address, verdict in sorted(self.verdicts.items())
            ]
        }

    def erase(self, session: Session) -> tuple[()]:
        """Delete the verdicts, also those that were stored since they were found."""
        forget(session, self.addresses)
        return ()


def of_person(session: Session, matcher: PersonMatcher) -> PersonVerifications:
    """Return the verdicts on the person's addresses."""
    workspaces = (
        session.scalars(select(OwnVerification.workspace_id).distinct()).all() if matcher.emails else ()
    )
    addresses = [OwnAddress(one, email) for one in sorted(workspaces) for email in sorted(matcher.emails)]
    return PersonVerifications(addresses, find(session, addresses))


def _digest(keys: DigestKeys, address: OwnAddress) -> bytes:
    return keys.digest(_PURPOSE, f"{address.workspace_id}\0{address.email}")
