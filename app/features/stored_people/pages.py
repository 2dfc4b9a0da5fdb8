"""/people: search stored people; the criteria are the query of the URL, which contains no name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from flask import Response, request
from marshmallow import ValidationError

from app.domain.errors import ValidationFailed
from app.domain.normal.texts.vocabularies import HEADCOUNTS
from app.engine.contacts.seniorities import SENIORITIES
from app.engine.lookups.people_search import StoredPeople
from app.features.stored_people import searches
from app.features.stored_people.criteria import PeopleQuery
from app.web.errors import field_errors
from app.web.pages.access import signed_in
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.rendering import page
from app.web.rate_limits import Policy, limited
from app.web.schemas.criteria_fields import DEPARTMENTS

blueprint = PageBlueprint("people_page", __name__, template_folder="templates")

TEXTS = ("title", "company_domain", "industry", "country")
"""The criteria that are typed; the other ones, and what was found of these, are chosen from a list."""
LISTS: dict[str, Sequence[str]] = {
    "seniority": SENIORITIES,
    "department": DEPARTMENTS,
    "country": (),
    "industry": (),
    "headcount": HEADCOUNTS,
}


@blueprint.get("/people")
@signed_in
@limited(Policy.LOOKUP)
def index() -> Response:
    """Show a page of the people who meet the criteria, and the criteria with the numbers of people."""
    given = _given()
    try:
        query = PeopleQuery().load(given)
        found = searches.search(query["criteria"], limit=query["limit"], cursor=query.get("cursor"))
    except ValidationError as error:
        errors = {one.pointer.split("/")[1]: one.detail for one in field_errors(error.messages)}
        return _page(given, None, 422, errors=errors)
    except ValidationFailed as problem:
        return _page(given, None, 422, errors={"": problem.errors[0].detail})
    return _page(given, found)


def _given() -> dict[str, Any]:
    """Return the criteria and the cursor in the URL, without empty texts."""
    names = dict.fromkeys((*TEXTS, *LISTS, "cursor"))
    texts = {
        name: [text for given in request.args.getlist(name) if (text := given.replace("\0", "").strip())]
        for name in names
    }
    single = {"company_domain", "cursor"}
    return {name: given[0] if name in single else given for name, given in texts.items() if given}


def _page(
    given: Mapping[str, Any],
    found: StoredPeople | None,
    status: int = 200,
    *,
    errors: Mapping[str, str] | None = None,
) -> Response:
    criteria = {name: value for name, value in given.items() if name != "cursor"}
    first_page = f"/people?{urlencode(criteria, doseq=True)}"
    counts = found.counts if found else {}
    return page(
        "stored_people.html",
        status,
        given=given,
        found=found,
        errors=errors or {},
        choices={
            name: _choices(given.get(name, ()), known, counts.get(name, {})) for name, known in LISTS.items()
        },
        is_filtered=bool(criteria),
        is_first_page="cursor" not in given,
        first_page=first_page,
        next_page=f"{first_page}&cursor={found.next_cursor}" if found and found.next_cursor else None,
    )


def _choices(
    chosen: Sequence[str], known: Sequence[str], counts: Mapping[str, int]
) -> list[tuple[str, int | None, bool]]:
    """Return the values that can be chosen, each with its number of people and whether it is chosen."""
    values = dict.fromkeys((*known, *chosen, *counts))
    return [(value, counts.get(value), value in chosen) for value in values]
