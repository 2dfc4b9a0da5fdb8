"""The records of a person in the workspace's CRM, and which of them are the person's beyond doubt."""

from __future__ import annotations

from typing import Any

import pytest
from crm_index_support import a_crm, in_crm
from jobs_support import NOW, a_workspace
from stored_support import ADA_URL, statements, suppress

from app.engine.lookups.lookup_parts import LookedUp
from app.engine.own_records import own_records
from app.engine.own_records.own_records import Find, OwnRecord
from app.features.crm.connections import CrmConnection
from app.features.crm.own_records import OWN_RECORDS
from app.infra.database.session import Session
from app.settings import Settings

NAMED: dict[str, Any] = {"name": "Ada Lovelace", "company": "Acme Engines"}
ASKED: dict[str, Any] = {"name": "Ada Lovelace", "companies": ["Acme Engines"]}
NUMBER = "+12025550188"


@pytest.fixture
def find(settings: Settings) -> Find:
    return OWN_RECORDS.load(settings)


@pytest.fixture
def crm(session: Session, workspace_id: str) -> CrmConnection:
    return a_crm(session, workspace_id)


def test_the_crm_is_one_of_the_sources(session: Session, settings: Settings) -> None:
    finds = own_records.load_all(settings)

    assert list(finds["crm"](session, [LookedUp(workspace_id="wks_1")])) == [[]]


def test_a_record_has_its_values_its_date_and_its_page(
    session: Session, find: Find, crm: CrmConnection
) -> None:
    in_crm(session, crm, {"profiles": [ADA_URL], "emails": ["Ada@home.example"], "phones": [NUMBER]})

    [records] = find(session, [LookedUp(workspace_id=crm.workspace_id, profiles=[ADA_URL])])

    assert list(records) == [
        OwnRecord(
            source="crm",
            system="hubspot",
            title="HubSpot",
            url="https://app.hubspot.com/contacts/4242/record/0-1/1",
            profiles=[ADA_URL],
            emails=["ada@home.example"],
            phones=[NUMBER],
            changed_at=NOW,
            is_certain=True,
        )
    ]


@pytest.mark.parametrize(
    ("asked", "in_the_crm", "expected"),
    [
        ({"profiles": [ADA_URL]}, [{"profiles": [ADA_URL]}] * 2, [True, True]),
        ({"emails": ["ada@acme.com"]}, [{"emails": ["ada@acme.com"]}] * 2, [True, True]),
        ({"emails": ["info@acme.com"]}, [{"emails": ["info@acme.com"]}] * 2, [False, False]),
        ({"emails": ["info@acme.com"]}, [{"emails": ["info@acme.com"]}], [True]),
        (
            {"emails": ["info@acme.com"], "name": "Ada Lovelace"},
            [{"emails": ["info@acme.com"], "name": "Bob Babbage"}],
            [False],
        ),
        (
            {"emails": ["ada@acme.com"], "profiles": [ADA_URL]},
            [{"emails": ["ada@acme.com"], "profiles": ["https://www.linkedin.com/in/other"]}],
            [False],
        ),
        ({"phones": [NUMBER]}, [{"phones": [NUMBER]}], [True]),
        ({"phones": [NUMBER]}, [{"phones": [NUMBER]}] * 2, [False, False]),
        (
            {"phones": [NUMBER], "name": "Ada Lovelace"},
            [{"phones": [NUMBER], "name": "Bob Babbage"}],
            [False],
        ),
        ({"phones": [NUMBER], "name": "Ada Lovelace"}, [{"phones": [NUMBER], "name": "Bob"}], [False]),
        ({"phones": [NUMBER], "name": "Ada Lovelace"}, [{"phones": [NUMBER], "name": "Ada"}], [True]),
        ({"phones": [NUMBER], "name": "Ada"}, [{"phones": [NUMBER], "name": "Ada Lovelace"}], [True]),
        ({"phones": [NUMBER], "name": "Ada"}, [{"phones": [NUMBER], "name": "Reception"}], [False]),
        (ASKED, [NAMED], [True]),
        (ASKED, [NAMED] * 2, [False, False]),
    ],
)
def test_a_record_is_certain_by_what_one_person_has_alone(
    session: Session,
    find: Find,
    crm: CrmConnection,
    *,
    asked: dict[str, Any],
    in_the_crm: list[dict[str, Any]],
    expected: list[bool],
) -> None:
    in_crm(session, crm, *in_the_crm)

    [records] = find(session, [LookedUp(workspace_id=crm.workspace_id, **asked)])

    assert [record.is_certain for record in records] == expected


def test_beside_a_colleague_of_the_same_name_no_record_is_certain(
    session: Session, find: Find, crm: CrmConnection
) -> None:
    in_crm(session, crm, NAMED, NAMED | {"profiles": ["https://www.linkedin.com/in/other-ada"]})

    [records] = find(session, [LookedUp(workspace_id=crm.workspace_id, profiles=[ADA_URL], **ASKED)])

    assert [record.is_certain for record in records] == [False]


def test_records_are_found_in_the_persons_workspace_only(
    session: Session, find: Find, crm: CrmConnection
) -> None:
    other = a_workspace(session)
    in_crm(session, crm, {"profiles": [ADA_URL]})

    found = find(
        session, [LookedUp(workspace_id=one, profiles=[ADA_URL]) for one in (other, crm.workspace_id)]
    )

    assert [len(records) for records in found] == [0, 1]


def test_nobody_who_is_suppressed_has_a_record(session: Session, find: Find, crm: CrmConnection) -> None:
    in_crm(session, crm, {"profiles": [ADA_URL], "emails": ["ada@acme.com"]})
    suppress(session, "email", "ada@acme.com")

    [records] = find(session, [LookedUp(workspace_id=crm.workspace_id, profiles=[ADA_URL])])

    assert list(records) == []


@pytest.mark.parametrize("size", [1, 50])
def test_any_number_of_people_takes_two_statements(
    session: Session, find: Find, crm: CrmConnection, *, size: int
) -> None:
    in_crm(session, crm, {"profiles": [ADA_URL]})
    find(session, [LookedUp(workspace_id=crm.workspace_id)])  # learns that it has a CRM

    with statements(session.get_bind()) as executed:  # type: ignore[arg-type]
        find(session, [LookedUp(workspace_id=crm.workspace_id, profiles=[ADA_URL])] * size)

    assert len(executed) == 2


def test_without_a_connected_crm_a_process_looks_for_one_once_in_a_while(
    session: Session, find: Find
) -> None:
    counts = []
    for _ in range(2):
        with statements(session.get_bind()) as executed:  # type: ignore[arg-type]
            find(session, [LookedUp(workspace_id="wks_1", profiles=[ADA_URL])])
        counts.append(len(executed))

    assert counts == [1, 0]


def test_the_crm_of_another_workspace_costs_no_statement(
    session: Session, find: Find, crm: CrmConnection
) -> None:
    own = LookedUp(workspace_id=crm.workspace_id, profiles=[ADA_URL])
    other = LookedUp(workspace_id="wks_1", profiles=[ADA_URL])
    in_crm(session, crm, {"profiles": [ADA_URL]})
    find(session, [own])

    with statements(session.get_bind()) as executed:  # type: ignore[arg-type]
        found = find(session, [other, other])
    beside = find(session, [other, own])

    assert executed == []
    assert [len(records) for records in (*found, *beside)] == [0, 0, 0, 1]
