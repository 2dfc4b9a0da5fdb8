"""Plans of the searches of own records, whose tables grow before PostgreSQL analyzes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from jobs_support import a_workspace
from local_servers import POSTGRES
from sqlalchemy import text

from app.engine.lookups.lookup_parts import LookedUp
from app.features.address_books import people
from app.features.crm.index import index_matches
from app.infra.database.session import Session

PREPARED = text("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE :pattern")


@pytest.mark.skipif(POSTGRES is None, reason="reads what PostgreSQL has prepared")
@pytest.mark.parametrize(
    ("find", "keys"),
    [(index_matches.find, "crm_index_keys"), (people.find, "address_book_keys")],
    ids=["crm", "address book"],
)
def test_a_search_keeps_no_plan_for_the_size_that_its_tables_had(
    session: Session, find: Callable[..., list[list[Any]]], keys: str
) -> None:
    person = LookedUp(workspace_id=a_workspace(session), emails=("ada@acme.com",))

    found = [find(session, [person]) for _ in range(20)]

    assert found == [[[]]] * 20
    assert session.scalar(PREPARED, {"pattern": f"%{keys}%"}) == 0
