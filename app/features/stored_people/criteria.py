"""The criteria of a search for stored people, as the query of a URL has them."""

from __future__ import annotations

from typing import Any

from apiflask import Schema
from marshmallow import ValidationError, fields, post_load, validates_schema

from app.domain.errors import InvalidValue
from app.domain.normal.places.countries import country_code
from app.domain.normal.texts import vocabularies
from app.domain.normal.texts.title_words import searched_words
from app.domain.normal.texts.vocabularies import HEADCOUNTS
from app.domain.people_criteria import PeopleCriteria
from app.engine.contacts.seniorities import SENIORITIES
from app.web.schemas.criteria_fields import DEPARTMENTS, any_of, department, seniority
from app.web.schemas.fields import NonBlankString, NormalizedString, SingleLineString, website
from app.web.schemas.paging import page_size

DEFAULT_LIMIT, MAX_LIMIT = 25, 100
MAX_VALUES = 20
MAX_TITLE = 200
_LISTS = ("title", "seniority", "department", "industry", "headcount", "country")


def _title(text: str) -> str:
    if len(text) > MAX_TITLE:
        raise InvalidValue(f"Longer than {MAX_TITLE} characters.")
    if not searched_words(text):
        raise InvalidValue("Send words of a job title, such as VP Sales.")
    return text


def _any_of(field: fields.String, example: str, description: str) -> fields.List[str]:
    return any_of(field, most=MAX_VALUES, example=[example], description=description)


class CriteriaQuery(Schema):
    """Which people: those who meet every criterion, each by any of its values."""

    title = _any_of(
        NormalizedString(_title),
        "VP Sales",
        "Words of a job title: a person has all of them, in any order; ranks and departments in several"
        " languages and spellings.",
    )
    seniority = _any_of(NormalizedString(seniority), "vp", ", ".join(SENIORITIES))
    department = _any_of(NormalizedString(department), "sales", ", ".join(DEPARTMENTS))
    industry = _any_of(SingleLineString(), "Machinery", "As companies have it, in any case.")
    headcount = _any_of(
        NormalizedString(vocabularies.headcount), "51-200", f"A number or a range: {', '.join(HEADCOUNTS)}."
    )
    country = _any_of(NormalizedString(country_code), "GB", "ISO 3166-1, or the name of a country.")
    company_domain = website()

    @post_load
    def _criteria(self, data: dict[str, Any], **_options: Any) -> dict[str, Any]:
        values = {name: tuple(dict.fromkeys(data.pop(name))) for name in _LISTS}
        criteria = PeopleCriteria(
            titles=values["title"],
            seniorities=values["seniority"],
            departments=values["department"],
            industries=values["industry"],
            headcounts=values["headcount"],
            countries=values["country"],
            company_domain=data.pop("company_domain", None),
        )
        return data | {"criteria": criteria}


class PeopleQuery(CriteriaQuery):
    """The criteria, and a page of the people; or what was typed to find some."""

    q = NonBlankString(
        MAX_TITLE,
        metadata={
            "example": "Ada Acme Engines",
            "description": "A name, a part of one from 3 letters, a company, a website, or a name and a"
            " company, in any order and case. Without criteria and cursor.",
        },
    )
    limit = page_size(DEFAULT_LIMIT, MAX_LIMIT)
    cursor = fields.String(metadata={"description": "`next_cursor` of the previous page."})

    @validates_schema
    def _alone(self, data: dict[str, Any], **_options: Any) -> None:
        if "q" in data and set(data) - {"q", "limit"} - {name for name in _LISTS if not data.get(name)}:
            raise ValidationError({"q": ["Send either q, or criteria."]})
