"""The part of a feature that the workers load."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol, TypeAlias

from app import feature_registry
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session
from app.settings import Settings
from workers.execution.worker_services import WorkerServices

Step: TypeAlias = Callable[[WorkerServices], object]


class Delete(Protocol):
    """Deletes rows that are older than a time."""

    def __call__(self, session: Session, /, *, before: Moment) -> object:
        """Delete them."""


@dataclass(frozen=True, slots=True)
class Purge:
    """How expired rows are deleted, and for how long they are kept."""

    delete: Delete
    kept_for: Callable[[Settings], timedelta]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkPart:
    """The steps of a feature in each sweep and each purge; its tasks are registered by the import.

    A step of a sweep publishes what is due.
    """

    sweeps: tuple[Step, ...] = ()
    purges: tuple[Purge, ...] = ()


def work_parts() -> list[WorkPart]:
    """Return the parts of all features."""
    return [module.WORK for module in feature_registry.parts("work")]
