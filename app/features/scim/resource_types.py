"""A type of resource: what its endpoints do, and how it describes itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from app.features.scim.filters import Filter
from app.features.scim.patches import Shape
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session

Values = TypeVar("Values")
Find: TypeAlias = Callable[[Session, str, Filter | None], list[dict[str, Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceType(Generic[Values]):
    """A name, a schema, and the functions of the endpoints; each takes the id of the workspace.

    `parse` returns the values of a body, `find` the resources that a filter selects, `get` one by its id, and
    `create` the id of a new one.
    """

    name: str
    urn: str
    attributes: list[dict[str, Any]]
    shape: Shape
    parse: Callable[[Mapping[str, Any]], Values]
    find: Find
    get: Callable[[Session, str, str], dict[str, Any]]
    create: Callable[[Session, str, Values, Moment], str]
    replace: Callable[[Session, str, str, Values, Moment], None]
    remove: Callable[[Session, str, str, Moment], None]
