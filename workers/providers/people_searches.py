"""What the searches for people of several vendors share: vendors' words for criteria, and the response."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.domain.findings import FoundContact
from app.domain.kinds import TraceOutcome
from app.domain.normal.places.countries import country_name
from workers.providers.base import (
    PeopleQuery,
    ProviderRequest,
    ProviderResponse,
    ProviderTimeout,
    UnexpectedResponse,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The people in one of several responses; `total` is how many the search has in all."""

    people: Sequence[FoundContact | None]
    cost: float
    total: float
    is_last: bool = False


def words(values: Iterable[str], vocabulary: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the vendor's words for these values, without those for which it has none."""
    return list(dict.fromkeys(word for value in values for word in vocabulary.get(value, ())))


def is_searchable(
    request: ProviderRequest,
    *,
    seniorities: Mapping[str, Sequence[str]],
    departments: Mapping[str, Sequence[str]],
) -> bool:
    """Return whether a company is named, and the vendor has words for any of the seniorities and departments.

    A vendor that has none would return, and charge for, people of every seniority or department.
    """
    criteria, company = request.people.criteria, request.subject
    return (
        bool(company.company_domain or company.company_name)
        and (not criteria.seniorities or bool(words(criteria.seniorities, seniorities)))
        and (not criteria.departments or bool(words(criteria.departments, departments)))
    )


def country_names(query: PeopleQuery) -> list[str]:
    """Return the English names of the countries in which the people are."""
    return [country_name(code) for code in query.criteria.countries]


def response(
    query: PeopleQuery, people: Iterable[FoundContact | None], *, has_more: bool, cost: float
) -> ProviderResponse:
    """Return the response with the named people, at most as many as the query asks for."""
    named = tuple(person for person in people if person is not None and person.full_name)[: query.limit]
    return ProviderResponse(
        outcome=TraceOutcome.HIT if named else TraceOutcome.MISS,
        people=named,
        has_more=has_more,
        cost=cost,
    )


def in_parts(
    query: PeopleQuery, requests: Iterable[Callable[[], Part | ProviderResponse]], *, skipped: int = 0
) -> ProviderResponse:
    """Make the requests of a search one after the other; return their people without the first `skipped`.

    If one fails, those before it have been paid for: their people are returned. A failure of the first is
    the response to the search.
    """
    parts: list[Part] = []
    for request in requests:
        try:
            part = request()
        except (ProviderTimeout, UnexpectedResponse):
            if not parts:
                raise
            break
        if isinstance(part, ProviderResponse):
            if not parts:
                return part
            break
        parts.append(part)
        if part.is_last:
            break
    people = [person for part in parts for person in part.people][skipped:]
    has_more = bool(parts) and parts[-1].total > query.offset + query.limit
    return response(query, people, has_more=has_more, cost=sum(part.cost for part in parts))
