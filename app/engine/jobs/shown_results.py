"""Results that are made whenever a job is read, from what is stored then: the job itself has ids only.

So they follow suppressions, erasures, reveals and corrections, and are there before the job is finished.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from app import feature_registry
from app.engine.jobs.stored_jobs import StoredJob
from app.infra.database.session import Session

Show: TypeAlias = Callable[[Session, StoredJob, Mapping[str, int]], dict[str, Any] | None]
"""Returns the result of a job at the current prices, None if there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultPart:
    """The function of a feature that shows the results of its kind of jobs."""

    kind: str
    show: Show


@cache
def by_kind() -> dict[str, Show]:
    """Return the functions of all features by the kind of job."""
    parts = (module.RESULTS for module in feature_registry.parts("job_results"))
    return {part.kind: part.show for part in parts}
