from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from app.domain.call_registers import Effect
from app.features.call_registers import loading
from app.features.call_registers.known_registers import KNOWN
from app.features.call_registers.loading import Accepted, Loaded, Source
from app.infra import clock
from app.infra.database.db import Database

Load = Callable[..., Loaded]


@pytest.fixture
def load(database: Database, tmp_path: Path) -> Load:
    """Return a function that loads a register from text, one file for each text."""

    def load(register: str, *texts: str, effect: Effect | None = None, **changes: Any) -> Loaded:
        accepted = changes.pop("accepted", Accepted())
        age = changes.pop("age_days", 1)
        files = []
        for number, text in enumerate(texts):
            file = tmp_path / f"{register}-{number}.txt"
            file.write_text(text, encoding="utf-8")
            files.append(file)
        known = KNOWN[register]
        values: dict[str, Any] = {
            "id": register,
            "name": known.name,
            "country": known.country,
            "format": known.format,
            "max_age_days": known.max_age_days,
            "date": datetime.now(UTC).replace(microsecond=0) - timedelta(days=age),
            "files": tuple(files),
        }
        source = Source(**values | changes)
        return loading.load(database, source, accepted, effect=effect, tick=lambda: None, now=clock.now())

    return load
