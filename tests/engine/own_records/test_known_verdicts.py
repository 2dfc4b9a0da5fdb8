"""The verdicts that verifications repeat: until they expire, and unless something speaks against it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from jobs_support import NOW
from stored_support import a_contact, an_email, suppress

from app.engine.own_records import known_verdicts
from app.engine.own_records.own_verifications import Verdict
from app.infra.database.session import Session

DAYS = timedelta(days=1)
MAX_AGE = 180 * DAYS
ADA, BOB = "ada@acme.com", "bob@acme.com"


def reusable(session: Session, workspace_id: str, *, after: timedelta = DAYS) -> dict[str, str]:
    found = known_verdicts.reusable(session, workspace_id, [ADA, BOB], max_age=MAX_AGE, now=NOW + after)
    return {email: verdict.status for email, verdict in found.items()}


@pytest.mark.parametrize(
    ("status", "lasts"), [("valid", 180), ("accept_all", 60), ("invalid", 60), ("risky", 30), ("unknown", 0)]
)
def test_a_verdict_lasts_as_long_as_one_on_a_stored_address(
    session: Session, workspace_id: str, status: str, lasts: int
) -> None:
    known_verdicts.store(session, workspace_id, {ADA: Verdict(status, NOW)})

    last_day = reusable(session, workspace_id, after=(lasts - 1) * DAYS)
    afterwards = reusable(session, workspace_id, after=lasts * DAYS)

    assert (last_day, afterwards) == ({ADA: status} if lasts else {}, {})


def test_a_verdict_on_a_suppressed_address_is_not_repeated(session: Session, workspace_id: str) -> None:
    known_verdicts.store(session, workspace_id, {ADA: Verdict("valid", NOW), BOB: Verdict("valid", NOW)})
    suppress(session, "email", ADA)

    assert reusable(session, workspace_id) == {BOB: "valid"}


def test_each_of_several_addresses_that_bounced_is_found(session: Session, workspace_id: str) -> None:
    addresses = [f"{number}@acme.com" for number in range(5)]
    known_verdicts.store(session, workspace_id, dict.fromkeys(addresses, Verdict("valid", NOW)))
    for address in (addresses[0], addresses[3]):
        an_email(session, a_contact(session, None, "Ada"), address).reported_at = NOW + DAYS
    session.flush()

    kept = known_verdicts.reusable(session, workspace_id, addresses, max_age=MAX_AGE, now=NOW + DAYS)

    assert sorted(kept) == [addresses[1], addresses[2], addresses[4]]


@pytest.mark.parametrize(("reported_after", "kept"), [(-DAYS, [ADA, BOB]), (DAYS, [BOB])])
def test_a_verdict_on_an_address_that_bounced_since_is_not_repeated(
    session: Session, workspace_id: str, reported_after: timedelta, kept: list[str]
) -> None:
    known_verdicts.store(session, workspace_id, {ADA: Verdict("valid", NOW), BOB: Verdict("valid", NOW)})
    email = an_email(session, a_contact(session, None, "Ada"), ADA)
    email.reported_at = NOW + reported_after
    session.flush()

    assert sorted(reusable(session, workspace_id)) == kept


@pytest.mark.parametrize(
    ("found_after", "status"), [(2 * DAYS, "accept_all"), (-DAYS / 2, "accept_all"), (-2 * DAYS, "valid")]
)
def test_an_address_is_not_valid_where_its_domain_accepts_all_mail(
    session: Session, workspace_id: str, found_after: timedelta, status: str
) -> None:
    known_verdicts.store(session, workspace_id, {ADA: Verdict("valid", NOW)})
    known_verdicts.store(session, workspace_id, {BOB: Verdict("accept_all", NOW + found_after)})

    assert reusable(session, workspace_id, after=3 * DAYS)[ADA] == status


def test_without_addresses_nothing_is_known(session: Session, workspace_id: str) -> None:
    assert known_verdicts.reusable(session, workspace_id, [], max_age=MAX_AGE, now=NOW) == {}
