"""Which values of a workspace's own systems fulfil a request."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from bounce_support import a_report
from jobs_support import NOW, a_workspace
from sqlalchemy import func, select
from stored_support import ADA_URL, a_company, a_contact, an_email, suppress

from app.domain.records.person_matcher import PersonMatcher
from app.domain.records.subjects import Subject
from app.domain.regional_rules import RegionalRules, parse_places
from app.engine.lookups import known_people
from app.engine.lookups.field_requests import TYPES, ContactField, FieldRequest, MinStatus
from app.engine.lookups.lookup_parts import LookedUp
from app.engine.own_records import own_values, own_verifications
from app.engine.own_records.own_records import OwnRecord
from app.engine.own_records.own_values import OwnField, Question
from app.engine.own_records.own_verifications import OwnAddress, OwnVerification, Verdict
from app.infra.database.session import DataSettings, Session

YEAR = timedelta(days=365)
ADDRESS = "ada@own.example"
"""An address at work."""
AT_HOME = "ada.l@gmail.com"
MOBILE, LANDLINE, UNCLEAR = "+447400123456", "+442079460018", "+16502530000"


def record(**values: Any) -> OwnRecord:
    certain = {"system": "hubspot", "title": "HubSpot", "changed_at": NOW, "is_certain": True}
    return OwnRecord(**{"source": "crm"} | certain | values)


def ask(
    session: Session,
    workspace_id: str,
    *records: OwnRecord,
    field: ContactField = ContactField.PHONE,
    min_status: MinStatus = MinStatus.ANY,
    max_age: timedelta | None = None,
) -> OwnField:
    """Return what the workspace has itself of a person whose records these are."""

    def find(_session: Session, people: Sequence[LookedUp]) -> list[Sequence[OwnRecord]]:
        return [records for _ in people]

    request = FieldRequest(field=field, types=TYPES[field], min_status=min_status, max_age=max_age)
    subject = Subject(linkedin_url=ADA_URL)
    known = known_people.assess(session, workspace_id, subject, request, default_max_age=YEAR, now=NOW)
    [found] = own_values.find_all(
        session, {"crm": find}, [Question(known, request)], default_max_age=YEAR, now=NOW
    )
    return found


def values(found: OwnField) -> list[str]:
    return [one.value for one in found.values]


def verified(session: Session, workspace_id: str, status: str = "valid", at: datetime = NOW) -> None:
    own_verifications.store(session, workspace_id, {ADDRESS: Verdict(status, at)})


@pytest.mark.parametrize(
    ("number", "kind", "line_type"),
    [(MOBILE, "mobile", "mobile"), (LANDLINE, "other", "landline"), (UNCLEAR, "other", "unknown")],
)
def test_a_number_is_a_mobile_or_of_another_type(
    session: Session, workspace_id: str, number: str, kind: str, line_type: str
) -> None:
    [phone] = ask(session, workspace_id, record(phones=[number])).to_public()

    assert (phone["type"], phone["line_type"], phone["do_not_call"]) == (kind, line_type, None)


def test_a_number_that_nobody_can_have_is_left_out(session: Session, workspace_id: str) -> None:
    assert values(ask(session, workspace_id, record(phones=["+12005550143"]))) == []


def test_a_number_is_valid_at_the_workspaces_word(session: Session, workspace_id: str) -> None:
    found = ask(session, workspace_id, record(phones=[MOBILE]), min_status=MinStatus.VALID)

    [phone] = found.to_public()
    assert (phone["e164"], phone["status"], phone["verified_at"]) == (MOBILE, "valid", None)


@pytest.mark.parametrize(
    "doubtful", [{"is_certain": False}, {"changed_at": None}, {"changed_at": NOW - YEAR - timedelta(days=1)}]
)
def test_a_record_that_is_doubtful_or_outdated_has_no_values(
    session: Session, workspace_id: str, doubtful: dict[str, Any]
) -> None:
    assert values(ask(session, workspace_id, record(phones=[MOBILE], **doubtful))) == []


def test_a_value_of_two_records_is_returned_once_and_the_latest_first(
    session: Session, workspace_id: str
) -> None:
    before = NOW - timedelta(days=2)
    records = [record(phones=[LANDLINE], changed_at=before), record(phones=[LANDLINE, MOBILE])]

    found = ask(session, workspace_id, *records)

    assert [(one.value, one.changed_at) for one in found.values] == [(MOBILE, NOW), (LANDLINE, before)]


def test_each_system_has_a_line_in_the_receipt(session: Session, workspace_id: str) -> None:
    book = record(source="address_book", system="google", phones=[LANDLINE])

    found = ask(session, workspace_id, record(phones=[MOBILE, UNCLEAR]), book)

    lines = [(line["source"], line["provider"], line["outcome"], line["cost"]) for line in found.trace(NOW)]
    assert sorted(lines) == [("address_book", "google", "hit", 0), ("crm", "hubspot", "hit", 0)]


def test_an_address_needs_a_verdict(session: Session, workspace_id: str) -> None:
    found = ask(session, workspace_id, record(emails=[ADDRESS]), field=ContactField.EMAIL)

    assert (values(found), [one.value for one in found.unverified]) == ([], [ADDRESS])


@pytest.mark.parametrize(
    ("status", "age", "min_status", "expected"),
    [
        ("valid", timedelta(days=1), MinStatus.VALID, ([ADDRESS], [])),
        ("accept_all", timedelta(days=1), MinStatus.VALID, ([], [])),
        ("accept_all", timedelta(days=1), MinStatus.ACCEPT_ALL, ([ADDRESS], [])),
        ("invalid", timedelta(days=1), MinStatus.ANY, ([], [])),
        ("invalid", YEAR / 2, MinStatus.ANY, ([], [ADDRESS])),
        ("valid", YEAR, MinStatus.VALID, ([], [ADDRESS])),
    ],
)
def test_a_verdict_counts_while_it_is_current(
    session: Session, workspace_id: str, *, status: str, age: timedelta, min_status: MinStatus, expected: Any
) -> None:
    verified(session, workspace_id, status, NOW - age)

    found = ask(
        session, workspace_id, record(emails=[ADDRESS]), field=ContactField.EMAIL, min_status=min_status
    )

    assert (values(found), [one.value for one in found.unverified]) == expected


def test_a_verdict_is_as_fresh_as_the_request_demands(session: Session, workspace_id: str) -> None:
    verified(session, workspace_id, at=NOW - timedelta(days=8))

    found = [
        ask(
            session,
            workspace_id,
            record(emails=[ADDRESS]),
            field=ContactField.EMAIL,
            max_age=timedelta(days=days),
        )
        for days in (9, 7)
    ]

    assert [values(one) for one in found] == [[ADDRESS], []]


def test_the_person_is_told_the_verdicts_and_they_are_erased(session: Session, workspace_id: str) -> None:
    verified(session, workspace_id)
    verified(session, a_workspace(session), "invalid")

    found = own_verifications.of_person(session, PersonMatcher(emails=frozenset({ADDRESS, "ada@acme.com"})))
    exported = found.export(session)["own_verifications"]
    found.erase(session)

    assert (found.rows, found.notes) == (2, 0)
    assert {(row["workspace"], row["email"], row["status"]) for row in exported} == {
        ("Acme", ADDRESS, "valid"),
        ("Acme", ADDRESS, "invalid"),
    }
    assert session.scalar(select(func.count()).select_from(OwnVerification)) == 0


def test_a_verdict_says_nothing_of_the_address(session: Session, workspace_id: str) -> None:
    verified(session, workspace_id)
    verified(session, a_workspace(session))

    rows = session.scalars(select(OwnVerification)).all()

    assert len({row.digest for row in rows}) == 2
    assert not any(ADDRESS in str(vars(row)) for row in rows)


def test_a_verdict_of_another_workspace_does_not_count(session: Session, workspace_id: str) -> None:
    verified(session, a_workspace(session))

    found = ask(session, workspace_id, record(emails=[ADDRESS]), field=ContactField.EMAIL)

    assert values(found) == []


def test_a_later_verdict_replaces_an_earlier_one(session: Session, workspace_id: str) -> None:
    verified(session, workspace_id, "valid", NOW - timedelta(days=9))
    verified(session, workspace_id, "invalid")

    stored = own_verifications.find(session, {OwnAddress(workspace_id, ADDRESS)})

    assert list(stored.values()) == [Verdict("invalid", NOW)]


def test_without_a_verdict_nothing_is_stored(session: Session, workspace_id: str) -> None:
    own_verifications.store(session, workspace_id, {})

    assert own_verifications.find(session, {OwnAddress(workspace_id, ADDRESS)}) == {}


def test_old_verdicts_are_deleted(session: Session, workspace_id: str) -> None:
    verified(session, workspace_id)

    own_verifications.purge_expired(session, before=NOW)
    kept = own_verifications.find(session, {OwnAddress(workspace_id, ADDRESS)})
    own_verifications.purge_expired(session, before=NOW + timedelta(seconds=1))

    assert len(kept) == 1
    assert own_verifications.find(session, {OwnAddress(workspace_id, ADDRESS)}) == {}


def test_a_suppressed_value_is_left_out_and_others_are_not(session: Session, workspace_id: str) -> None:
    suppress(session, "phone", MOBILE)

    found = ask(session, workspace_id, record(phones=[MOBILE, LANDLINE]))

    assert values(found) == [LANDLINE]


def test_an_address_that_the_workspace_reported_as_bounced_is_left_out(
    session: Session, workspace_id: str
) -> None:
    contact = a_contact(session, a_company(session))
    a_report(session, workspace_id, an_email(session, contact, ADDRESS), now=NOW)
    verified(session, workspace_id)

    found = ask(session, workspace_id, record(emails=[ADDRESS]), field=ContactField.EMAIL)

    assert (values(found), list(found.unverified)) == ([], [])


@pytest.mark.parametrize(
    ("rules", "country", "expected"),
    [
        ({"mobiles": "DE"}, "DE", [LANDLINE]),
        ({"mobiles": "DE"}, "FR", [MOBILE, LANDLINE, UNCLEAR]),
        ({"mobiles": "GB"}, "FR", [LANDLINE, UNCLEAR]),
        ({"personal_emails": "DE"}, "DE", [MOBILE, LANDLINE, UNCLEAR]),
        ({"mobiles": "FR"}, None, [LANDLINE]),
        ({}, None, [MOBILE, LANDLINE, UNCLEAR]),
    ],
)
def test_a_number_that_a_regional_rule_hides_is_left_out(
    session: Session, workspace_id: str, *, rules: dict[str, str], country: str | None, expected: list[str]
) -> None:
    set_rules(session, rules)
    if country:
        a_contact(session, None, linkedin_url=ADA_URL, country=country)

    found = ask(session, workspace_id, record(phones=[MOBILE, LANDLINE, UNCLEAR]))

    assert values(found) == expected


@pytest.mark.parametrize(
    ("country", "expected"), [("DE", [ADDRESS]), ("FR", [ADDRESS, AT_HOME]), (None, [ADDRESS])]
)
def test_a_personal_address_that_a_regional_rule_hides_is_left_out(
    session: Session, workspace_id: str, *, country: str | None, expected: list[str]
) -> None:
    set_rules(session, {"personal_emails": "DE"})
    if country:
        a_contact(session, None, linkedin_url=ADA_URL, country=country)

    found = ask(session, workspace_id, record(emails=[ADDRESS, AT_HOME]), field=ContactField.EMAIL)

    assert [one.value for one in found.unverified] == expected


def set_rules(session: Session, rules: dict[str, str]) -> None:
    places = {name: parse_places([place]) for name, place in rules.items()}
    session.settings = DataSettings(regional_rules=RegionalRules(**places))
