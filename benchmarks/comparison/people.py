"""The people that every system stores, and the addresses that it must return."""

from __future__ import annotations

from dataclasses import dataclass

PER_COMPANY = 50
_LETTERS = 26


@dataclass(frozen=True, slots=True)
class Person:
    """A stored contact with one valid address."""

    number: int
    name: str
    title: str
    profile: str
    address: str
    company: str
    domain: str


def person(number: int) -> Person:
    """Return the person with this number; no two share a name, a profile or an address."""
    company = number // PER_COMPANY
    domain = f"company{company}.example"
    return Person(
        number,
        name=f"{_word(number)} {_word(number * 7 + 11)}son",
        title=f"Manager {number % 9 + 1}",
        profile=f"https://www.linkedin.com/in/bench-{number:07d}",
        address=f"person{number}@{domain}",
        company=f"Company {_word(company)}",
        domain=domain,
    )


def _word(number: int) -> str:
    """Return a name of five letters for each number below 11 million."""
    digits = [(number // _LETTERS**place) % _LETTERS for place in range(5)]
    return "".join(chr(ord("a") + digit) for digit in digits).title()
