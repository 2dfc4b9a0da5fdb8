"""The two profile URLs of one person: a chosen name, and an id of the member."""

from __future__ import annotations

import pytest

from app.domain.normal.profiles.member_ids import member_url
from app.domain.records.profile_links import are_two_people, linked, spellings

ROOT = "https://www.linkedin.com/in/"
ADA, BOB = f"{ROOT}ada", f"{ROOT}bob"
MEMBER, OTHER_MEMBER = f"{ROOT}ACoAAAbCdEf_-123", f"{ROOT}ACoAAAbCdEf_-124"
SALES = f"{ROOT}ACwAAAbCdEf_-123"


@pytest.mark.parametrize(
    ("stored", "found", "expected"),
    [
        ((), (ADA,), (ADA, None)),
        ((), (MEMBER,), (MEMBER, None)),
        ((), (MEMBER, ADA), (ADA, MEMBER)),
        ((ADA,), (MEMBER,), (ADA, MEMBER)),
        ((MEMBER,), (ADA,), (ADA, MEMBER)),
        ((ADA,), (BOB,), (ADA, None)),
        ((ADA, MEMBER), (OTHER_MEMBER,), (ADA, MEMBER)),
        ((MEMBER,), (SALES,), (MEMBER, SALES)),
        ((MEMBER, SALES), (ADA,), (ADA, MEMBER)),
        ((MEMBER.lower(),), (MEMBER,), (MEMBER, None)),
        ((MEMBER.lower(),), (ADA, MEMBER), (ADA, MEMBER)),
    ],
)
def test_the_chosen_name_is_shown_and_the_id_is_kept_beside_it(
    stored: tuple[str, ...], found: tuple[str, ...], expected: tuple[str | None, str | None]
) -> None:
    assert linked(stored, found) == expected


@pytest.mark.parametrize(
    ("urls", "others", "expected"),
    [
        ((ADA,), (BOB,), True),
        ((MEMBER,), (OTHER_MEMBER,), True),
        ((MEMBER,), (MEMBER.replace("bCd", "BCD"),), True),
        ((ADA, MEMBER), (OTHER_MEMBER,), True),
        ((ADA,), (MEMBER,), False),
        ((MEMBER,), (SALES,), False),
        ((ADA,), (ADA,), False),
        ((), (ADA,), False),
    ],
)
def test_two_urls_of_one_kind_are_two_people(
    urls: tuple[str, ...], others: tuple[str, ...], *, expected: bool
) -> None:
    assert are_two_people(urls, others) is expected
    assert are_two_people(others, urls) is expected


def test_only_an_id_of_a_member_has_an_older_spelling() -> None:
    assert spellings(ADA) == (ADA,)
    assert spellings(MEMBER) == (MEMBER, MEMBER.lower())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ACoAAAbCdEf_-123", MEMBER),
        (" urn:li:fsd_profile:ACoAAAbCdEf_-123 ", MEMBER),
        ("urn:li:fs_miniProfile:ACoAAAbCdEf_-123", MEMBER),
        ("urn:li:fs_salesProfile:(ACwAAAbCdEf_-123,NAME_SEARCH,a1b2)", SALES),
        ("urn:li:member:123", None),
        ("acoaaabcdef_-123", None),
        ("ACoAA", None),
        ("Yes", None),
    ],
)
def test_an_id_is_read_alone_and_in_a_urn(text: str, expected: str | None) -> None:
    assert member_url(text) == expected
