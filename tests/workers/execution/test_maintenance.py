"""Registration of maintenance tasks: their failures end nothing else, and their text is not logged."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from app import feature_registry
from app.domain import kinds
from app.domain.errors import Unavailable
from app.infra.broker import celery_app
from workers import main
from workers.execution import worker_services

NAMED = {value for value in vars(kinds).values() if isinstance(value, str) and value.startswith("upkeep.")}
PERIODIC = {name for module in feature_registry.parts("schedule") for name in module.PERIODS}
TASKS = sorted(NAMED | PERIODIC)


def test_every_task_of_maintenance_is_registered() -> None:
    names = {name for name in main.app.tasks if name.startswith("upkeep.")}

    assert names == set(TASKS)


@pytest.mark.parametrize(
    ("error", "event"),
    [
        (Unavailable(), "database unavailable, maintenance step postponed"),
        (ValueError("ada@acme.example"), "maintenance step failed"),
    ],
)
@pytest.mark.parametrize("name", TASKS)
def test_no_error_of_a_task_reaches_celery_which_would_log_its_text(
    monkeypatch: pytest.MonkeyPatch, name: str, error: Exception, event: str
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr(worker_services, "current", fail)

    with capture_logs() as logs:
        celery_app.celery.tasks[name]()

    assert [(line["event"], line["step"]) for line in logs] == [(event, name)]
