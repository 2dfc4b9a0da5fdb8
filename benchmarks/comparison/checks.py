"""The checks of a system's database after its requests: charged once, and every balance adds up.

The product and the alternatives have the same columns, so the same SQL checks all of them.
"""

from __future__ import annotations

import time

from benchmarks.comparison.cells import Session
from benchmarks.comparison.servers import Servers

SETTLING_SECONDS = 60.0
OPEN_JOBS = "SELECT count(*) FROM jobs WHERE status IN ('queued', 'running')"
CHARGED = "SELECT coalesce(sum(charged), 0) FROM jobs"
MUST_BE_ZERO = {
    "contacts charged more than once": """
        SELECT count(*) FROM (
            SELECT 1 FROM jobs WHERE charged > 0 AND result::jsonb ->> 'contact_id' IS NOT NULL
            GROUP BY workspace_id, result::jsonb ->> 'contact_id' HAVING count(*) > 1
        ) repeated
    """,
    "workspaces whose balance is not the sum of their ledger": """
        SELECT count(*) FROM workspaces w
        JOIN (
            SELECT workspace_id, sum(available) AS available, sum(held) AS held, sum(spent) AS spent
            FROM ledger GROUP BY workspace_id
        ) l ON l.workspace_id = w.id
        WHERE (w.available, w.held, w.spent) <> (l.available, l.held, l.spent)
    """,
    "workspaces with credits still held": "SELECT count(*) FROM workspaces WHERE held <> 0",
    "workspaces whose spent credits are not the charges of their jobs": """
        SELECT count(*) FROM workspaces w WHERE w.spent <> (
            SELECT coalesce(sum(charged), 0) FROM jobs j WHERE j.workspace_id = w.id
        )
    """,
}


def violations(servers: Servers, session: Session) -> list[str]:
    """Return what is wrong in the database of a system, once its open jobs have finished."""
    charged, found = charged_and_wrong(servers, session.system.name)
    if not session.answered_reveals <= charged <= session.next_reveal:
        found.append(
            f"{charged} reveals were charged, of {session.answered_reveals} that were answered"
            f" and {session.next_reveal} that were requested"
        )
    return [f"{session.system.title}: {text}" for text in found]


def charged_and_wrong(servers: Servers, database: str) -> tuple[int, list[str]]:
    """Return the credits charged, and what contradicts itself, once the open jobs have finished."""
    with servers.connect(database) as connection:

        def count(query: str) -> int:
            row = connection.execute(query).fetchone()
            return int(str(row[0])) if row else 0

        deadline = time.monotonic() + SETTLING_SECONDS
        while (remaining := count(OPEN_JOBS)) and time.monotonic() < deadline:
            time.sleep(0.2)
        found = [f"{remaining} jobs are unfinished"] if remaining else []
        found += [f"{wrong} {what}" for what, query in MUST_BE_ZERO.items() if (wrong := count(query))]
        return count(CHARGED), found
