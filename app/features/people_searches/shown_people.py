"""People as a search shows them: masked, as of now, to the workspace that reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.domain.people_criteria import PeopleCriteria
from app.engine.lookups import people_search
from app.infra.database.session import Session

SHOWN = (
    *("contact_id", "full_name", "title", "seniority", "department", "linkedin_url", "location"),
    *("available", "excluded"),
)


def stored(
    session: Session, workspace_id: str, criteria: PeopleCriteria, *, limit: int, prices: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Return the stored people of the company who meet the criteria, most senior first; it is free."""
    return _shown(people_search.search(session, workspace_id, criteria, limit=limit, prices=prices).people)


def by_ids(
    session: Session, workspace_id: str, contact_ids: Sequence[str], *, prices: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Return the people with these ids, in this order, without those who are suppressed or deleted now."""
    return _shown(people_search.by_ids(session, workspace_id, contact_ids, prices=prices))


def _shown(people: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{name: person[name] for name in SHOWN} for person in people]
