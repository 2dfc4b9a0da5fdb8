"""Contact cards as rows of a list, so that their names, numbers and addresses are read as those of lists."""

from __future__ import annotations

from collections.abc import Iterator

from app.domain.lists.files.csv_records import Row
from app.domain.lists.files.vcards import Card, Property

HEADER = (
    "full_name",
    "first_name",
    "middle_name",
    "last_name",
    "company_name",
    "country",
    "linkedin_url",
    "email",
    "phone",
    "updated_at",
)
_AND = " ::: "
"""Between several values of a cell, as Google writes them."""
_NO_TELEPHONES = frozenset({"FAX", "PAGER", "MODEM", "BBS", "TLX"})
_FAMILY, _GIVEN, _MIDDLE = 0, 1, 2  # the components of N, and of ADR (RFC 6350, sections 6.2.2 and 6.3.1)
_COUNTRY = 6
_PROFILES = ("X-SOCIALPROFILE", "SOCIALPROFILE", "URL", "IMPP", "X-LINKEDIN")


def row_of(card: Card) -> Row:
    """Return the row of a card, with as many cells as `HEADER`; a group of people has no values."""
    kind = (card.text("KIND") or card.text("X-ADDRESSBOOKSERVER-KIND")).lower()
    if kind == "group":
        return Row(card.line, [""] * len(HEADER))
    is_company = kind == "org" or card.text("X-ABSHOWAS").upper() == "COMPANY"
    names = [card.text("FN"), *(card.component("N", place) for place in (_GIVEN, _MIDDLE, _FAMILY))]
    cells = [
        *([""] * len(names) if is_company else names),
        card.component("ORG", 0) or (card.text("FN") if is_company else ""),
        card.component("ADR", _COUNTRY),
        next(_profiles(card), ""),
        _AND.join(found.text for found in card.all("EMAIL")),
        _AND.join(found.text.removeprefix("tel:") for found in card.all("TEL") if _is_telephone(found)),
        card.text("REV"),
    ]
    return Row(card.line, cells)


def _profiles(card: Card) -> Iterator[str]:
    texts = (found.text for name in _PROFILES for found in card.all(name))
    return (text for text in texts if "linkedin.com/" in text.lower())


def _is_telephone(found: Property) -> bool:
    return _NO_TELEPHONES.isdisjoint(found.words) and "fax" not in found.label.lower()
