"""What the start page shows of a subject: first steps until they are done, and cards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from app.domain.messages import Message
from app.engine import first_steps
from app.engine.first_steps import Done
from app.infra.database.session import Session
from app.web.pages.access import Viewer


@dataclass(frozen=True, slots=True)
class Step:
    """Something that a new user does once: its title, why, the page where it is done, and whether it is."""

    position: int
    title: str
    text: str
    path: str
    is_done: bool


@dataclass(frozen=True, slots=True)
class Card:
    """A card: its template, which gets `values`, by position. One that `is_wide` is left of the others."""

    position: int
    template: str
    values: Mapping[str, Any] = field(default_factory=dict)
    is_wide: bool = False


class Start(NamedTuple):
    """For whom the start page is read, in which session, and what has been done in the workspace."""

    session: Session
    viewer: Viewer
    done: Done


def read(session: Session, viewer: Viewer) -> Start:
    """Return what the functions of features are given."""
    return Start(session, viewer, first_steps.done(session, viewer.workspace_id, viewer.account_id))


def own_steps(start: Start) -> Iterable[Step]:
    """Return the steps that concern no feature, as far as the viewer can do them."""
    done = start.done
    yield Step(
        10,
        Message("Install the extension"),
        Message(
            "It shows who is behind a page, and finds their address and number. "
            "Sign in there with this account."
        ),
        "/manual/using-the-extension.html",
        done.has_extension,
    )
    yield Step(
        40,
        Message("Reveal the first address"),
        Message("Search for a person. A credit is charged only if the address is found, and only once."),
        "/search",
        done.has_revealed,
    )
    if start.viewer.acts_as_admin:
        yield Step(
            50,
            Message("Invite your colleagues"),
            Message("Each has an account of their own; what one reveals is free for all."),
            "/admin/accounts",
            done.has_colleagues,
        )
