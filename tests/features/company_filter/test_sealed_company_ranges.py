"""The response to a prefix of an output has sealed cards; only the output of a website opens its own."""

from __future__ import annotations

import json
from base64 import b64decode
from typing import Any

import pytest
from company_filter_support import SIGNING_KEY, build_filter
from cryptography.exceptions import InvalidTag
from local_servers import POSTGRES
from sealed_cards_support import open_card
from sqlalchemy import delete
from stored_support import a_company, a_contact, scans, statements

from app.domain.errors import FilterKeyUnknown
from app.domain.normal.hashes import profile_hash, website_hash
from app.engine.contacts.companies import Company
from app.engine.lookups import company_ranges
from app.engine.lookups.company_filters import CompanyCardKey
from app.engine.lookups.company_overviews import HashKind
from app.features.company_filter import fuse_filter
from app.infra.crypto.oprf import OprfKey
from app.infra.database.db import Database

KEY, OTHER_KEY = OprfKey.derive(bytes(32)), OprfKey.derive(bytes(31) + b"1")
ACME = KEY.output(website_hash("acme.com"))
PAGE = "https://www.linkedin.com/company/acme"
MADE_UP = "ab12"


def build(database: Database) -> None:
    assert build_filter(database, SIGNING_KEY, KEY)


def find(
    database: Database, prefix: str, kind: HashKind = HashKind.WEBSITE, key: OprfKey = KEY
) -> dict[str, Any]:
    with database.transaction() as session:
        return company_ranges.by_card_id(session, kind, prefix, key)


def lengths(response: dict[str, Any]) -> set[int]:
    return {len(b64decode(match["sealed"], validate=True)) for match in response["matches"]}


def fill(database: Database, companies: int, **changes: Any) -> None:
    """Store companies whose cards have ids with the prefix MADE_UP."""
    with database.transaction() as session:
        for number in range(companies):
            company = a_company(session, f"Company {number}", domain=f"company-{number}.com")
            card_id = bytes.fromhex(MADE_UP) + number.to_bytes(14)
            row = {"card_id": card_id, "company_hash": company.domain_hash, "oprf_key_id": KEY.id}
            session.add(CompanyCardKey(wrapped_key=KEY.wrap(bytes(32), card_id), **row | changes))


def test_the_output_of_a_website_opens_its_company(database: Database) -> None:
    with database.transaction() as session:
        company = a_company(session)
        a_contact(session, company)
    build(database)

    response = find(database, ACME.hex()[:4])

    assert (response["key"], response["prefix"]) == (KEY.public.hex(), ACME.hex()[:4])
    assert open_card(response, ACME) == {
        "id": company.id,
        "name": "Acme Engines",
        "domain": "acme.com",
        "contacts_count": 1,
    }
    suffixes = [match["suffix"] for match in response["matches"]]
    assert suffixes == sorted(suffixes)
    assert len(set(suffixes)) == 32
    assert {len(suffix) for suffix in suffixes} == {28}


def test_the_output_of_a_company_page_opens_it_as_another_kind(database: Database) -> None:
    with database.transaction() as session:
        a_company(session, linkedin_url=PAGE)
    build(database)
    output = KEY.output(profile_hash(PAGE))

    as_page = find(database, output.hex()[:4], HashKind.LINKEDIN)
    as_website = find(database, output.hex()[:4])

    assert open_card(as_page, output)["domain"] == "acme.com"
    assert open_card(as_website, output) is None


def test_all_prefixes_together_list_no_company(database: Database) -> None:
    with database.transaction() as session:
        for number in range(20):
            a_company(session, f"Company {number}", domain=f"company-{number}.com")
    build(database)

    responses = [find(database, f"{prefix:02x}") for prefix in range(256)]

    everything = json.dumps(responses)
    hashes = [website_hash(f"company-{number}.com") for number in range(20)]
    assert not any(name in everything for name in ("Company", "company-", "com_"))
    assert not any(digest.hex()[:16] in everything for digest in hashes)
    assert all(match["company"] is None for response in responses for match in response["matches"])
    ids = {response["prefix"] + match["suffix"] for response in responses for match in response["matches"]}
    assert {KEY.output(digest).hex()[:32] for digest in hashes} <= ids
    assert all(KEY.output(digest).hex()[32:64] not in everything for digest in hashes)


