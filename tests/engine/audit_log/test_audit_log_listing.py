from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from audit_log_support import log, record, seal

from app.domain.audit_actions import Actor, ActorKind
from app.engine.audit_log import entries, listing, sealing
from app.engine.audit_log.entries import FIELDS
from app.engine.audit_log.listing import EntryFilter
from app.infra import clock
from app.infra.database.db import Database

HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _entries(database: Database) -> None:
    record(database, "key_1")
    with database.transaction() as session:
        session.actor = Actor(ActorKind.ACCOUNT, "acc_1")
        entries.record(session, "reveal.email", object_id="con_1", workspace_id="wks_2")
        entries.record(session, "revealing", object_id="con_2", workspace_id="wks_2")
    seal(database)


def positions(database: Database, *, before: int | None = None, limit: int = 10, **chosen: Any) -> list[int]:
    with database.reading() as session:
        found = listing.page(session, EntryFilter(**chosen), before=before, limit=limit)
    return [entry.position for entry in found]


def test_entries_are_listed_newest_first_in_pages(database: Database) -> None:
    assert positions(database, limit=2) == [3, 2]
    assert positions(database, limit=2, before=2) == [1]


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({"workspace_id": "wks_2"}, [3, 2]),
        ({"action": "reveal"}, [2]),
        ({"action": "revealing"}, [3]),
        ({"action": "re%"}, []),
        ({"actor": "acc_1"}, [3, 2]),
        ({"object": "con_1"}, [2]),
        ({"since": clock.now() - HOUR}, [3, 2, 1]),
        ({"since": clock.now() + HOUR}, []),
        ({"until": clock.now() - HOUR}, []),
        ({"until": clock.now() + 1000 * HOUR}, [3, 2, 1]),
    ],
)
def test_filters_select_entries(database: Database, chosen: dict[str, Any], expected: list[int]) -> None:
    assert positions(database, **chosen) == expected


def test_the_hash_can_be_computed_again_from_a_row_of_a_file(database: Database) -> None:
    first, second, _ = (listing.row(entry) for entry in log(database))
    values: dict[str, Any] = {name: second[name] or None for name in FIELDS}
    values["occurred_at"] = datetime.fromisoformat(second["occurred_at"]).astimezone(UTC)

    computed = sealing.digest(bytes.fromhex(first["hash"]), int(second["position"]), values)

    assert computed.hex() == second["hash"]
