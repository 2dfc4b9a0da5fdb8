from __future__ import annotations

import dataclasses
from datetime import timedelta

from jobs_support import DIGEST_KEYS, NOW
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.core.contacts import suppressions
from app.core.contacts.suppressions import Identifier, Suppression, digest

ADA = Identifier("email", "ada@acme.com")
BOB = Identifier("phone", "+12025550143")
CAROL = Identifier("linkedin_url", "https://www.linkedin.com/in/carol")


def test_only_suppressed_identifiers_are_returned(session: Session) -> None:
    suppressions.suppress(session, [ADA, BOB], reason="asked", now=NOW)

    assert suppressions.suppressed(session, [ADA, CAROL]) == {ADA}


def test_without_identifiers_nothing_is_suppressed(session: Session) -> None:
    suppressions.suppress(session, [ADA], reason="asked", now=NOW)

    assert suppressions.suppressed(session, []) == frozenset()


def test_only_new_identifiers_are_counted(session: Session) -> None:
    first = suppressions.suppress(session, [ADA, BOB], reason="asked", now=NOW)
    second = suppressions.suppress(session, [BOB, CAROL, CAROL], reason="asked", now=NOW)

    assert (first, second) == (2, 1)


def test_the_list_contains_digests_only(session: Session) -> None:
    suppressions.suppress(session, [ADA], reason="asked", now=NOW)

    row = session.scalars(select(Suppression)).one()
    assert (row.kind, row.reason, row.created_at) == ("email", "asked", NOW)
    assert (row.digest, len(row.digest)) == (digest(DIGEST_KEYS, ADA), 32)


def test_the_kind_is_part_of_the_digest() -> None:
    digests = {digest(DIGEST_KEYS, Identifier(kind, "a")) for kind in ("email", "phone")}

    assert len(digests) == 2


def test_the_digest_depends_on_the_suppression_key_only() -> None:
    other_secret = dataclasses.replace(DIGEST_KEYS, secret=b"another")
    other_suppression_key = dataclasses.replace(DIGEST_KEYS, suppression=b"another")

    assert digest(other_secret, ADA) == digest(DIGEST_KEYS, ADA)
    assert digest(other_suppression_key, ADA) != digest(DIGEST_KEYS, ADA)


def test_the_time_of_the_latest_suppression_is_known(session: Session) -> None:
    empty = session.scalar(select(suppressions.LATEST))
    suppressions.suppress(session, [ADA], reason="asked", now=NOW)
    suppressions.suppress(session, [BOB], reason="asked", now=NOW + timedelta(hours=1))
    suppressions.suppress(session, [ADA], reason="again", now=NOW + timedelta(hours=2))

    latest = session.scalar(select(suppressions.LATEST))

    assert (empty, latest) == (None, NOW + timedelta(hours=1))
