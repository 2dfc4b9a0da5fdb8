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
from app.web.pages.start_parts import Card, Start, Step


class EventText(NamedTuple):
    """An event for a reader: a sentence, and what explains it."""

    text: str
    hint: str = ""


class SignInOption(NamedTuple):
    """A way to sign in besides a password: its name, and the path of the page at which a browser starts.

    `extension_ids` are the Chrome extensions that may use it.
    """

    name: str
    path: str
    extension_ids: tuple[str, ...]


DescribeEvent: TypeAlias = Callable[[Mapping[str, Any]], EventText]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPart:
    """The blueprints of a feature, its links in the navigation, its events as texts, and its gauges.

    `event_texts` has a function for each type of event that the feature records, which is given its data.
    `gauges` are read from the database at each scrape of `/metrics`. `hash_lookup` returns fields of
    `hash_lookup` in a session, and `session` other fields of it. `sign_in_option` is None if the settings do
    not have it. `owns_domain` returns whether a workspace has an e-mail domain, so that its admins may create
    accounts there; None if the feature does not know.
    `first_steps` and `start_cards` are shown on the start page.
    """

    api: tuple[APIBlueprint, ...] = ()
    pages: tuple[PageBlueprint, ...] = ()
    navigation: tuple[Entry, ...] = ()
    event_texts: Mapping[EventType, DescribeEvent] = field(default_factory=dict)
    gauges: Callable[[Session, datetime], Iterable[Metric]] = lambda *_: ()
    hash_lookup: Callable[[Settings], Mapping[str, str]] = lambda _: {}
    session: Callable[[Settings], Mapping[str, str]] = lambda _: {}
    sign_in_option: Callable[[Settings], SignInOption | None] = lambda _: None
    owns_domain: Callable[[Session, str, str], bool | None] = lambda *_: None
    first_steps: Callable[[Start], Iterable[Step]] = lambda _: ()
    start_cards: Callable[[Start], Iterable[Card]] = lambda _: ()


def sign_in_option(settings: Settings) -> SignInOption | None:
    """Return the way to sign in that a feature adds to passwords, if one does."""
    options = (part.sign_in_option(settings) for part in web_parts())
    return next(filter(None, options), None)


def owns_domain(session: Session, workspace_id: str, domain: str) -> bool | None:
    """Return whether the workspace has the e-mail domain, None if no feature knows."""
    answers = (part.owns_domain(session, workspace_id, domain) for part in web_parts())
    return next((answer for answer in answers if answer is not None), None)


def web_parts() -> list[WebPart]:
    """Return the parts of all features."""
    return [module.WEB for module in feature_registry.parts("web")]
