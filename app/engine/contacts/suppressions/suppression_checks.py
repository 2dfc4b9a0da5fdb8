"""Finds which identifiers are on a suppression list, in a query or in the statement of a request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import ColumnElement, LargeBinary, Select, bindparam, func, select

from app.domain.suppression_lists.forms import Form
from app.engine.contacts.bulk import batched
from app.engine.contacts.suppressions.suppression_digests import Identifier, checked_digests, own_digests
from app.engine.contacts.suppressions.suppressions import Suppression
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.bulk_statements import is_among
from app.infra.database.session import Session
from app.infra.database.statements import Statement, any_of

DIGEST = Suppression.__table__.c.digest
LATEST = select(func.max(Suppression.created_at)).scalar_subquery()
"""The time of the latest suppression, or NULL."""
MAX_FORMS = 16
"""Up to this number of digests a prepared statement serves: two of a profile, four of one with an id, six of
an address, four of a number, one of a domain. A host with many labels has one for each domain above it."""
_PARAMETERS = [bindparam(f"digest_{number}", type_=LargeBinary()) for number in range(MAX_FORMS)]
IS_ONE_OF_FEW = Suppression.digest.in_(_PARAMETERS)
_FEW = Statement(tuple, lambda _dialect: select(DIGEST).where(IS_ONE_OF_FEW))
_MANY = Statement(tuple, lambda dialect: select(DIGEST).where(any_of(dialect, DIGEST, "digests")))
IS_ANY_OF_FEW = select(Suppression.digest).where(IS_ONE_OF_FEW).exists()
"""The condition that any of a few identifiers is suppressed, with the parameters of `parameters`."""


def suppressed(session: Session, identifiers: Iterable[Identifier]) -> frozenset[Identifier]:
    """Return the identifiers that are suppressed, by themselves or by their domain."""
    by_identifier = digests_by_identifier(session.keys, identifiers)
    digests = list(dict.fromkeys(value for values in by_identifier.values() for value in values))
    if not digests:
        return frozenset()
    found = _listed(session, digests)
    return frozenset(item for item, values in by_identifier.items() if not found.isdisjoint(values))


def digests_by_identifier(
    keys: DigestKeys, identifiers: Iterable[Identifier]
) -> dict[Identifier, list[bytes]]:
    """Return the digests of which any suppresses an identifier, by identifier."""
    cache: dict[Form, bytes] = {}
    return {item: checked_digests(keys, item, cache) for item in identifiers}


def any_suppressed(session: Session, identifiers: Iterable[Identifier]) -> frozenset[Identifier]:
    """Return the suppressed ones of any number of identifiers; with an empty list none is digested."""
    if session.scalar(select(Suppression.digest).limit(1)) is None:
        return frozenset()
    return frozenset().union(*(suppressed(session, part) for part in batched(identifiers)))


def has_reason(session: Session, reason: str) -> bool:
    """Return whether anybody is suppressed for this reason."""
    return session.scalar(select(Suppression.digest).where(Suppression.reason == reason).limit(1)) is not None


def with_reason(session: Session, identifiers: Iterable[Identifier], reason: str) -> frozenset[Identifier]:
    """Return the identifiers that are themselves, not by their domain, suppressed for this reason."""
    keys = session.keys
    by_identifier = {item: own_digests(keys, item) for item in identifiers}
    digests = dict.fromkeys(value for values in by_identifier.values() for value in values)
    query = select(Suppression.digest).where(Suppression.reason == reason)
    found = _found(session, query, digests)
    return frozenset(item for item, values in by_identifier.items() if not found.isdisjoint(values))


def is_listed(session: Session, value: bytes) -> bool:
    """Return whether any list has an entry with this digest."""
    return session.scalar(select(Suppression.digest).where(DIGEST.in_([value])).limit(1)) is not None


def entries_for(session: Session, identifier: Identifier) -> Sequence[Suppression]:
    """Return the entries that suppress an identifier, oldest first."""
    digests = checked_digests(session.keys, identifier, {})
    query = select(Suppression).where(DIGEST.in_(digests))
    return session.scalars(query.order_by(Suppression.created_at, Suppression.list_name)).all()


def parameters(digests: Sequence[bytes] = ()) -> dict[str, bytes | None]:
    """Return the parameters of `IS_ANY_OF_FEW`; without digests, no row matches.

    Those behind the first `MAX_FORMS` are left out: of digests that are all suppressed, one is enough.
    """
    return {
        f"digest_{number}": digests[number] if number < len(digests) else None for number in range(MAX_FORMS)
    }


def request_parameters(session: Session, identifiers: Iterable[Identifier]) -> dict[str, bytes | None]:
    """Return the parameters of `IS_ANY_OF_FEW` for the identifiers of one request.

    Of more digests than it has parameters for, those that are suppressed are searched for first.
    """
    digests = digests_of(session, identifiers)
    if len(digests) > MAX_FORMS:
        digests = sorted(_listed(session, digests))
    return parameters(digests)


def digests_of(session: Session, identifiers: Iterable[Identifier]) -> list[bytes]:
    """Return the digests of which any suppresses one of the identifiers."""
    keys = session.keys
    return list(dict.fromkeys(value for item in identifiers for value in checked_digests(keys, item, {})))


def is_any_of(digests: ColumnElement[bytes], where: ColumnElement[bool]) -> ColumnElement[bool]:
    """Return the condition that any digest in a column of the rows with this condition is suppressed."""
    listed = select(DIGEST).where(digests == DIGEST, where).limit(1)
    return listed.scalar_subquery().is_not(None)  # EXISTS could read the whole list


def _listed(session: Session, digests: Sequence[bytes]) -> set[bytes]:
    """Return which of any number of digests are on a list."""
    if len(digests) <= MAX_FORMS:
        return {digest for (digest,) in _FEW.all(session, parameters(digests))}
    return {digest for part in batched(digests) for (digest,) in _MANY.all(session, {"digests": part})}


def _found(session: Session, query: Select[bytes], digests: Iterable[bytes]) -> set[bytes]:
    """Return which of any number of digests the query returns."""
    return {
        value
        for part in batched(digests)
        for value in session.scalars(query.where(is_among(session, DIGEST, part)))
    }
