"""The part of a feature that the API and the pages load."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from apiflask import APIBlueprint
from prometheus_client.core import Metric

from app import feature_registry
from app.domain.event_types import EventType
from app.infra.database.session import Session
from app.settings import Settings
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.navigation import Entry


class EventText(NamedTuple):
    """An event for a reader: a sentence, and what explains it."""

    text: str
    hint: str = ""


DescribeEvent: TypeAlias = Callable[[Mapping[str, Any]], EventText]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPart:
    """The blueprints of a feature, its links in the navigation, its events as texts, and its gauges.

    `event_texts` has a function for each type of event that the feature records, which is given its data.
    `gauges` are read from the database at each scrape of `/metrics`. `hash_lookup` returns fields of
    `hash_lookup` in a session.
    """

    api: tuple[APIBlueprint, ...] = ()
    pages: tuple[PageBlueprint, ...] = ()
    navigation: tuple[Entry, ...] = ()
    event_texts: Mapping[EventType, DescribeEvent] = field(default_factory=dict)
    gauges: Callable[[Session, datetime], Iterable[Metric]] = lambda *_: ()
    hash_lookup: Callable[[Settings], Mapping[str, str]] = lambda _: {}


def web_parts() -> list[WebPart]:
    """Return the parts of all features."""
    return [module.WEB for module in feature_registry.parts("web")]
