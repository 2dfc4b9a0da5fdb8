"""The part of a feature that the workers load."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from app import feature_registry
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session
from workers.execution.worker_services import WorkerServices

Step: TypeAlias = Callable[[WorkerServices], object]


class Purge(Protocol):
    """Deletes rows that have expired now."""

    def __call__(self, session: Session, /, *, now: Moment) -> object:
        """Delete them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkPart:
    """The steps of a feature in each sweep and each purge; its tasks are registered by the import.

    A step of a sweep publishes what is due. A step of a purge deletes what has expired `now`.
    """

    sweeps: tuple[Step, ...] = ()
    purges: tuple[Purge, ...] = ()


def work_parts() -> list[WorkPart]:
    """Return the parts of all features."""
    return [module.WORK for module in feature_registry.parts("work")]
