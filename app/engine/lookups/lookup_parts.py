"""What features add to the results of lookups, such as where else the workspace has the person."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from app import feature_registry
from app.infra.database.session import Session
from app.settings import Settings


class CurrentCompany(NamedTuple):
    """The company at which the person is stored."""

    name: str | None
    domain: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedUp:
    """A person whom a workspace looked up: what it gave, what it is shown for free, and what it owns.

    What it gave is without the values about which it is told nothing, and what it owns without the numbers of
    companies. An e-mail address or a number that it neither gave nor owns is not here, because an answer that
    depends on it would tell it. Of a suppressed person there is nothing but the workspace.
    """

    workspace_id: str
    profiles: Sequence[str] = field(default=(), repr=False)
    emails: Sequence[str] = field(default=(), repr=False)
    phones: Sequence[str] = field(default=(), repr=False)
    name: str = field(default="", repr=False)
    companies: Sequence[str] = field(default=(), repr=False)
    domains: Sequence[str] = field(default=(), repr=False)
    current_company: CurrentCompany | None = field(default=None, repr=False)


Find: TypeAlias = Callable[[Session, Sequence[LookedUp]], Sequence[dict[str, Any]]]
"""Returns the fields to add to the result of each person; the people may be of several workspaces.

It executes two statements at most, for any number of people.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupPart:
    """What a feature adds: `load` returns its function for the settings of the process."""

    load: Callable[[Settings], Find]


def load_all(settings: Settings) -> list[Find]:
    """Return the functions of all features."""
    return [module.LOOKUP.load(settings) for module in feature_registry.parts("lookup")]


def add(
    session: Session, finds: Sequence[Find], people: Sequence[LookedUp], results: Sequence[dict[str, Any]]
) -> None:
    """Add to each person's result what the features have of the person."""
    for find in finds:
        for result, fields in zip(results, find(session, people), strict=True):
            result.update(fields)
