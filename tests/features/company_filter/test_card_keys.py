"""The ids and keys of company cards: stored once, and only of known companies."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from company_filter_support import SIGNING_KEY, build_filter
from cryptography.exceptions import InvalidTag
from sqlalchemy import delete, select
from stored_support import a_company

from app.domain.normal.hashes import profile_hash, website_hash
from app.engine.contacts.companies import Company
from app.engine.lookups.company_filters import CompanyCardKey
from app.features.company_filter import card_keys, fuse_filter
from app.infra.crypto import company_cards
from app.infra.crypto.oprf import OprfKey
from app.infra.database.db import Database

KEY, OTHER_KEY = OprfKey.derive(bytes(32)), OprfKey.derive(bytes(31) + b"1")
PAGE = "https://www.linkedin.com/company/acme"


def add_companies(database: Database, *domains: str) -> None:
    with database.transaction() as session:
        for domain in domains:
            a_company(session, f"Company {domain}", domain=domain)


def remove_company(database: Database, domain: str) -> None:
    with database.transaction() as session:
        session.execute(delete(Company).where(Company.domain == domain))


def stored(database: Database) -> Sequence[CompanyCardKey]:
    with database.reading() as session:
        return session.scalars(select(CompanyCardKey).order_by(CompanyCardKey.card_id)).all()


def hashes(*domains: str) -> set[bytes]:
    return {website_hash(domain) for domain in domains}


def test_websites_and_pages_have_the_id_and_the_key_of_their_outputs(database: Database) -> None:
    with database.transaction() as session:
        a_company(session, linkedin_url=PAGE)

    build_filter(database, SIGNING_KEY, KEY)

    expected = {
        digest: company_cards.card_key(KEY.output(digest))
        for digest in (website_hash("acme.com"), profile_hash(PAGE))
    }
    rows = stored(database)
    assert {
        row.company_hash: (row.card_id, KEY.unwrap(row.wrapped_key, row.card_id)) for row in rows
    } == expected


def test_a_card_key_cannot_be_read_without_the_setting_or_in_another_row(database: Database) -> None:
    add_companies(database, "acme.com", "other.com")
    build_filter(database, SIGNING_KEY, KEY)

    first, second = stored(database)

    card_id, key = company_cards.card_key(KEY.output(first.company_hash))
    assert key not in first.wrapped_key
    with pytest.raises(InvalidTag):
        OTHER_KEY.unwrap(first.wrapped_key, card_id)
    with pytest.raises(InvalidTag):
        KEY.unwrap(first.wrapped_key, second.card_id)


def test_the_card_keys_of_removed_companies_are_deleted(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(card_keys, "ROWS_AT_ONCE", 3)
    monkeypatch.setattr(card_keys, "DELETED_AT_ONCE", 2)
    add_companies(database, *(f"company-{number}.com" for number in range(6)))
    build_filter(database, SIGNING_KEY, KEY)
    for number in range(5):
        remove_company(database, f"company-{number}.com")

    build_filter(database, SIGNING_KEY, KEY)

    assert {row.company_hash for row in stored(database)} == hashes("company-5.com")


def test_an_interrupted_build_continues_where_it_was(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(card_keys, "COMPUTED_AT_ONCE", 2)
    add_companies(database, *(f"company-{number}.com" for number in range(5)))
    computed: list[bytes] = []
    output = OprfKey.output

    def interrupt_once(key: OprfKey, digest: bytes) -> bytes:
        computed.append(digest)
        if len(computed) == 4:
            raise KeyboardInterrupt
        return output(key, digest)

    monkeypatch.setattr(OprfKey, "output", interrupt_once)
    with pytest.raises(KeyboardInterrupt):
        build_filter(database, SIGNING_KEY, KEY)
    first_part = {row.company_hash for row in stored(database)}

    build_filter(database, SIGNING_KEY, KEY)

    assert first_part == set(computed[:2])
    assert len(computed) == 4 + 3
    assert len(stored(database)) == 5


def test_the_old_card_keys_remain_until_the_file_of_the_new_key_is_stored(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object) -> None:
        raise KeyboardInterrupt

    add_companies(database, "acme.com")
    build_filter(database, SIGNING_KEY, KEY)
    with monkeypatch.context() as interrupted:
        interrupted.setattr(fuse_filter, "build", fail)
        with pytest.raises(KeyboardInterrupt):
            build_filter(database, SIGNING_KEY, OTHER_KEY)
    during = {row.oprf_key_id for row in stored(database)}

    build_filter(database, SIGNING_KEY, OTHER_KEY)

    assert during == {KEY.id, OTHER_KEY.id}
    assert [row.oprf_key_id for row in stored(database)] == [OTHER_KEY.id]


def test_old_card_keys_that_an_interrupted_build_has_left_are_deleted_by_the_next_check(
    database: Database,
) -> None:
    add_companies(database, "acme.com")
    build_filter(database, SIGNING_KEY, KEY)
    with database.transaction() as session:
        session.add(
            CompanyCardKey(card_id=b"old", company_hash=b"hash", oprf_key_id=OTHER_KEY.id, wrapped_key=b"key")
        )

    is_new = build_filter(database, SIGNING_KEY, KEY)

    assert is_new is False
    assert [row.oprf_key_id for row in stored(database)] == [KEY.id]


def test_without_a_key_no_card_keys_are_stored(database: Database) -> None:
    add_companies(database, "acme.com")
    build_filter(database, SIGNING_KEY, KEY)

    build_filter(database, SIGNING_KEY)

    assert stored(database) == []
