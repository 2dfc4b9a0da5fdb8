from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from company_filter_support import build_filter, read_filter
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import select
from stored_support import a_company

from app.domain.normal.hashes import profile_hash, website_hash
from app.engine.contacts.companies import Company
from app.engine.lookups.company_filters import CompanyFilter
from app.features.company_filter import file_format, filters, signing_keys
from app.infra import clock
from app.infra.crypto.oprf import OprfKey
from app.infra.database.db import Database
from app.settings import Settings

PAGE = "https://www.linkedin.com/company/acme"
KEY, OTHER_KEY = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
OPRF_KEY, OTHER_OPRF_KEY = OprfKey.derive(bytes(32)), OprfKey.derive(bytes(31) + b"1")


def stored_file(database: Database, bits: int = 16) -> bytes:
    with database.reading() as session:
        found = filters.content(session, bits)
    assert found is not None
    return found[1]


def add_company(database: Database, domain: str | None, page: str | None = None) -> None:
    with database.transaction() as session:
        a_company(session, f"Company {domain}", domain=domain, linkedin_url=page)


@pytest.mark.parametrize("bits", [8, 16])
def test_the_file_has_the_websites_and_pages_of_all_companies(
    database: Database, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filters, "ROWS_AT_ONCE", 2)
    for number in range(5):
        add_company(database, f"company-{number}.com")
    add_company(database, None, PAGE)

    build_filter(database, KEY)

    read = read_filter(stored_file(database, bits), signing_keys.public_text(KEY))
    known = [*(website_hash(f"company-{number}.com") for number in range(5)), profile_hash(PAGE)]
    assert (read.bits, read.entries) == (bits, 6)
    assert all(file_format.key_of(digest) in read for digest in known)
    unknown = [website_hash(f"unknown-{number}.com") for number in range(100)]
    assert sum(file_format.key_of(digest) in read for digest in unknown) < 10


def test_another_key_does_not_verify_the_file(database: Database) -> None:
    build_filter(database, KEY)

    with pytest.raises(InvalidSignature):
        read_filter(stored_file(database), signing_keys.public_text(OTHER_KEY))


def test_it_is_built_again_only_if_companies_or_the_key_have_changed(database: Database) -> None:
    builds = [build_filter(database, KEY), build_filter(database, KEY)]
    add_company(database, "new.com")
    builds += [
        build_filter(database, KEY),
        build_filter(database, OTHER_KEY),
        build_filter(database, OTHER_KEY),
    ]

    assert builds == [True, False, True, True, False]


def test_each_file_has_a_higher_version_and_another_etag(database: Database) -> None:
    build_filter(database, KEY)
    with database.transaction() as session:
        first = filters.stored(session)
        session.get_one(CompanyFilter, 16).version += 10_000  # as after a clock was set back
    add_company(database, "new.com")

    build_filter(database, KEY)

    with database.reading() as session:
        second = filters.stored(session)
    assert [item.bits for item in second] == [8, 16]
    assert second[1].version == first[1].version + 10_001
    assert int.from_bytes(stored_file(database)[8:16], "little") == second[1].version
    assert {item.etag for item in first}.isdisjoint(item.etag for item in second)
    assert [item.size for item in second] == [len(stored_file(database, bits)) for bits in (8, 16)]


def test_only_one_of_two_workers_builds_it(database: Database) -> None:
    now, every = clock.now(), timedelta(minutes=10)

    with database.transaction() as session:
        claims = [
            filters.claim(session, every=every, now=time)
            for time in (now, now + every / 2, now + every, now + every)
        ]

    assert claims == [True, False, True, False]


def test_without_a_file_nothing_is_listed(database: Database) -> None:
    with database.transaction() as session:
        filters.claim(session, every=timedelta(0), now=clock.now())

    with database.reading() as session:
        assert filters.stored(session) == []
        assert filters.etag(session, 16) is None
        assert filters.content(session, 16) is None


def test_the_key_is_that_of_the_settings_or_derived_from_the_secret_key(settings: Settings) -> None:
    keys = {
        name: signing_keys.public_text(signing_keys.company_filter_key(changed))
        for name, changed in {
            "derived": settings,
            "again": settings,
            "another secret": replace(settings, secret_key="x" * 40),
            "set": replace(settings, company_filter_key=bytes(32)),
        }.items()
    }

    assert keys["derived"] == keys["again"]
    assert len(set(keys.values())) == 3
    assert keys["set"] == "O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik="


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Record the hashes whose outputs are computed."""
    hashes: list[bytes] = []
    output = OprfKey.output

    def record(key: OprfKey, digest: bytes) -> bytes:
        hashes.append(digest)
        return output(key, digest)

    monkeypatch.setattr(OprfKey, "output", record)
    return hashes


@pytest.mark.parametrize("bits", [8, 16])
def test_a_keyed_file_has_the_outputs_and_the_public_key_instead_of_the_hashes(
    database: Database, bits: int
) -> None:
    domains = [f"company-{number}.com" for number in range(40)]
    for domain in domains:
        add_company(database, domain)

    build_filter(database, KEY, OPRF_KEY)

    file = stored_file(database, bits)
    read = read_filter(file, signing_keys.public_text(KEY), keyed=True)
    hashes = [website_hash(domain) for domain in domains]
    assert all(file_format.key_of(OPRF_KEY.output(digest)) in read for digest in hashes)
    assert sum(file_format.key_of(digest) in read for digest in hashes) < 5
    assert (file[36:68], read.entries) == (OPRF_KEY.public, 40)


def test_only_outputs_of_new_companies_are_computed(database: Database, computed: list[bytes]) -> None:
    add_company(database, "first.com")
    build_filter(database, KEY, OPRF_KEY)
    add_company(database, "second.com", PAGE)
    build_filter(database, KEY, OPRF_KEY)
    with database.transaction() as session:
        session.delete(session.scalars(select(Company).where(Company.domain == "first.com")).one())
    build_filter(database, KEY, OPRF_KEY)

    assert computed[:1] == [website_hash("first.com")]
    assert sorted(computed[1:]) == sorted([website_hash("second.com"), profile_hash(PAGE)])
    read = read_filter(stored_file(database), signing_keys.public_text(KEY), keyed=True)
    assert read.entries == 2
    assert file_format.key_of(OPRF_KEY.output(profile_hash(PAGE))) in read


def test_another_oprf_key_makes_another_file_of_new_outputs(
    database: Database, computed: list[bytes]
) -> None:
    add_company(database, "first.com")

    builds = [
        build_filter(database, KEY, OPRF_KEY),
        build_filter(database, KEY, OPRF_KEY),
        build_filter(database, KEY, OTHER_OPRF_KEY),
        build_filter(database, KEY),
    ]

    assert builds == [True, False, True, True]
    assert computed == [website_hash("first.com")] * 2
    assert stored_file(database)[:4] == b"CLF1"
