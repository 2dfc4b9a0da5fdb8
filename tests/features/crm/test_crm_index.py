from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from jobs_support import NOW, a_workspace
from sqlalchemy import func, select, text

from app.engine.lookups.lookup_parts import LookedUp
from app.features.crm import connections
from app.features.crm.connections import Credentials, CrmConnection
from app.features.crm.index import crm_index, index_matches
from app.features.crm.index.crm_index import CrmIndexKey, CrmIndexRecord
from app.features.crm.index.crm_people import CrmPerson, RecordKind
from app.infra.database.session import Session

PROFILE = "https://www.linkedin.com/in/ada-lovelace"


def connected(session: Session, workspace_id: str) -> CrmConnection:
    return connections.create(
        session,
        workspace_id,
        vendor="hubspot",
        base_url=None,
        credentials=Credentials(token="token-1"),
        mapping={},
        account_id="acc_1",
        now=NOW,
    )


@pytest.fixture
def connection(session: Session) -> CrmConnection:
    return connected(session, a_workspace(session))


def person(crm_id: str = "1", *emails: str, name: str = "Ada Lovelace", profile: str = PROFILE) -> CrmPerson:
    return CrmPerson(
        crm_id=crm_id,
        kind=RecordKind.CONTACT,
        changed_at=NOW,
        name=name,
        emails=emails or ("Ada@Acme.example", "not an address"),
        phones=["+1 650 253 0000", "0"],
        profiles=[profile, "https://example.com"],
        company="Acme GmbH",
        domain="https://www.acme.example/about",
        owner="Kim Lee",
        stage="Customer",
    ).normal()


def looked_up(connection: CrmConnection, **sought: Any) -> LookedUp:
    return LookedUp(workspace_id=connection.workspace_id, **sought)


def found(session: Session, connection: CrmConnection, **sought: object) -> list[tuple[str, list[str]]]:
    (matches,) = index_matches.find(session, [looked_up(connection, **sought)])
    return [(match.person.crm_id, list(match.matched_on)) for match in matches]


def test_a_record_is_read_in_normal_form_without_what_is_no_value() -> None:
    ada = person()

    assert ada.emails == ("ada@acme.example",)
    assert ada.phones == ("+16502530000",)
    assert ada.profiles == (PROFILE,)
    assert ada.domain == "acme.example"


@pytest.mark.parametrize(
    ("sought", "matched_on"),
    [
        ({"profiles": [PROFILE]}, ["linkedin_url"]),
        ({"emails": ["ada@acme.example"]}, ["email"]),
        ({"phones": ["+16502530000"]}, ["phone"]),
        ({"name": "Dr. Ada Lovelace", "domains": ["acme.example"]}, ["name"]),
        ({"name": "ADA LOVELACE", "companies": ["Acme"]}, ["name"]),
        ({"emails": ["ada@acme.example"], "profiles": [PROFILE]}, ["linkedin_url", "email"]),
    ],
)
def test_a_person_is_found_by_each_identifier(
    session: Session, connection: CrmConnection, sought: dict[str, object], matched_on: list[str]
) -> None:
    crm_index.store(session, connection, [person()], now=NOW)

    assert found(session, connection, **sought) == [("1", matched_on)]


@pytest.mark.parametrize(
    "sought",
    [
        {},
        {"name": "Ada Lovelace"},
        {"name": "Ada", "domains": ["acme.example"]},
        {"name": "123", "domains": ["acme.example"]},
        {"name": "Grace Hopper", "domains": ["acme.example"]},
        {"emails": ["ada@other.example"]},
    ],
)
def test_what_does_not_identify_the_person_finds_nobody(
    session: Session, connection: CrmConnection, sought: dict[str, object]
) -> None:
    crm_index.store(session, connection, [person(), person("2", name="Ada", profile="")], now=NOW)

    assert found(session, connection, **sought) == []


def test_without_a_website_the_company_of_a_work_address_counts(
    session: Session, connection: CrmConnection
) -> None:
    emails = ("ada@acme.example", "ada@gmail.com")
    crm_index.store(session, connection, [replace(person(), emails=emails, domain="")], now=NOW)

    assert found(session, connection, name="Ada Lovelace", domains=["acme.example"]) == [("1", ["name"])]
    assert found(session, connection, name="Ada Lovelace", domains=["gmail.com"]) == []


