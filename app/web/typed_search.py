"""Whom a text means that is typed into one box, for the endpoint and the pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.engine.lookups import people_search, typed_people
from app.engine.lookups.typed_people import NamedCompany
from app.web.services import services
from app.web.sign_in.auth import caller


@dataclass(frozen=True, slots=True)
class TypedPeople:
    """The people, as a search for stored people has them, and the companies that the text names."""

    people: list[dict[str, Any]]
    is_more: bool
    companies: Sequence[NamedCompany]


def search(text: str, *, limit: int) -> TypedPeople:
    """Return whom the text may mean: those of whom the workspace has something first, then the most probable.

    Suppressed people are left out; what the workspace does not own is masked.
    """
    app, workspace_id = services(), caller().workspace_id
    with app.bulkhead.db_slot(workspace_id), app.database.reading() as session:
        found = typed_people.find(session, text)
        people = people_search.by_ids(session, workspace_id, found.people, prices=app.settings.prices)
    people.sort(key=lambda person: not _is_ours(person))
    shown = app.lookups.with_parts_of_people(workspace_id, people[:limit])
    return TypedPeople(shown, found.is_more or len(people) > limit, found.companies)


def _is_ours(person: dict[str, Any]) -> bool:
    revealed = person["revealed"]
    return bool(revealed["emails"] or revealed["phones"] or person["saved"])
