"""Finds which identifiers are suppressed and which a workspace excludes, in one statement for both."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, CompoundSelect, LargeBinary, bindparam, cast, null, select, union_all

from app.domain.exclusions import CRM_STAGE, Kind, Reason
from app.domain.messages import Message
from app.engine.contacts.bulk import batched
from app.engine.contacts.suppressions import suppression_checks
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.exclusions import exclusion_sources
from app.engine.exclusions.exclusions import Exclusion, digest, source_digest
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.session import Session
from app.infra.database.statements import Statement, any_of


class Excluded(NamedTuple):
    """Why a workspace excludes a person, and the kind of the exclusion that does it.

    `vendor` and `stage` are those of the record in a CRM if its stage does it, and `profiles` the record's.
    """

    reason: str
    note: str | None
    matched_on: str
    vendor: str | None = None
    stage: str | None = None
    profiles: tuple[str, ...] = ()

    def to_public(self) -> dict[str, Any]:
        """Return the representation of a lookup, which a job stores as its result."""
        return {name: value for name, value in self._asdict().items() if name != "profiles"}


def sentence(excluded: Mapping[str, str | None]) -> str:
    """Return what the representation says, and what can be done about it."""
    is_stage = excluded["reason"] == CRM_STAGE
    reason = Message("stage in your CRM") if is_stage else Message(Reason(excluded["reason"] or "").label)
    why = Message("{reason}: {note}", reason=reason, note=excluded["note"]) if excluded["note"] else reason
    if is_stage:
        return Message(
            "Your workspace excludes this person ({why}), so nothing was revealed and nothing was charged. "
            "An admin can change the excluded stages of the CRM.",
            why=why,
        )
    return Message(
        "Your workspace excludes this person ({why}), so nothing was revealed and nothing was charged. "
        "An admin can remove the exclusion on the page of exclusions.",
        why=why,
    )


class Wanted(NamedTuple):
    """The identifiers of which a workspace may exclude some."""

    workspace_id: str
    identifiers: Collection[Identifier]


_DIGEST = Exclusion.__table__.c.digest
_KINDS = frozenset(Kind)
MAX_DIGESTS = suppression_checks.MAX_FORMS
_PARAMETERS = [bindparam(f"excluded_{number}", type_=LargeBinary()) for number in range(MAX_DIGESTS)]
_IS_ONE_OF_FEW = _DIGEST.in_(_PARAMETERS)
IS_ANY_OF_FEW = select(_DIGEST).where(_IS_ONE_OF_FEW).exists()
"""The condition that any of a few identifiers is excluded, with the parameters of `parameters`."""


class _Row(NamedTuple):
    """A digest that is listed; a suppressed one has no kind."""

    note: str | None
    digest: bytes
    kind: str | None
    reason: str | None


def _listed(is_excluded: ColumnElement[bool], is_suppressed: ColumnElement[bool]) -> CompoundSelect[Any]:
    columns = Exclusion.__table__.c
    names = ("kind", "reason")
    excluded = select(columns.note, _DIGEST, *(columns[name] for name in names)).where(is_excluded)
    absent = (cast(null(), columns[name].type).label(name) for name in names)
    note = cast(null(), columns.note.type).label("note")
    suppressed = select(note, suppression_checks.DIGEST, *absent).where(is_suppressed)
    return union_all(excluded, suppressed)


_FEW = Statement(_Row, lambda _dialect: _listed(_IS_ONE_OF_FEW, suppression_checks.IS_ONE_OF_FEW))
_MANY = Statement(
    _Row,
    lambda dialect: _listed(
        any_of(dialect, _DIGEST, "excluded"), any_of(dialect, suppression_checks.DIGEST, "digests")
    ),
)


def check(
    session: Session, identifiers: Iterable[Identifier], wanted: Sequence[Wanted]
) -> tuple[frozenset[Identifier], list[dict[Identifier, Excluded]]]:
    """Return the suppressed ones of the identifiers, and for each workspace those that it excludes.

    It is one statement for two thousand digests of each kind, which finds out, too, who uses the sources of
    features; only then they are searched.
    """
    suppressible = suppression_checks.digests_by_identifier(session.keys, identifiers)
    excludable = [_digests(session.keys, one.workspace_id, one.identifiers) for one in wanted]
    suppressing = dict.fromkeys(value for digests in suppressible.values() for value in digests)
    excluding = dict.fromkeys(value for digests in excludable for value in digests.values())
    sources = exclusion_sources.parts() if any(one.identifiers for one in wanted) else ()
    uses = {
        part: [source_digest(session.keys, one.workspace_id, part.source) for one in wanted]
        for part in sources
    }
    excluding |= dict.fromkeys(value for digests in uses.values() for value in digests)
    listed = {row.digest: row for row in _read(session, list(suppressing), list(excluding))}
    suppressed = (item for item, digests in suppressible.items() if not listed.keys().isdisjoint(digests))
    excluded = [
        {item: _excluded(listed[value]) for item, value in digests.items() if value in listed}
        for digests in excludable
    ]
    for part, digests in uses.items():
        using = [number for number, value in enumerate(digests) if value in listed]
        found = part.find(session, [wanted[number] for number in using]) if using else ()
        for number, more in zip(using, found, strict=True):
            excluded[number] = {**more, **excluded[number]}
    return frozenset(suppressed), excluded


def digests_of(session: Session, workspace_id: str, identifiers: Iterable[Identifier]) -> list[bytes]:
    """Return the digests of which any excludes one of the identifiers."""
    return list(dict.fromkeys(_digests(session.keys, workspace_id, identifiers).values()))


def is_any_of(digests: ColumnElement[bytes], where: ColumnElement[bool]) -> ColumnElement[bool]:
    """Return the condition that any digest in a column of the rows with this condition is excluded."""
    listed = select(_DIGEST).where(digests == _DIGEST, where).limit(1)
    return listed.scalar_subquery().is_not(None)  # EXISTS could read the whole table


def parameters(digests: Sequence[bytes] = ()) -> dict[str, bytes | None]:
    """Return the parameters of `IS_ANY_OF_FEW` for a few digests; without digests, no row matches."""
    return {
        f"excluded_{number}": digests[number] if number < len(digests) else None
        for number in range(MAX_DIGESTS)
    }


def _digests(
    keys: DigestKeys, workspace_id: str, identifiers: Iterable[Identifier]
) -> dict[Identifier, bytes]:
    return {
        item: digest(keys, workspace_id, item.kind, item.value) for item in identifiers if item.kind in _KINDS
    }


def _read(session: Session, suppressing: Sequence[bytes], excluding: Sequence[bytes]) -> list[_Row]:
    if not suppressing and not excluding:
        return []
    if max(len(suppressing), len(excluding)) <= MAX_DIGESTS:
        few = suppression_checks.parameters(suppressing) | parameters(excluding)
        return _FEW.all(session, few)
    batches = zip_longest(batched(suppressing), batched(excluding), fillvalue=())
    return [
        row
        for digests, excluded in batches
        for row in _MANY.all(session, {"digests": digests, "excluded": excluded})
    ]


def _excluded(row: _Row) -> Excluded:
    return Excluded(str(row.reason), row.note, str(row.kind))
