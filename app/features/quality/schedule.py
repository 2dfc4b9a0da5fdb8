"""When Celery beat starts the verification of addresses that are due."""

from __future__ import annotations

REVERIFY = "upkeep.reverify"

PERIODS = {REVERIFY: 600}
