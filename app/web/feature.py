"""The part of a feature that the API and the pages load."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from apiflask import APIBlueprint
from prometheus_client.core import Metric

from app import feature_registry
from app.infra.database.session import Session
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.navigation import Entry


def no_gauges(_session: Session, _now: datetime) -> Iterable[Metric]:
    """Return no gauges."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPart:
    """The blueprints of a feature, its links in the navigation, and its gauges for `/metrics`.

    `gauges` reads them from the database, at each scrape.
    """

    api: tuple[APIBlueprint, ...] = ()
    pages: tuple[PageBlueprint, ...] = ()
    navigation: tuple[Entry, ...] = ()
    gauges: Callable[[Session, datetime], Iterable[Metric]] = no_gauges


def web_parts() -> list[WebPart]:
    """Return the parts of all features."""
    return [module.WEB for module in feature_registry.parts("web")]
