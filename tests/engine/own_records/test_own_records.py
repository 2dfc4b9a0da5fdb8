"""The records that a workspace has of people, from all features that read its systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from stored_support import ADA_URL

from app.engine.lookups.lookup_parts import LookedUp
from app.engine.own_records import own_records
from app.engine.own_records.own_records import BATCH, Find, OwnRecord
from app.infra.database.session import Session
from app.settings import Settings

ADDRESS = "ada@acme.com"
BOB_URL = "https://www.linkedin.com/in/bob"


class Source:
    """A system that has one record of each person, and remembers how many people it was asked about."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.sizes: list[int] = []

    def __call__(self, _session: Session, people: Sequence[LookedUp]) -> list[list[OwnRecord]]:
        self.sizes.append(len(people))
        return [[OwnRecord(source=self.name, system=person.name, title=self.name)] for person in people]


def people(count: int) -> list[LookedUp]:
    return [LookedUp(workspace_id="wks_1", name=str(number)) for number in range(count)]


def test_each_person_gets_the_records_of_all_sources(session: Session) -> None:
    finds = {"crm": Source("crm"), "address_book": Source("address_book")}

    found = own_records.find(session, finds, people(2))

    assert [[(record.source, record.system) for record in records] for records in found] == [
        [("crm", "0"), ("address_book", "0")],
        [("crm", "1"), ("address_book", "1")],
    ]


@pytest.mark.parametrize(
    ("in_the_crm", "in_a_book", "expected"),
    [
        ({"name": "Ada Lovelace"}, {"name": "Ada Lovelace"}, [True, True]),
        ({"name": "Ada Lovelace"}, {}, [True, True]),
        ({"name": "Ada Lovelace"}, {"name": "Bob Ray"}, [False, False]),
        ({"name": "Ada Lovelace"}, {"name": "Bob"}, [False, False]),
        ({"profiles": [ADA_URL]}, {"profiles": [BOB_URL]}, [False, False]),
        ({"profiles": [ADA_URL, BOB_URL]}, {}, [True, True]),
        ({"name": "Ada Lovelace", "emails": [ADDRESS]}, {"name": "Bob Ray"}, [True, False]),
    ],
)
def test_of_two_people_in_two_systems_no_record_is_certain_without_an_identifier(
    session: Session,
    *,
    in_the_crm: dict[str, Any],
    in_a_book: dict[str, Any],
    expected: list[bool],
) -> None:
    def source(name: str, fields: dict[str, Any]) -> Find:
        record = OwnRecord(source=name, system=name, title=name, is_certain=True, **fields)
        return lambda _session, _people: [[record]]

    finds = {"crm": source("crm", in_the_crm), "address_book": source("address_book", in_a_book)}

    [found] = own_records.find(session, finds, [LookedUp(workspace_id="wks_1", emails=[ADDRESS])])

    assert [record.is_certain for record in found] == expected


def test_without_a_source_nobody_has_a_record(session: Session) -> None:
    assert own_records.find(session, {}, people(2)) == [[], []]


def test_a_long_list_is_searched_in_batches(session: Session) -> None:
    source = Source("crm")

    found = own_records.find(session, {"crm": source}, people(BATCH + 2))

    assert source.sizes == [BATCH, 2]
    assert [records[0].system for records in found] == [str(number) for number in range(BATCH + 2)]


def test_the_features_own_sources_are_loaded_by_name(session: Session, settings: Settings) -> None:
    finds = own_records.load_all(settings)

    assert {name: list(find(session, people(1))) for name, find in finds.items()} == {
        "address_book": [[]],
        "crm": [[]],
    }


def test_the_values_of_a_record_are_not_in_its_text() -> None:
    record = OwnRecord(source="crm", system="hubspot", title="HubSpot", emails=["ada@acme.com"])

    assert "ada@acme.com" not in repr(record)
