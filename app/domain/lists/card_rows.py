"""Contact cards as rows of a list, so that their names, numbers and addresses are read as those of lists."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from app.domain.lists.files.csv_records import Row
from app.domain.lists.files.vcards import Card, Property
from app.domain.lists.phone_cells.phone_labels import ANOTHER, NOT_OWN, label_type
from app.domain.normal.texts.text_folding import fold

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
_FAMILY, _GIVEN, _MIDDLE = 0, 1, 2  # the components of N, and of ADR (RFC 6350, sections 6.2.2 and 6.3.1)
_COUNTRY = 6
_NOT_PEOPLE = frozenset({"GROUP", "ORG", "LOCATION", "APPLICATION", "DEVICE"})
"""The kinds of RFC 6350, 6473 and 6869 but `individual`, as which an unknown one is read."""
_MEMBERS = ("MEMBER", "X-ADDRESSBOOKSERVER-MEMBER")
_PROFILES = ("X-SOCIALPROFILE", "SOCIALPROFILE", "URL", "IMPP", "X-LINKEDIN")
_PROFILE = re.compile(r"linkedin\.com/(?!company/|school/|showcase/)", re.IGNORECASE)
_AND_NAME = re.compile(r",(?=\S)")
"""Between several names of a component: `Philip,Paul`."""
_CONTEXT = re.compile(r"tel:(.*);phone-context=(\+[0-9.-]+)(.*)", re.IGNORECASE | re.DOTALL)
"""A number without its first digits, which follow (RFC 3966, section 5.1.5)."""


def row_of(card: Card) -> Row:
    """Return the row of a card, with as many cells as `HEADER`; empty if the card is not a person's."""
    is_company = card.text("X-ABSHOWAS").upper() == "COMPANY"
    company = _company(card, is_company=is_company)
    names = [_plain(card.text("FN")), *_parts(card)]
    if is_company:
        names = _names_beside(company, names)
    if _is_of_nobody(card) or (not any(names) and is_company):
        return Row(card.line, [""] * len(HEADER))
    cells = [
        *names,
        company,
        card.component("ADR", _COUNTRY) or card.text("X-ABADR"),
        next(_profiles(card), ""),
        _AND.join(found.text for found in card.all("EMAIL") if _type(found) != ANOTHER),
        _AND.join(_number(found.text) for found in card.all("TEL") if _is_own(found, company)),
        card.text("REV"),
    ]
    return Row(card.line, cells)


def _is_of_nobody(card: Card) -> bool:
    """Return whether a card is not a person's; a list of Evolution has the addresses of its members."""
    kind = card.text("KIND") or card.text("X-ADDRESSBOOKSERVER-KIND")
    is_list = card.text("X-EVOLUTION-LIST").upper() == "TRUE" or any(map(card.text, _MEMBERS))
    return is_list or kind.upper() in _NOT_PEOPLE


def _company(card: Card, *, is_company: bool) -> str:
    """Return the company; the name of the card if that is the whole of it, or if nothing else names it."""
    full = card.text("FN")
    is_whole = fold(full) == fold(card.text("ORG"))
    return full if is_whole else card.component("ORG", 0) or (full if is_company else "")


def _parts(card: Card) -> list[str]:
    """Return the given, middle and family names; semicolons that were escaped twice separate them, too."""
    parts = [_plain(part).strip() for part in (*card.text("N").split(";"), "", "", "")]
    given, family = (_AND_NAME.sub(" ", parts[place]) for place in (_GIVEN, _FAMILY))
    return [given, parts[_MIDDLE].replace(",", " "), family]


def _plain(name: str) -> str:
    """Return a name without the signs that were escaped twice."""
    return name.replace("\\", "")


def _names_beside(company: str, names: Sequence[str]) -> list[str]:
    """Return the names of the person beside a company whose name is shown; empty if there is nobody."""
    full, *parts = names
    words = set(fold(" ".join(parts)).split())
    is_person = all(parts[::2]) and not words <= set(fold(f"{full} {company}").split())
    return ["", *parts] if is_person else [""] * len(names)


def _profiles(card: Card) -> Iterator[str]:
    """Yield the profiles of the person; Apple writes a handle as `x-apple:ada-lovelace`."""
    for found in (found for name in _PROFILES for found in card.all(name) if _type(found) != ANOTHER):
        if _PROFILE.search(found.text):
            yield found.text
        elif "LINKEDIN" in _services(found) and "/" not in found.text:
            yield found.text.removeprefix("x-apple:")


def _services(found: Property) -> set[str]:
    """Return what may name the service of a profile: its type, RFC 9554's SERVICE-TYPE, or the property."""
    return {*(word.rpartition("=")[2] for word in found.words), found.name.removeprefix("X-")}


def _label(found: Property) -> str:
    return " ".join([*sorted(found.words), found.label])


def _type(found: Property) -> str | None:
    return label_type(_label(found))


def _is_own(found: Property, company: str) -> bool:
    """Return whether a number is the person's: no fax's, nobody else's, and not of the whole company.

    The main number of a card without a company is the person's.
    """
    kind = _type(found)
    if kind != "hq":
        return kind not in NOT_OWN
    return not company and "main" in fold(_label(found)).split()


def _number(text: str) -> str:
    """Return a number as it is written, or of its URI."""
    return _CONTEXT.sub(r"\2-\1\3", text).removeprefix("tel:")
