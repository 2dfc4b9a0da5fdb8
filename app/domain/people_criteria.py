"""Which people a search is for: those who meet every criterion; within one, any of its values is enough."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleCriteria:
    """The criteria of a search for people; an empty one excludes nobody.

    `titles` are words of a job title, as people write them. `seniorities`, `departments`, `headcounts` and
    `countries` (ISO 3166-1 alpha-2) are values of the vocabularies that contacts and companies are stored in.
    `company_domain` is a website in normal form; `company_name` counts if there is no domain.
    """

    titles: tuple[str, ...] = ()
    seniorities: tuple[str, ...] = ()
    departments: tuple[str, ...] = ()
    industries: tuple[str, ...] = ()
    headcounts: tuple[str, ...] = ()
    countries: tuple[str, ...] = ()
    company_domain: str | None = None
    company_name: str | None = None