def test_a_match_has_what_the_crm_says(session: Session, connection: CrmConnection) -> None:
    crm_index.store(session, connection, [person()], now=NOW)

    [[match]] = index_matches.find(session, [looked_up(connection, profiles=[PROFILE])])

    assert match.vendor == "hubspot"
    assert (match.person.owner, match.person.stage, match.person.kind) == ("Kim Lee", "Customer", "contact")
    assert list(match.person.emails) == ["ada@acme.example"]


def test_of_several_records_the_most_certain_is_first(session: Session, connection: CrmConnection) -> None:
    crm_index.store(
        session, connection, [person("1", profile=""), person("2", "other@acme.example")], now=NOW
    )

    matches = found(session, connection, emails=["ada@acme.example"], profiles=[PROFILE])

    assert [crm_id for crm_id, _matched_on in matches] == ["2", "1"]


def test_a_record_that_is_read_again_replaces_what_was_stored(
    session: Session, connection: CrmConnection
) -> None:
    crm_index.store(session, connection, [person()], now=NOW)

    crm_index.store(session, connection, [person("1", "new@acme.example")] * 2, now=NOW)

    assert found(session, connection, emails=["ada@acme.example"]) == []
    assert found(session, connection, emails=["new@acme.example"]) == [("1", ["email"])]
    assert crm_index.size(session, connection.id) == 1


def test_records_that_the_crm_has_no_more_are_forgotten(session: Session, connection: CrmConnection) -> None:
    crm_index.store(session, connection, [person()], now=NOW)
    crm_index.store(session, connection, [person("2", "b@acme.example")], now=NOW + timedelta(days=1))

    count = crm_index.forget_unread(session, connection.id, before=NOW + timedelta(hours=1))

    assert count == 1
    assert found(session, connection, emails=["ada@acme.example"]) == []
    assert found(session, connection, emails=["b@acme.example"]) == [("2", ["email"])]


def test_the_records_of_a_crm_are_deleted_in_batches(
    session: Session, connection: CrmConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crm_index, "BATCH", 2)
    stranger = connected(session, connection.workspace_id)
    crm_index.store(session, connection, [person(str(number)) for number in range(5)], now=NOW)
    crm_index.store(session, stranger, [person()], now=NOW)

    deleted = [crm_index.forget_some(session, connection.id) for _ in range(4)]

    assert deleted == [2, 2, 1, 0]
    assert crm_index.size(session, stranger.id) == 1


def test_the_people_of_a_workspace_are_found_by_no_other(session: Session, connection: CrmConnection) -> None:
    stranger = connected(session, a_workspace(session))
    crm_index.store(session, connection, [person()], now=NOW)
    sought = {"profiles": [PROFILE], "emails": ["ada@acme.example"]}

    own, others = index_matches.find(
        session, [looked_up(connection, **sought), looked_up(stranger, **sought)]
    )

    assert [match.person.crm_id for match in own] == ["1"]
    assert others == []


def test_equal_people_of_two_workspaces_have_no_digest_in_common(
    session: Session, connection: CrmConnection
) -> None:
    stranger = connected(session, a_workspace(session))
    for one in (connection, stranger):
        crm_index.store(session, one, [person()], now=NOW)

    digests = session.execute(text("SELECT digest, count(*) FROM crm_index_keys GROUP BY digest")).all()

    assert digests
    assert {count for _digest, count in digests} == {1}


def test_the_stored_values_are_encrypted(session: Session, connection: CrmConnection) -> None:
    crm_index.store(session, connection, [person()], now=NOW)

    (stored,) = session.execute(text("SELECT person FROM crm_index")).scalars()

    assert [value for value in ("ada@acme.example", "Acme GmbH", "Kim Lee") if value in str(stored)] == []


def test_a_disconnected_crm_is_forgotten(session: Session, connection: CrmConnection) -> None:
    crm_index.store(session, connection, [person()], now=NOW)

    connections.delete(session, connection.workspace_id, connection.id)

    for table in (CrmIndexRecord, CrmIndexKey):
        assert session.scalar(select(func.count()).select_from(table)) == 0
