"""Migrations of databases with data: existing rows are kept and remain usable."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from alembic import command
from apiflask import APIFlask
from jobs_support import LEASE, MAX_CRASHES, NOW
from local_servers import empty_database
from sqlalchemy import Connection, text
from sqlalchemy.orm import Session

from app.domain.kinds import Queue
from app.engine.jobs import claims
from app.engine.quality import due_verifications
from app.features.webhooks import attempts as webhook_attempts
from app.features.webhooks import delivery_log as webhook_admin
from app.features.webhooks.delivery_log import DeliveryState
from app.settings import Settings
from cli import database as commands
from cli.application import create_app

JOB = text(
    "INSERT INTO jobs (id, workspace_id, kind, question, request, status, trace, held, charged,"
    " already_owned, progress_done,"
    " progress_total, attempts, crashes, run_after, deadline_at, publishes, created_at)"
    " VALUES (:id, 'wks_1', :kind, :question, '{}', 'queued', '[]', 0, 0, :no,"
    " 0, 1, 0, 0, :now, :deadline, 0, :now)"
)


OWNED_ADDRESS = (
    """
    INSERT INTO workspaces (id, name, available, held, spent, created_at)
    VALUES ('wks_1', 'Acme', 0, 0, 0, :now)
    """,
    """
    INSERT INTO contacts (id, provenance, created_at, updated_at) VALUES ('con_1', '{}', :now, :now)
    """,
    """
    INSERT INTO emails (id, contact_id, email, domain, type, status, status_reasons, verified_at,
                        first_seen_at, last_seen_at, sources)
    VALUES ('eml_1', 'con_1', 'a@acme.com', 'acme.com', 'work', 'valid', '[]', :old, :old, :old, '[]')
    """,
    """
    INSERT INTO reveals (workspace_id, contact_id, field, job_id, credits, created_at)
    VALUES ('wks_1', 'con_1', 'email', 'job_1', 1, :old)
    """,
)

DELIVERED_WEBHOOK = (
    """
    INSERT INTO webhooks (id, job_id, url, attempts, delivered_at, created_at)
    VALUES ('whk_1', 'job_1', 'https://hooks.acme.example/', 1, :now, :now)
    """,
    """
    INSERT INTO webhook_attempts (id, webhook_id, attempted_at, status, latency_ms)
    VALUES ('wha_1', 'whk_1', :now, 204, 7)
    """,
)


@pytest.fixture
def old_app(settings: Settings, tmp_path: Path) -> Iterator[APIFlask]:
    """The application with an empty database at a version before the latest migrations."""
    with empty_database(tmp_path, "old_version") as url:
        app = create_app(dataclasses.replace(settings, database_url=url))
        yield app
        app.extensions["services"].database.close()


def migrate(connection: Connection, revision: str) -> None:
    command.upgrade(commands._config(connection), revision)  # noqa: SLF001 -- the upgrade command uses it
    connection.commit()


def test_the_migration_puts_queued_jobs_into_the_queue_of_their_kind(
    old_app: APIFlask,
) -> None:
    engine = old_app.extensions["services"].database.engine
    with engine.connect() as connection:
        migrate(connection, "0008")
        connection.execute(
            text(
                "INSERT INTO workspaces (id, name, available, held, spent, created_at)"
                " VALUES ('wks_1', 'Acme', 0, 0, 0, :now)"
            ),
            {"now": NOW.isoformat(" ")},
        )
        for kind in ("reveal.email", "company_by_hash", "enrichment_request"):
            times = {"now": NOW.isoformat(" "), "deadline": (NOW + timedelta(hours=1)).isoformat(" ")}
            values = {"id": kind, "kind": kind, "question": kind.encode(), "no": False, **times}
            connection.execute(JOB, values)
        connection.commit()

        migrate(connection, "head")

    with Session(engine) as session:
        claimed = [
            claims.claim(session, kind, lease=LEASE, max_crashes=MAX_CRASHES, now=NOW + LEASE)
            for kind in ("reveal.email", "company_by_hash", "enrichment_request")
        ]
    assert [claim and claim.queue for claim in claimed] == [
        Queue.INTERACTIVE,
        Queue.INTERACTIVE,
        Queue.ENRICHMENT,
    ]


def test_addresses_that_were_owned_before_the_migration_are_verified_again(old_app: APIFlask) -> None:
    engine = old_app.extensions["services"].database.engine
    times = {"now": NOW.isoformat(" "), "old": (NOW - timedelta(days=400)).isoformat(" ")}
    with engine.connect() as connection:
        migrate(connection, "0013")
        for statement in OWNED_ADDRESS:
            names = {name: time for name, time in times.items() if f":{name}" in statement}
            connection.execute(text(statement), names)
        connection.commit()

        migrate(connection, "head")

    with old_app.extensions["services"].database.transaction() as session:
        due = due_verifications.claim(session, default_max_age=timedelta(days=180), now=NOW, limit=10)
    assert [address.email for address in due] == ["a@acme.com"]


def test_webhooks_keep_their_attempts_and_get_the_workspace_of_their_job(old_app: APIFlask) -> None:
    engine = old_app.extensions["services"].database.engine
    times = {"now": NOW.isoformat(" "), "deadline": (NOW + timedelta(hours=1)).isoformat(" ")}
    job = {"id": "job_1", "kind": "enrichment_request", "question": b"1", "no": False, **times}
    with engine.connect() as connection:
        migrate(connection, "0019")
        connection.execute(text(OWNED_ADDRESS[0]), {"now": times["now"]})
        connection.execute(JOB, job)
        for statement in DELIVERED_WEBHOOK:
            connection.execute(text(statement), {"now": times["now"]})
        connection.commit()

        migrate(connection, "head")

    with old_app.extensions["services"].database.reading() as session:
        status = webhook_admin.get_of_workspace(session, "wks_1", "whk_1")
        attempts = webhook_attempts.list_for_webhook(session, "whk_1")
    assert (status.webhook.job_id, status.state) == ("job_1", DeliveryState.DELIVERED)
    assert [(attempt.id, attempt.status) for attempt in attempts] == [("wha_1", 204)]
