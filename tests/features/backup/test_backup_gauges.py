"""The age of the last backup in `/metrics`."""

from __future__ import annotations

from apiflask import APIFlask
from audit_log_support import seal

from app.domain.audit_actions import Outcome
from app.engine.audit_log import entries


def backup_ages(app: APIFlask) -> list[float]:
    lines = app.test_client().get("/metrics").text.splitlines()
    return [float(line.split()[1]) for line in lines if line.startswith("ext_backup_age_seconds")]


def test_metrics_show_the_age_of_the_last_backup(app: APIFlask) -> None:
    database = app.extensions["services"].database
    with database.transaction() as session:
        entries.record(session, "command.backup.create", outcome=Outcome.FAILED)
        entries.record(session, "command.backup.verify", outcome=Outcome.SUCCEEDED)
    seal(database)
    before = backup_ages(app)
    with database.transaction() as session:
        entries.record(session, "command.backup.create", outcome=Outcome.SUCCEEDED)
    seal(database)

    [age] = backup_ages(app)
    assert before == []
    assert 0 <= age < 60
