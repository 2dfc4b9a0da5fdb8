"""The request and the result of a search for people (docs/api/people-searches.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from marshmallow import fields, post_load, validate

from app.domain.errors import InsufficientIdentifiers
from app.domain.ids import EXAMPLES
from app.domain.messages import Message
from app.domain.normal.companies.employers import given_employer
from app.domain.normal.places.countries import country_code
from app.domain.people_criteria import PeopleCriteria
from app.features.people_searches.search_requests import DEFAULT_LIMIT, MAX_LIMIT, MAX_PAGE, PeopleSearch
from app.web import estimates
from app.web.schemas.contact_schemas import AvailableSchema, CompanySchema, ExcludedSchema, LocationSchema
from app.web.schemas.criteria_fields import any_of, department, job_title, seniority
from app.web.schemas.fields import (
    MAX_REFERENCE,
    NonBlankString,
    NormalizedString,
    ResponseSchema,
    StrictBoolean,
    StrictSchema,
    purpose,
    website,
)
from app.web.schemas.job_schemas import JobResponseSchema
from app.web.schemas.webhook_urls import webhook_url

MAX_VALUES = 10
_NO_COMPANY = Message("Provide company_domain or company_name.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchBody:
    """A validated request body."""

    search: PeopleSearch
    max_credits: int | None
    dry_run: bool
    webhook_url: str | None
    purpose: str | None
    client_reference: str | None


def _values(field: fields.String, *, example: list[str], description: str) -> fields.List[str]:
    return any_of(field, most=MAX_VALUES, example=example, description=description)


class PeopleSearchSchema(StrictSchema):
    """The company, the criteria, and what the search may cost at most."""

    company_domain = website(allow_none=True)
    company_name = NonBlankString(allow_none=True, metadata={"example": "Acme Engines"})
    titles = _values(
        NormalizedString(job_title),
        example=["head of sales"],
        description="Words of a job title; any of the titles is enough.",
    )
    seniorities = _values(
        NormalizedString(seniority), example=["director", "vp"], description="Any of them is enough."
    )
    departments = _values(
        NormalizedString(department), example=["sales"], description="Any of them is enough."
    )
    countries = _values(
        NormalizedString(country_code), example=["DE"], description="Names, or ISO 3166-1 codes."
    )
    limit = fields.Integer(
        strict=True,
        load_default=DEFAULT_LIMIT,
        validate=validate.Range(min=1, max=MAX_LIMIT),
        metadata={"description": "The number of people to find at most, and of stored people to show."},
    )
    page = fields.Integer(
        strict=True,
        load_default=1,
        validate=validate.Range(min=1, max=MAX_PAGE),
        metadata={"description": "`next_page` of the search before, for further people."},
    )
    max_credits = fields.Integer(
        strict=True,
        allow_none=True,
        validate=validate.Range(min=0),
        metadata={"description": "So many credits are held at most; with 0 no provider is asked."},
    )
    dry_run = StrictBoolean(load_default=False)
    purpose = purpose()
    webhook_url = webhook_url(
        allow_none=True,
        description="Receives `job.finished`, signed as in the Standard Webhooks specification.",
    )
    client_reference = NonBlankString(MAX_REFERENCE, allow_none=True, metadata={"example": "acme"})

    @post_load(pass_original=True)
    def _search(self, data: dict[str, Any], given: Mapping[str, Any], **_options: Any) -> SearchBody:
        employer = given_employer(given.get("company_domain"), data.get("company_name"))
        if not (employer.domain or employer.name):
            raise InsufficientIdentifiers(employer.left_out or _NO_COMPANY)
        criteria = PeopleCriteria(
            company_domain=employer.domain,
            company_name=None if employer.domain else employer.name,
            titles=_distinct(title.lower() for title in data["titles"]),
            seniorities=_distinct(data["seniorities"]),
            departments=_distinct(data["departments"]),
            countries=_distinct(data["countries"]),
        )
        return SearchBody(
            search=PeopleSearch(criteria=criteria, limit=data["limit"], page=data["page"]),
            max_credits=data.get("max_credits"),
            dry_run=data["dry_run"],
            webhook_url=data.get("webhook_url"),
            purpose=data["purpose"],
            client_reference=data.get("client_reference"),
        )


def _distinct(values: Iterable[str]) -> tuple[str, ...]:
    """Return the values in an order of their own, so that equal searches are equal."""
    return tuple(sorted(set(values)))


class SearchedPersonSchema(ResponseSchema):
    """A stored person who meets the criteria."""

    contact_id = fields.String(metadata={"example": EXAMPLES["con"]})
    full_name = fields.String(allow_none=True, metadata={"example": "Ada Lovelace"})
    title = fields.String(allow_none=True, metadata={"example": "Head of Sales"})
    seniority = fields.String(allow_none=True, metadata={"example": "head"})
    department = fields.String(allow_none=True, metadata={"example": "sales"})
    linkedin_url = fields.String(
        allow_none=True, metadata={"example": "https://www.linkedin.com/in/ada-lovelace"}
    )
    location = fields.Nested(LocationSchema)
    available = fields.List(fields.Nested(AvailableSchema))
    excluded = fields.Nested(
        ExcludedSchema, allow_none=True, metadata={"description": "Why the workspace excludes the person."}
    )


class FoundPersonSchema(SearchedPersonSchema):
    """A person whom a provider found."""

    credits_charged = fields.Integer(
        allow_none=True, metadata={"example": 1, "description": "0 for a person who was stored before."}
    )


class PeopleSearchResultSchema(ResponseSchema):
    """The company if it is stored, its stored people, and those whom the providers found."""

    company = fields.Nested(CompanySchema, allow_none=True)
    stored = fields.List(fields.Nested(SearchedPersonSchema))
    people = fields.List(fields.Nested(FoundPersonSchema))
    next_page = fields.Integer(
        allow_none=True, metadata={"example": 2, "description": "Null if no provider has more."}
    )


class PeopleSearchResponseSchema(JobResponseSchema):
    """The job, and its result as of now; the stored people are in it before the job has finished."""

    result = fields.Nested(PeopleSearchResultSchema, required=True, allow_none=True)  # type: ignore[assignment]


DRY_RUN = estimates.dry_run_schema(("credits_min", "credits_max", "people_max", "stored"))
