from __future__ import annotations

from typing import Any

import pytest

from app.domain.records.person_matcher import PersonMatcher

ADA = PersonMatcher(
    contact_ids=frozenset({"con_1"}),
    emails=frozenset({"ada@acme.com"}),
    linkedin_urls=frozenset(
        {"https://www.linkedin.com/in/ada-é", "https://www.linkedin.com/in/ACwAAAbCdEf_-xyz"}
    ),
    phones=frozenset({"+16175550155"}),
    names=frozenset({("ada lovelace", "acme.com"), ("ada lovelace", "acme engines")}),
)
URL = "https://www.linkedin.com/in/ada-é"


FOUND: list[Any] = [
    "ada@acme.com",
    "Ask ADA@Acme.com.",
    "<ada@acme.com>",
    "mailto:ada%40acme.com",
    URL,
    "http://uk.linkedin.com/in/ADA-%C3%89/?x=1",
    "https://www.linkedin.com/in/ACwAAAbCdEf_-xyz/",
    "https://www.linkedin.com/sales/lead/ACwAAAbCdEf_-xyz,NAME_SEARCH,a1b2",
    "https://www.linkedin.com/sales/people/ACwAAAbCdEf_-xyz",
    "+1 (617) 555-0155",
    "call 001-617-555.0155 now",
    "con_1",
    {"deep": [{"down": ["x", "ada@acme.com"]}]},
    {"full_name": "Áda  LOVELACE", "company_domain": "acme.com"},
    {"first_name": "Ada", "last_name": "Lovelace", "company_name": "ACME Engines, Inc."},
    {"full_name": "Ada Lovelace", "company_domain": "acme.com", "linkedin_url": URL},
]


@pytest.mark.parametrize("value", FOUND)
def test_a_person_is_found_in_every_spelling(value: Any) -> None:
    assert ADA.matches(value)


@pytest.mark.parametrize(
    "value",
    [
        None,
        7,
        "",
        "ada",
        "nada@acme.com",
        "x.ada@acme.com",
        "ada@acme.com.au",
        "ada@acme.comx",
        f"{URL}-2",
        "https://www.linkedin.com/sales/lead/ACwAAAbCdEf_-xyzz,NAME_SEARCH,a1b2",
        "+1 617 555 01556",
        "6175550155000",
        "con_12",
        "Ada Lovelace",
        {"full_name": "Ada Lovelace"},
        {"full_name": "Ada Lovelace", "company_domain": "other.com"},
        {"full_name": {"source": "one"}, "company_domain": "acme.com"},
        {
            "full_name": "Ada Lovelace",
            "company_domain": "acme.com",
            "linkedin_url": "https://www.linkedin.com/in/x",
        },
    ],
)
def test_another_person_is_not_matched(value: Any) -> None:
    assert not ADA.matches(value)


def test_a_person_known_by_phone_only_is_found() -> None:
    named = PersonMatcher(phones=frozenset({"+16175550155"}))

    assert named.matches("+1 617 555 0155")
    assert not named.matches("ada@acme.com")
