from __future__ import annotations

import dataclasses
from datetime import timedelta

from jobs_support import DIGEST_KEYS, NOW
from sqlalchemy import select

from app.domain.suppression_lists.hashed_values import hash_of
from app.engine.contacts.suppressions import suppression_checks, suppression_digests, suppressions
from app.engine.contacts.suppressions.suppression_digests import Entry, Identifier, digest
from app.engine.contacts.suppressions.suppressions import Listing, Suppression
from app.infra.database.session import Session

ADA = Identifier("email", "ada@acme.com")
BOB = Identifier("phone", "+12025550143")
CAROL = Identifier("linkedin_url", "https://www.linkedin.com/in/carol")


def test_only_suppressed_identifiers_are_returned(session: Session) -> None:
    suppressions.suppress(session, [ADA, BOB], reason="asked", now=NOW)

    assert suppression_checks.suppressed(session, [ADA, CAROL]) == {ADA}


def test_without_identifiers_nothing_is_suppressed(session: Session) -> None:
    suppressions.suppress(session, [ADA], reason="asked", now=NOW)

    assert suppression_checks.suppressed(session, []) == frozenset()


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
    empty = session.scalar(select(suppression_checks.LATEST))
    suppressions.suppress(session, [ADA], reason="asked", now=NOW)
    suppressions.suppress(session, [BOB], reason="asked", now=NOW + timedelta(hours=1))
    suppressions.suppress(session, [ADA], reason="again", now=NOW + timedelta(hours=2))

    latest = session.scalar(select(suppression_checks.LATEST))

    assert (empty, latest) == (None, NOW + timedelta(hours=1))


def test_a_published_hash_suppresses_a_person_whose_value_was_never_seen(session: Session) -> None:
    hashes = {"email": "ada@acme.com", "phone": "2025550143"}
    for kind, text in hashes.items():
        entry = suppression_digests.hashed_entry(DIGEST_KEYS, kind, hash_of(text))
        suppressions.suppress_entries(session, [entry], Listing("asked", "partner"), now=NOW)

    assert suppression_checks.suppressed(session, [ADA, BOB, CAROL]) == {ADA, BOB}


def test_an_identifier_may_be_on_several_lists(session: Session) -> None:
    entry = Entry("email", digest(DIGEST_KEYS, ADA))
    for name in ("one", "two"):
        suppressions.suppress_entries(session, [entry, entry], Listing("asked", name), now=NOW)

    removed = suppressions.remove_entries(session, [entry.digest], list_name="one")

    assert (removed, suppression_checks.suppressed(session, [ADA])) == (1, {ADA})
    assert [row.list_name for row in suppression_checks.entries_for(session, ADA)] == ["two"]
    assert suppressions.remove(session, [ADA]) == 1


def test_a_domain_suppresses_its_addresses(session: Session) -> None:
    suppressions.suppress(session, [Identifier("domain", "acme.com")], reason="asked", now=NOW)
    below, other = Identifier("email", "ada@uk.acme.com"), Identifier("email", "ada@acme.org")

    assert suppression_checks.suppressed(session, [ADA, below, other]) == {ADA, below}
    assert suppressions.remove(session, [ADA]) == 0


def test_many_identifiers_are_checked_at_once(session: Session) -> None:
    suppressions.suppress(session, [ADA], reason="asked", now=NOW)
    many = [Identifier("email", f"{number}@acme.com") for number in range(1000)]

    assert suppression_checks.suppressed(session, [*many, ADA]) == {ADA}
