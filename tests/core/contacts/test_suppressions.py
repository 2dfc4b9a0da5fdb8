from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest
from jobs_support import NOW
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.core.contacts import suppressions
from app.core.contacts.suppressions import Identifier, Suppression
from app.settings import Settings

ADA = Identifier("email", "ada@acme.com")
BOB = Identifier("phone", "+12025550143")
CAROL = Identifier("linkedin_url", "https://www.linkedin.com/in/carol")


def test_those_on_the_list_are_found_and_the_others_are_not(session: Session) -> None:
    suppressions.suppress(session, [ADA, BOB], reason="asked", now=NOW)

    assert suppressions.suppressed(session, [ADA, CAROL]) == {ADA}


def test_nobody_is_suppressed_among_nobody(session: Session) -> None:
    suppressions.suppress(session, [ADA], reason="asked", now=NOW)

    assert suppressions.suppressed(session, []) == frozenset()


def test_only_new_ones_are_counted(session: Session) -> None:
    first = suppressions.suppress(session, [ADA, BOB], reason="asked", now=NOW)
    second = suppressions.suppress(session, [BOB, CAROL, CAROL], reason="asked", now=NOW)

    assert (first, second) == (2, 1)


def test_the_list_holds_no_value_in_the_clear(session: Session) -> None:
    suppressions.suppress(session, [ADA], reason="asked", now=NOW)

    row = session.scalars(select(Suppression)).one()
    assert (row.kind, row.reason, row.created_at) == ("email", "asked", NOW)
    assert (row.digest, len(row.digest)) == (ADA.digest, 32)


def test_the_kind_is_part_of_the_digest() -> None:
    assert Identifier("email", "a").digest != Identifier("phone", "a").digest


def test_the_digest_depends_on_the_deployments_key(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = dataclasses.replace(settings, suppression_key="another-key-of-more-than-32-characters")
    mine = ADA.digest
    monkeypatch.setattr(suppressions, "load", lambda: other)

    theirs = ADA.digest

    assert mine != theirs


def test_it_is_known_when_the_list_last_grew(session: Session) -> None:
    empty = suppressions.latest(session)
    suppressions.suppress(session, [ADA], reason="asked", now=NOW)
    suppressions.suppress(session, [BOB], reason="asked", now=NOW + timedelta(hours=1))
    suppressions.suppress(session, [ADA], reason="again", now=NOW + timedelta(hours=2))

    latest = suppressions.latest(session)

    assert (empty, latest) == (None, NOW + timedelta(hours=1))
