"""The index by which PostgreSQL finds people, by terms of their title and of other fields.

Country, seniority and department are a term each and in all combinations, and the company is one: a search
for some of them reads the entry of one term instead of two that many people have.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

_FIELDS = {"c": "country", "s": "seniority", "d": "department"}
_MAX_VALUE = 40  # characters
_COMBINATIONS = ["".join(names) for count in (1, 2, 3) for names in combinations(_FIELDS, count)]


def term_of(values: Mapping[str, str]) -> str:  # only on PostgreSQL
    """Return the term of values by the letters of their fields, c, s and d in this order: `cs:GB/vp`."""
    return f"{''.join(values)}:{'/'.join(value[:_MAX_VALUE] for value in values.values())}"


def term_of_company(company_id: str) -> str:  # only on PostgreSQL
    """Return the term of the people at a company."""
    return f"k:{company_id}"


def _sql(letters: str) -> str:
    """Return the SQL of the term of these fields."""
    values = (f"\"left\"(coalesce({_FIELDS[letter]}, ''), {_MAX_VALUE})" for letter in letters)
    return f"'{letters}:' || " + " || '/' || ".join(values)


TERMS_SQL = (
    "array_to_tsvector(string_to_array(btrim(coalesce(title_terms, '')), ' ')"
    f" || ARRAY['k:' || coalesce(company_id, ''), {', '.join(map(_sql, _COMBINATIONS))}])"
)
"""The terms of a contact; PostgreSQL uses the index only for the expression in its definition."""
