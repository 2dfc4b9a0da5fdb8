from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from celery.utils.imports import symbol_by_name

from app.infra.broker import beat_heartbeat
from workers.application import app
from workers.runtime.beat import Scheduler


def test_beat_uses_the_scheduler_that_records_its_heartbeat() -> None:
    assert symbol_by_name(app.conf.beat_scheduler) is Scheduler


def test_each_turn_records_a_heartbeat_and_the_next_turn_is_within_ten_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded: list[str] = []
    monkeypatch.setattr(beat_heartbeat, "record", recorded.append)
    scheduler = Scheduler(app=app, schedule_filename=str(tmp_path / "schedule"))
    monkeypatch.setattr(scheduler, "apply_entry", lambda *_arguments, **_options: None)

    seconds = scheduler.tick()
    scheduler.close()

    assert len(recorded) == 1
    assert seconds <= 10


def test_tasks_run_again_after_a_clock_that_was_a_day_ahead_is_corrected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beat_heartbeat, "record", lambda _url: None)
    monkeypatch.setattr(Scheduler, "producer", None)  # it would connect to the broker
    now = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
    sent: set[str] = set()
    scheduler = Scheduler(app=app, schedule_filename=str(tmp_path / "schedule"))
    monkeypatch.setattr(scheduler, "apply_entry", lambda entry, **_options: sent.add(entry.name))

    for hours in (0, 24):
        monkeypatch.setattr(app, "now", partial(datetime.fromtimestamp, now.timestamp() + 3600 * hours, UTC))
        run_due(scheduler)
    sent.clear()
    for hours in (0, 1):
        monkeypatch.setattr(app, "now", partial(datetime.fromtimestamp, now.timestamp() + 3600 * hours, UTC))
        run_due(scheduler)
    scheduler.close()

    assert sent >= set(app.conf.beat_schedule)


def run_due(scheduler: Scheduler) -> None:
    for _turn in range(3 * len(app.conf.beat_schedule)):
        scheduler.tick()
