"""Mapping of vendors' words for status, seniority, department, type and headcount to canonical values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from app.domain.errors import InvalidValue
from app.domain.findings import EmailStatus
from app.domain.normal.texts.text_folding import fold, snake_case

HEADCOUNTS = ("1-10", "11-50", "51-200", "201-500", "501-1000", "1001-5000", "5001-10000", "10001+")

_UPPER = (10, 50, 200, 500, 1_000, 5_000, 10_000)
_MASTER = re.compile(
    r"^(?:master|(?:department|dept)(?: of)?|abteilung|departement|departamento|service|direction|area"
    r"|ufficio|dzial) (?:des? |du |d )?| (?:department|dept|team|abteilung)$|s?abteilung$"
)
"""What stands around the name of a department."""
_BRACKETS = re.compile(r"\([^()]*\)$")
_BETWEEN = re.compile(r"[/+]| (?:and|und|et|y|e|en) ")
_LIST = re.compile(r"[;|,\n]")
_NUMBER = re.compile(r"(\d[\d.,'\u00a0\u202f ]*\d|\d)\s*(k\b|m\b|mio\b)?", re.IGNORECASE)
_TIMES = {"": 1, "k": 1_000, "m": 1_000_000, "mio": 1_000_000}
_GRADE = re.compile(r"([a-f])\s*([+-]?)", re.IGNORECASE)
_GRADES = {"+": " plus", "-": " minus", "": ""}
# Spreadsheets convert 11-50, 2-10 and 1-10 to dates.
_MANGLED = {
    "nov 50": "11-50",
    "50 nov": "11-50",
    "10 feb": "2-10",
    "2 oct": "2-10",
    "10 jan": "1-10",
    "1 oct": "1-10",
}


def _read() -> dict[str, dict[str, str]]:
    """Read `data/vocabulary.txt`: for each kind, the canonical value of each word."""
    lists: dict[str, dict[str, str]] = {}
    for line in (
        (Path(__file__).parents[2] / "data" / "vocabulary.txt").read_text(encoding="utf-8").splitlines()
    ):
        if not line.startswith("#"):
            head, words = line.split(": ", maxsplit=1)
            kind, value = head.split(" ")
            meanings = lists.setdefault(kind, {})
            meanings[value.replace("_", " ")] = value
            meanings |= dict.fromkeys(map(fold, words.split(", ")), value)
    return lists


_LISTS = _read()
DEPARTMENTS = frozenset(_LISTS["department"].values())
"""The departments, which vendors' words stand for."""


@lru_cache(maxsize=1024)
def email_status(text: str) -> EmailStatus:
    """Return the canonical status for a vendor's word or grade.

    Raises:
        InvalidValue: the word or grade is not known.

    """
    grade = _GRADE.fullmatch(text.strip())
    key = grade[1].lower() + _GRADES[grade[2]] if grade else fold(text.partition("@")[0] or text)
    if text.lower().endswith("@invalid domain"):  # Dropcontact's `nominative@invalid domain`
        return EmailStatus.INVALID
    value = _LISTS["status"].get(key) or _LISTS["status"].get(fold(text))
    if value is None:
        raise InvalidValue("This is not a known status of an e-mail address.")
    return EmailStatus(value)


@lru_cache(maxsize=1024)
def seniority(text: str) -> str:
    """Return a seniority such as `c_suite`; an unknown one is returned in lower snake_case."""
    first = _LIST.split(text, maxsplit=1)[0]
    return _LISTS["seniority"].get(fold(first)) or snake_case(first)


@lru_cache(maxsize=1024)
def department(text: str) -> str:
    """Return the first department of a list, such as `human_resources`; an unknown one in snake_case.

    `Sales & Marketing` is a list of two known ones; `Health & Safety` is none.
    """
    first = " ".join(_LIST.split(text, maxsplit=1)[0].replace("&", " and ").split())
    first = _BRACKETS.sub("", first)
    if known := _department(first):
        return known
    parts = [_department(part) for part in _BETWEEN.split(first)]
    return parts[0] if parts[0] and all(parts) else snake_case(first)


def _department(text: str) -> str | None:
    key, known = fold(text), _LISTS["department"]
    return known.get(key) or known.get(_MASTER.sub("", key)) or known.get(key.replace(" and ", " "))


@lru_cache(maxsize=1024)
def email_type(text: str) -> str | None:
    """Return `work` or `personal` for a label; None for any other label."""
    return _LISTS["email"].get(fold(text))


@lru_cache(maxsize=1024)
def phone_type(text: str) -> str | None:
    """Return mobile, direct, work, hq, other, fax, pager or another (person's) for a label; else None."""
    return _LISTS["phone"].get(fold(text))


def departments() -> Mapping[str, str]:
    """Return the departments by their words."""
    return _LISTS["department"]


def phone_types() -> Mapping[str, str]:
    """Return the types of phone numbers by their labels."""
    return _LISTS["phone"]


@lru_cache(maxsize=4096)
def headcount(text: str) -> str:
    """Return the range (51-200, 10001+) for a number of employees or a range in any format.

    Raises:
        InvalidValue: the text contains no number.

    """
    key = _MANGLED.get(fold(text).removeprefix("0").replace(" 0", " "), text)
    numbers = [_number(found[1], (found[2] or "").lower()) for found in _NUMBER.finditer(key)][:2]
    if not numbers:
        raise InvalidValue("This is not a headcount. Use a number or a range such as 51-200.")
    middle = sum(numbers) / len(numbers)
    if len(numbers) == 1 and ("+" in key or ">" in key):
        middle += 1
    return next((HEADCOUNTS[i] for i, upper in enumerate(_UPPER) if middle <= upper), HEADCOUNTS[-1])


def _number(digits: str, unit: str) -> float:
    """Parse 1,001, 1.001 and 1 001 as one thousand and one, 1.5k as 1,500, and 250.0 as 250."""
    if unit or re.fullmatch(r"\d+\.0", digits):
        return float(re.sub(r"[' \u00a0\u202f]", "", digits).replace(",", ".")) * _TIMES[unit]
    return float(re.sub(r"\D", "", digits))
