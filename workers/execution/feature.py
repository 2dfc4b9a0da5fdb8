"""The part of a feature that the workers load."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from app import feature_registry
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session
from app.settings import Settings
from workers.execution.worker_services import WorkerServices

Step: TypeAlias = Callable[[WorkerServices], object]
Purge: TypeAlias = Callable[[Session], object]
"""Deletes what has expired."""
BatchPurge: TypeAlias = Callable[[Session], int]
"""Deletes some of what has expired, and returns how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkPart:
    """The steps of a feature in each sweep and each purge; its tasks are registered by the import.

    A step of a sweep finds what is due; it is published after all of them. `purges` returns the steps of a
    purge at a moment, and `purges_in_batches` those that are repeated, each time in a transaction of its own,
    until nothing is left.
    """

    sweeps: tuple[Step, ...] = ()
    purges: Callable[[Settings, Moment], tuple[Purge, ...]] = lambda *_: ()
    purges_in_batches: Callable[[Settings, Moment], tuple[BatchPurge, ...]] = lambda *_: ()


def work_parts() -> list[WorkPart]:
    """Return the parts of all features."""
    return [module.WORK for module in feature_registry.parts("work")]
