"""Whom a workspace excludes by the stage of their record in its CRM, such as its customers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.domain.exclusions import CRM_STAGE
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.exclusions.exclusion_checks import Excluded, Wanted
from app.engine.exclusions.exclusion_sources import ExclusionPart
from app.engine.own_records import record_keys
from app.engine.own_records.record_keys import EMAIL, NAME, PHONE, PROFILE, Key
from app.engine.own_records.record_suppressions import without_suppressed
from app.features.crm.index import index_matches
from app.features.crm.index.index_matches import Found
from app.features.crm.vendors.registry import CRMS
from app.infra.database.session import Session

_KEYS = {"linkedin_url": PROFILE, "email": EMAIL, "phone": PHONE, "employment": NAME}
"""What a record is found by, by the kind of an identifier."""
_TITLES = {crm.name: crm.title for crm in CRMS}


def find(session: Session, wanted: Sequence[Wanted]) -> list[dict[Identifier, Excluded]]:
    """Return for each workspace the identifiers of people whose record has a stage that it excludes."""
    sought = [_digests(session, one) for one in wanted]
    by_digest = _excluding(session, wanted, sought)
    return [
        {
            identifier: by_digest[one.workspace_id, digest]
            for digest, identifier in digests.items()
            if (one.workspace_id, digest) in by_digest
        }
        for one, digests in zip(wanted, sought, strict=True)
    ]


EXCLUSION = ExclusionPart(source=CRM_STAGE, find=find)


def _digests(session: Session, wanted: Wanted) -> dict[bytes, Identifier]:
    """Return the identifiers that a record can be found by, each by the digest of its key."""
    keys = {Key(_KEYS[item.kind], item.value): item for item in wanted.identifiers if item.kind in _KEYS}
    return {
        digest: item
        for key, item in keys.items()
        for digest in record_keys.digests(session.keys, wanted.workspace_id, [key])
    }


def _excluding(
    session: Session, wanted: Sequence[Wanted], sought: Sequence[Mapping[bytes, Identifier]]
) -> dict[tuple[str, bytes], Excluded]:
    """Return why a workspace excludes whom a digest leads to; nothing of people who are suppressed."""
    digests = list({digest for own in sought for digest in own})
    if not digests:
        return {}
    workspaces = list({one.workspace_id for one in wanted})
    rows = index_matches.rows_of(session, workspaces, digests)
    found = [row for row in rows if row.indexed.stage in (row.excluded_stages or ())]
    if found:
        found = without_suppressed(session, found, lambda row: row.indexed)
    return {(row.workspace_id, bytes(row.digest)): _excluded(row) for row in found}


def _excluded(row: Found) -> Excluded:
    person = row.indexed
    return Excluded(
        CRM_STAGE,
        f"{_TITLES[row.vendor]}: {person.stage}",
        row.matched_on,
        vendor=row.vendor,
        stage=person.stage,
        profiles=tuple(person.profiles),
    )
