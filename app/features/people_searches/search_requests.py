"""The request of a search, as its job stores it, and the people that its hold pays for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from app.domain.findings import FoundCompany, Source, SourceKind
from app.domain.people_criteria import PeopleCriteria
from app.engine.contacts import companies
from app.engine.contacts.stored_rows import StoredCompany
from app.infra import clock
from app.infra.database.session import Session

MAX_LIMIT = 100
DEFAULT_LIMIT = 25
MAX_PAGE = 20
_LISTS = ("titles", "seniorities", "departments", "countries")
_NAMES = ("company_domain", "company_name")


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleSearch:
    """Which people of which company are searched, and how many are bought at most."""

    criteria: PeopleCriteria
    limit: int = DEFAULT_LIMIT
    page: int = 1

    @classmethod
    def parse(cls, request: Mapping[str, Any]) -> PeopleSearch:
        """Return the search of the request of a job; a job that was redacted has none of it."""
        criteria = PeopleCriteria(
            titles=tuple(request.get("titles", ())),
            seniorities=tuple(request.get("seniorities", ())),
            departments=tuple(request.get("departments", ())),
            countries=tuple(request.get("countries", ())),
            company_domain=request.get("company_domain"),
            company_name=request.get("company_name"),
        )
        return cls(criteria=criteria, limit=request.get("limit", DEFAULT_LIMIT), page=request.get("page", 1))

    def as_dict(self) -> dict[str, Any]:
        """Return the request of a job; equal searches have equal ones."""
        criteria = asdict(self.criteria)
        named = {name: list(criteria[name]) for name in _LISTS if criteria[name]}
        company = {name: criteria[name] for name in _NAMES if criteria[name]}
        return {**company, **named, "limit": self.limit, "page": self.page}


def affordable(limit: int, price: int, credits: int) -> int:
    """Return how many people at this price the credits pay for, at most `limit`."""
    return min(limit, credits // price) if price else limit


def company_of(session: Session, criteria: PeopleCriteria) -> StoredCompany | None:
    """Return the stored company of the criteria, if there is one."""
    source = Source("caller", SourceKind.PROVIDER, clock.now())
    named = FoundCompany(source=source, domain=criteria.company_domain, name=criteria.company_name)
    return companies.find(session, named)