@pytest.mark.parametrize(("companies", "matches"), [(0, 32), (1, 32), (32, 32), (33, 48), (49, 64)])
def test_the_size_of_the_response_does_not_reveal_the_number_of_companies(
    database: Database, companies: int, matches: int
) -> None:
    build(database)
    fill(database, companies)

    response = find(database, MADE_UP)

    assert len(response["matches"]) == matches
    size = len(json.dumps(response))
    assert size == {32: 12_288, 48: 20_480, 64: 24_576}[matches]


@pytest.mark.parametrize(("name", "length"), [("Acme", 220), ("A" * 150, 284), ("株式会社" * 20, 412)])
def test_all_cards_of_a_response_have_the_length_of_the_longest(
    database: Database, name: str, length: int
) -> None:
    with database.transaction() as session:
        a_company(session, name)
    build(database)
    fill(database, 3)
    with database.transaction() as session:
        first = session.get_one(CompanyCardKey, ACME[:16])
        card_id = bytes.fromhex(MADE_UP) + ACME[2:16]
        first.card_id, first.wrapped_key = card_id, KEY.wrap(bytes(32), card_id)

    response = find(database, MADE_UP)

    assert lengths(response) == {length}


def test_two_requests_for_a_prefix_have_no_sealed_card_in_common(database: Database) -> None:
    build(database)
    fill(database, 3)

    first, second = find(database, MADE_UP), find(database, MADE_UP)

    sealed = [{match["sealed"] for match in response["matches"]} for response in (first, second)]
    assert sealed[0].isdisjoint(sealed[1])


def test_a_card_key_of_another_row_is_not_used(database: Database) -> None:
    with database.transaction() as session:
        a_company(session)
    build(database)
    fill(database, 1)
    with database.transaction() as session:
        made_up = session.get_one(CompanyCardKey, bytes.fromhex(MADE_UP) + bytes(14))
        session.get_one(CompanyCardKey, ACME[:16]).wrapped_key = made_up.wrapped_key

    with pytest.raises(InvalidTag):
        find(database, ACME.hex()[:4])


def test_companies_added_or_removed_since_the_build_are_not_found(database: Database) -> None:
    with database.transaction() as session:
        a_company(session)
    build(database)
    with database.transaction() as session:
        session.execute(delete(Company))
        a_company(session, "New", domain="new.com")
    new = KEY.output(website_hash("new.com"))

    removed, added = find(database, ACME.hex()[:4]), find(database, new.hex()[:4])

    assert (open_card(removed, ACME), open_card(added, new)) == (None, None)


def test_prefixes_are_refused_until_the_file_of_the_key_is_built(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object) -> None:
        raise KeyboardInterrupt

    with database.transaction() as session:
        a_company(session)
    with pytest.raises(FilterKeyUnknown):
        find(database, "ab")
    build(database)
    monkeypatch.setattr(fuse_filter, "build", fail)
    with pytest.raises(KeyboardInterrupt):
        build_filter(database, SIGNING_KEY, OTHER_KEY)

    response = find(database, ACME.hex()[:4])

    assert open_card(response, ACME) is not None
    with pytest.raises(FilterKeyUnknown):
        find(database, "ab", key=OTHER_KEY)


def test_card_keys_of_another_key_are_ignored(database: Database) -> None:
    build(database)
    fill(database, 33, oprf_key_id=OTHER_KEY.id)

    response = find(database, MADE_UP)

    assert len(response["matches"]) == 32


@pytest.mark.skipif(POSTGRES is not None, reason="reads SQLite's plans")
def test_a_lookup_by_prefix_scans_no_whole_table(database: Database) -> None:
    build(database)
    fill(database, 3)

    with database.transaction() as session:
        with statements(database.engine) as seen:
            company_ranges.by_card_id(session, HashKind.WEBSITE, MADE_UP, KEY)
        steps = scans(session, seen)

    assert [step for step in steps if "suppressions" not in step] == []
