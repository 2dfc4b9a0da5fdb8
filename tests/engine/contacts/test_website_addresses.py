"""The addresses of roles on the websites of companies."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
from sqlalchemy import select, text
from stored_support import NOW, suppress

from app.domain.providers.website_pages import PageState, RoleAddress
from app.engine.contacts import website_addresses, website_readings
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.contacts.website_addresses import ShownAddress, WebsiteAddress
from app.engine.privacy import erasure, person_data
from app.infra.database.session import Session

HOME, CONTACT = "https://acme.com/", "https://acme.com/contact"
LATER = NOW + timedelta(days=31)
INFO = RoleAddress("info@acme.com", HOME)
SALES = RoleAddress("sales@acme.com", CONTACT)


@pytest.fixture(autouse=True)
def reading(session: Session) -> None:
    """A first reading of acme.com with two pages, each with an address."""
    website_readings.claim(session, "acme.com", fresh_since=NOW, now=NOW)
    read(session, [page(HOME), page(CONTACT)], [INFO, SALES], later=False)


def page(url: str, digest: str | None = "1", reason: str | None = None) -> PageState:
    return PageState(url=url, digest=digest, reason=reason)


def read(
    session: Session, pages: Sequence[PageState], found: Sequence[RoleAddress] = (), *, later: bool = True
) -> None:
    website_readings.store(session, "acme.com", pages, [], found, now=LATER if later else NOW)
    session.flush()
    session.expire_all()


def shown(session: Session) -> list[tuple[str, str, bool]]:
    """Return the addresses with their pages, and whether the later reading saw them."""
    found = website_addresses.shown(session, "acme.com")
    return [(one.email, one.url, one.seen_at == LATER) for one in found]


def test_addresses_are_shown_with_their_page_and_day(session: Session) -> None:
    assert website_addresses.shown(session, "acme.com") == [
        ShownAddress("info@acme.com", HOME, NOW),
        ShownAddress("sales@acme.com", CONTACT, NOW),
    ]
    assert website_addresses.shown(session, "other.com") == []


def test_they_are_encrypted(session: Session) -> None:
    stored = session.scalars(text("SELECT email || email_index FROM website_addresses")).all()

    assert len(stored) == 2
    assert not [value for value in stored if "acme" in value]


def test_an_unchanged_page_keeps_its_addresses_and_a_changed_one_loses_them(session: Session) -> None:
    read(session, [page(HOME), page(CONTACT, "2")])

    assert shown(session) == [("info@acme.com", HOME, True)]


def test_a_page_that_was_not_visited_keeps_its_addresses_of_then(session: Session) -> None:
    read(session, [page(HOME, "2")], [INFO])

    assert shown(session) == [("info@acme.com", HOME, True), ("sales@acme.com", CONTACT, False)]


def test_a_page_that_is_gone_or_opted_out_loses_them(session: Session) -> None:
    read(session, [page(HOME, "1", "opted_out"), page(CONTACT, None, "not_found")])

    assert shown(session) == []


def test_a_site_that_opts_out_loses_all(session: Session) -> None:
    read(session, [page(HOME, None, "robots_disallowed")])

    assert shown(session) == []


def test_a_reading_that_failed_changes_nothing(session: Session) -> None:
    read(session, [page(HOME, None, "server_error")])

    assert shown(session) == [("info@acme.com", HOME, False), ("sales@acme.com", CONTACT, False)]


def test_an_address_on_two_pages_is_shown_once_with_the_latest(session: Session) -> None:
    on_contact = RoleAddress(INFO.email, CONTACT)
    read(session, [page(CONTACT, "2")], [on_contact, SALES])

    assert shown(session) == [("info@acme.com", CONTACT, True), ("sales@acme.com", CONTACT, True)]


@pytest.mark.parametrize(
    ("kind", "value", "left"),
    [("email", "info@acme.com", ["sales@acme.com"]), ("domain", "acme.com", [])],
)
def test_a_suppressed_address_or_domain_is_neither_shown_nor_stored(
    session: Session, kind: str, value: str, left: list[str]
) -> None:
    suppress(session, kind, value)
    hidden = [email for email, _, _ in shown(session)]

    read(session, [page(HOME), page(CONTACT)], [INFO, SALES])

    assert hidden == left
    assert list(session.scalars(select(WebsiteAddress.email))) == left


def test_an_erasure_exports_and_deletes_the_address(session: Session) -> None:
    identifier = Identifier("email", INFO.email)
    plan = erasure.plan(session, [], [identifier])
    exported = person_data.collect(session, [], plan)

    erasure.erase(session, plan, now=NOW)

    assert [row["url"] for row in exported["website_addresses"]] == [HOME]
    assert plan.counts["website_addresses"] == 1
    assert list(session.scalars(select(WebsiteAddress.email))) == [SALES.email]


def test_the_number_of_places_is_bounded(session: Session) -> None:
    many = [RoleAddress(f"info{number}@acme.com", HOME) for number in range(80)]

    read(session, [page(HOME, "2")], many)

    assert len(session.scalars(select(WebsiteAddress.id)).all()) == website_addresses.MAX_STORED


def test_old_addresses_are_purged_although_the_site_is_tried_again(session: Session) -> None:
    read(session, [page(HOME, "2")], [INFO])

    website_readings.purge_expired(session, before=NOW + timedelta(days=1))

    assert shown(session) == [("info@acme.com", HOME, True)]
