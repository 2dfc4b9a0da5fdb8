from __future__ import annotations

import json
from typing import Any

import pytest
from local_servers import POSTGRES
from stored_support import a_company, a_contact, an_email, scans, statements, suppress

from app.domain.normal.hashes import hex_hash, profile_hash, website_hash
from app.engine.lookups import company_hashes, representations
from app.infra.database.session import Session

ACME = hex_hash(website_hash("acme.com"))
PAGE = "https://www.linkedin.com/company/acme"


def find(session: Session, workspace_id: str, **request: Any) -> dict[str, Any] | None:
    return company_hashes.find(session, workspace_id, {"kind": "website"} | request)


def test_a_company_is_found_by_the_hash_of_its_website(session: Session, workspace_id: str) -> None:
    company = a_company(session)
    for department in ("sales", "engineering", "engineering", None):
        a_contact(session, company, department=department)

    answer = find(session, workspace_id, hashes=[ACME])

    assert answer == {
        "matched_hash": ACME,
        "company": {
            **representations.company_card(company),
            "email_pattern": None,
            "contacts_count": 4,
            "departments": ["engineering", "sales"],
        },
    }


def test_the_first_known_hash_wins(session: Session, workspace_id: str) -> None:
    a_company(session)
    a_company(session, "Shop", domain="shop.example")
    hashes = [hex_hash(website_hash(name)) for name in ("x.acme.com", "acme.com", "shop.example")]

    answer = find(session, workspace_id, hashes=hashes)

    assert answer is not None
    assert (answer["matched_hash"], answer["company"]["domain"]) == (ACME, "acme.com")


def test_a_company_is_found_by_the_hash_of_its_page_as_another_kind(
    session: Session, workspace_id: str
) -> None:
    a_company(session, domain=None, linkedin_url=PAGE)
    digest = hex_hash(profile_hash(PAGE))

    as_page = find(session, workspace_id, kind="linkedin", hashes=[digest])
    as_website = find(session, workspace_id, hashes=[digest])

    assert as_page is not None
    assert (as_page["company"]["linkedin_url"], as_page["company"]["email_pattern"]) == (PAGE, None)
    assert as_website is None


def test_the_email_pattern_is_returned_once_enough_addresses_are_known(
    session: Session, workspace_id: str
) -> None:
    company = a_company(session)
    for number in range(12):
        ada = a_contact(session, company)
        an_email(session, ada, f"ada.lovelace{number}@acme.com", form="{first}.{last}")

    answer = find(session, workspace_id, hashes=[ACME])

    assert answer is not None
    pattern = answer["company"]["email_pattern"]
    assert pattern["pattern"] == "{first}.{last}"
    assert 0.5 < pattern["confidence"] <= 1
    assert pattern["sample_size"] == 12


def test_suppressed_people_are_not_counted(session: Session, workspace_id: str) -> None:
    an_email(session, a_contact(session, a_company(session), department="sales"), "ada@acme.com")
    suppress(session, "email", "ada@acme.com")

    answer = find(session, workspace_id, hashes=[ACME])

    assert answer is not None
    assert (answer["company"]["contacts_count"], answer["company"]["departments"]) == (0, [])


def test_a_prefix_returns_all_matching_companies_among_random_suffixes(
    session: Session, workspace_id: str
) -> None:
    company = a_company(session)
    a_contact(session, company)

    answer = find(session, workspace_id, prefix=ACME[:4])

    assert answer is not None
    assert answer["prefix"] == ACME[:4]
    suffixes = [match["suffix"] for match in answer["matches"]]
    assert suffixes == sorted(suffixes)
    assert len(set(suffixes)) == 32
    assert {len(suffix) for suffix in suffixes} == {60}
    assert [match for match in answer["matches"] if match["company"]] == [
        {
            "suffix": ACME[4:],
            "company": {"id": company.id, "name": "Acme Engines", "domain": "acme.com", "contacts_count": 1},
        }
    ]


def test_a_prefix_of_a_page_hash_finds_pages(session: Session, workspace_id: str) -> None:
    a_company(session, linkedin_url=PAGE)
    prefix = hex_hash(profile_hash(PAGE))[:4]

    answer = find(session, workspace_id, kind="linkedin", prefix=prefix)

    assert answer is not None
    assert sum(match["company"] is not None for match in answer["matches"]) == 1


@pytest.mark.parametrize(("companies", "matches"), [(0, 32), (1, 32), (32, 32), (33, 48), (49, 64)])
def test_the_size_of_the_response_does_not_reveal_the_number_of_companies(
    session: Session, workspace_id: str, companies: int, matches: int
) -> None:
    for number in range(companies):
        digest = bytes.fromhex("ab12") + number.to_bytes(30)
        company = a_company(session, f"Company {number}", domain=f"company-{number}.com")
        company.domain_hash = digest
    session.flush()

    answer = find(session, workspace_id, prefix="ab12")

    assert answer is not None
    assert len(answer["matches"]) == matches
    assert sum(match["company"] is not None for match in answer["matches"]) == companies
    size = len(json.dumps(answer))
    assert (size % 4096, size >= 8192) == (0, True)


def test_an_empty_response_and_one_with_few_companies_have_the_same_size(
    session: Session, workspace_id: str
) -> None:
    a_company(session)

    sizes = {len(json.dumps(find(session, workspace_id, prefix=prefix))) for prefix in (ACME[:4], "0000")}

    assert sizes == {8192}


@pytest.mark.skipif(POSTGRES is not None, reason="reads SQLite's plans")
@pytest.mark.parametrize("request_", [{"hashes": [ACME]}, {"prefix": ACME[:4]}])
def test_a_hash_lookup_scans_no_whole_table(
    session: Session, workspace_id: str, request_: dict[str, Any]
) -> None:
    a_contact(session, a_company(session))

    with statements(session.get_bind()) as seen:  # type: ignore[arg-type]
        find(session, workspace_id, **request_)

    assert [step for step in scans(session, seen) if "suppressions" not in step] == []
