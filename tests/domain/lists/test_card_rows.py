from __future__ import annotations

import pytest

from app.domain.lists.card_rows import HEADER, row_of
from app.domain.lists.files.vcards import read_cards

pytestmark = pytest.mark.any_database


def row(*lines: str) -> dict[str, str]:
    """Return the cells of a card that are not empty, by their header."""
    (card,) = read_cards("\n".join(["BEGIN:VCARD", *lines, "END:VCARD"]).encode())
    found = row_of(card)
    assert found.line == 1
    return {name: cell for name, cell in zip(HEADER, found.cells, strict=True) if cell}


def test_a_card_gives_a_row_with_all_addresses_and_numbers() -> None:
    found = row(
        "FN:Dr. Ada B. Lovelace",
        "N:Lovelace;Ada;Byron;Dr.;",
        "ORG:Acme;Research",
        "ADR:;;1 Way;London;;EC1;United Kingdom",
        "EMAIL:a@x.com",
        "EMAIL:b@x.com",
        "TEL:tel:+1-650-253-0000",
        "TEL:+1 650 253 0001",
        "URL:https://ada.example",
        "URL:https://www.LinkedIn.com/in/ada",
        "REV:20250615T010046Z",
    )

    assert found == {
        "full_name": "Dr. Ada B. Lovelace",
        "first_name": "Ada",
        "middle_name": "Byron",
        "last_name": "Lovelace",
        "company_name": "Acme",
        "country": "United Kingdom",
        "linkedin_url": "https://www.LinkedIn.com/in/ada",
        "email": "a@x.com ::: b@x.com",
        "phone": "+1-650-253-0000 ::: +1 650 253 0001",
        "updated_at": "20250615T010046Z",
    }


@pytest.mark.parametrize(
    "lines",
    [("TEL;FAX:1",), ("TEL;TYPE=PAGER:1",), ("item1.TEL:1", "item1.X-ABLabel:_$!<WorkFAX>!$_")],
)
def test_a_number_of_a_fax_is_left_out(lines: tuple[str, ...]) -> None:
    assert row(*lines) == {}


@pytest.mark.parametrize("line", ["X-ABShowAs:COMPANY", "KIND:org"])
def test_a_card_of_a_company_has_no_values(line: str) -> None:
    assert row("FN:Acme", "N:Acme;;;;", "TEL:1", line) == {}


def test_a_card_that_shows_the_company_may_have_a_person() -> None:
    found = row("FN:Acme", "N:Lovelace;Ada;;;", "X-ABShowAs:COMPANY")

    assert found == {"first_name": "Ada", "last_name": "Lovelace", "company_name": "Acme"}


@pytest.mark.parametrize("line", ["X-ADDRESSBOOKSERVER-KIND:group", "KIND:group"])
def test_a_group_of_people_has_no_values(line: str) -> None:
    assert row("FN:Friends", "EMAIL:friends@x.com", line) == {}


def test_a_profile_may_be_written_as_a_social_profile() -> None:
    found = row(
        "X-SOCIALPROFILE;type=linkedin:http://linkedin.com/in/ada", "X-SOCIALPROFILE:http://x.com/ada"
    )

    assert found == {"linkedin_url": "http://linkedin.com/in/ada"}
