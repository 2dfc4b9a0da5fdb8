"""Entry point of workers that wait for a stub vendor as long as a test may hold it on a busy machine."""

from __future__ import annotations

from workers import main
from workers.resolve import provider_call

app = main.app
provider_call.SECONDS_PER_PROVIDER = 40.0
