from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_person_matcher import ADA, FOUND

from app.domain.records.mentions import tokens_in, tokens_of
from app.domain.records.person_matcher import PersonMatcher


@pytest.mark.parametrize("value", FOUND)
def test_whoever_is_mentioned_is_found_by_a_token(value: Any) -> None:
    assert tokens_of(ADA) & tokens_in(value)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("nobody here, 12 of 34", set()),
        ("o'hara/ada@acme.com", {"o'hara/ada@acme.com", "ada@acme.com"}),
        ("at @acme.com", set()),
        ("linkedin.com/in/ada.b", {"linkedin.com/in/ada", "linkedin.com/in/ada.b"}),
        (
            {"full_name": "Ada L", "company_domain": "acme.com", "company_name": "Acme Inc"},
            {"ada l\nacme.com", "ada l\nacme"},
        ),
        ({"full_name": "Ada L"}, set()),
        ({"company_domain": "acme.com"}, set()),
    ],
)
def test_the_tokens_of_a_value(text: Any, tokens: set[str]) -> None:
    assert tokens_in(text) == tokens


_NEAR = st.text(" .,;:/'\"<>()+-_=?&%@#xX7\n", max_size=4)


@given(_NEAR, _NEAR, st.sampled_from(["ada@acme.com", "con_1", "o'neil+x@a.co", "+16175550155"]))
def test_no_surrounding_text_hides_a_token(before: str, after: str, identifier: str) -> None:
    url = "https://www.linkedin.com/in/ada"
    matcher = PersonMatcher(
        contact_ids=frozenset({"con_1"}),
        emails=frozenset({"ada@acme.com", "o'neil+x@a.co"}),
        phones=frozenset({"+16175550155"}),
        linkedin_urls=frozenset({url}),
    )
    for text in (f"{before}{identifier}{after}", f"{before}{url}{after}"):
        assert not matcher.matches(text) or tokens_of(matcher) & tokens_in(text)
