from __future__ import annotations

from pathlib import Path

import pytest
from celery.utils.imports import symbol_by_name

from app.infra import beat_heartbeat
from workers.application import app
from workers.runtime.beat import Scheduler


def test_beat_uses_the_scheduler_that_records_its_heartbeat() -> None:
    assert symbol_by_name(app.conf.beat_scheduler) is Scheduler


def test_each_turn_records_a_heartbeat_and_the_next_turn_is_within_five_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded: list[str] = []
    monkeypatch.setattr(beat_heartbeat, "record", recorded.append)
    scheduler = Scheduler(app=app, schedule_filename=str(tmp_path / "schedule"))
    monkeypatch.setattr(scheduler, "apply_entry", lambda *_arguments, **_options: None)

    seconds = scheduler.tick()
    scheduler.close()

    assert len(recorded) == 1
    assert seconds <= 5
