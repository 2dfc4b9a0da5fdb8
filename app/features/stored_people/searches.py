"""Searches stored people for the caller's workspace."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from app.domain.errors import FieldError, InvalidValue, ValidationFailed
from app.domain.people_criteria import PeopleCriteria
from app.engine.lookups import people_search
from app.engine.lookups.people_search import StoredPeople
from app.web import typed_search
from app.web.services import services
from app.web.sign_in.admins import acts_as_admin
from app.web.sign_in.auth import caller


def typed(text: str, *, limit: int) -> dict[str, Any]:
    """Return the people whom a text may mean, as a page of people."""
    found = typed_search.search(text, limit=limit)
    return {
        "people": found.people,
        "total": len(found.people),
        "at_least": found.is_more,
        "estimate": None,
        "counts": {},
        "next_cursor": None,
    }


def search(criteria: PeopleCriteria, *, limit: int, cursor: str | None) -> StoredPeople:
    """Return a page of the people, with what features add to each, as to a lookup.

    Raises:
        ValidationFailed: the cursor is not one.

    """
    app, workspace_id = services(), caller().workspace_id
    try:
        with app.bulkhead.db_slot(workspace_id), app.database.reading() as session:
            as_admin = acts_as_admin(session, caller())
            found = people_search.search(
                session,
                workspace_id,
                criteria,
                limit=limit,
                cursor=cursor,
                prices=app.settings.prices,
                as_admin=as_admin,
            )
    except InvalidValue as error:
        raise ValidationFailed(errors=(FieldError("/cursor", str(error)),)) from error
    people = app.lookups.with_parts_of_people(workspace_id, found.people, as_admin=as_admin)
    return replace(found, people=people)
