"""What excludes people besides the list of their workspace: features, such as the stages of a CRM."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from app import feature_registry
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.infra.database.session import Session

if TYPE_CHECKING:  # it calls these
    from app.engine.exclusions.exclusion_checks import Excluded, Wanted

Find: TypeAlias = "Callable[[Session, Sequence[Wanted]], Sequence[Mapping[Identifier, Excluded]]]"
"""Returns for each workspace which of its identifiers it excludes, and why.

It is called for workspaces that use the source, and executes two statements at most for any number of them.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExclusionPart:
    """The source of exclusions that a feature is, with its name in `exclusions.use_source`."""

    source: str
    find: Find


@cache
def parts() -> tuple[ExclusionPart, ...]:
    """Return the sources of all features."""
    return tuple(module.EXCLUSION for module in feature_registry.parts("exclusion"))
