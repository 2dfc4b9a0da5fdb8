"""The navigation of the pages, by who may see them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from flask import Flask, current_app, request, url_for

from app.domain.permissions import Permission
from app.web.pages.access import Needs, Viewer

_STARTS = frozenset({"/", "/admin"})
"""Pages to which the others are not subordinate, although their paths begin with theirs."""


Place = Literal["main", "settings", "administration", "operation"]
"""A group of the navigation: daily work, which is always shown, or a folded group."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A link of the navigation: the endpoint of its page, its text, and its position in its group.

    A page of daily work has an `icon` of `static/icons.svg`, and its link is always shown. The links of other
    pages of members are folded under settings.
    Whoever lacks the `permission` does not see it.
    """

    endpoint: str
    label: str
    position: int
    needs: Needs = "member"
    permission: Permission | None = None
    icon: str = ""

    @property
    def group(self) -> Place:
        """Return the group of this link."""
        if self.needs == "member":
            return "main" if self.icon else "settings"
        return "administration" if self.needs == "admin" else "operation"

    @property
    def is_current(self) -> bool:
        """Return whether the page that is shown is the target of this link, or a page below it."""
        own = url_for(self.endpoint)
        return request.path == own or (own not in _STARTS and request.path.startswith(f"{own}/"))


@dataclass(frozen=True, slots=True)
class Group:
    """The links of a group, and the title and icon under which they are folded; the group `main` has none."""

    place: Place
    title: str
    icon: str
    entries: tuple[Entry, ...]

    @property
    def is_current(self) -> bool:
        """Return whether the page that is shown is one of this group."""
        return any(entry.is_current for entry in self.entries)


GROUPS = (
    Group(
        "main",
        "",
        "home",
        (
            Entry("start.start", "Home", 10, icon="home"),
            Entry("search.index", "Search", 20, icon="search"),
            Entry("contacts_page.index", "Contacts", 50, icon="contacts"),
            Entry("history.index", "History", 80, icon="history"),
        ),
    ),
    Group(
        "settings",
        "Settings",
        "settings",
        (
            Entry("account.index", "Account", 10),
            Entry("keys_page.index", "API keys", 60),
            Entry("events_page.index", "Events", 80),
        ),
    ),
    Group(
        "administration",
        "Administration",
        "admin",
        (
            Entry("admin.index", "Overview", 10, "admin"),
            Entry("admin_accounts.index", "Accounts", 20, "admin"),
            Entry("admin_jobs.index", "Requests", 30, "admin"),
            Entry("admin_ledger.index", "Ledger", 50, "admin"),
            Entry("admin_audit_log.index", "Audit log", 60, "admin"),
        ),
    ),
    Group(
        "operation",
        "Operation",
        "operation",
        (
            Entry("admin_workspaces.index", "Workspaces", 10, "operator"),
            Entry("admin_queues.index", "Queues", 50, "operator"),
            Entry("admin_audit_log.everything", "Audit log of all", 60, "operator"),
        ),
    ),
)
"""The groups, without the links of features."""
_EXTENSION = "navigation"


def register(app: Flask, entries: Iterable[Entry]) -> None:
    """Add the links of features, each at its position, to the navigation of the application."""
    added = tuple(entries)
    app.extensions[_EXTENSION] = tuple(
        replace(group, entries=tuple(sorted((*group.entries, *_of(group.place, added)), key=_position)))
        for group in GROUPS
    )


def groups_for(viewer: Viewer) -> list[Group]:
    """Return the groups with at least one link to the viewer's pages, and only those links."""
    groups: tuple[Group, ...] = current_app.extensions[_EXTENSION]
    seen = (
        replace(group, entries=tuple(entry for entry in group.entries if _is_for(viewer, entry)))
        for group in groups
    )
    return [group for group in seen if group.entries]


def _is_for(viewer: Viewer, entry: Entry) -> bool:
    is_allowed = entry.permission is None or viewer.may(entry.permission)
    return is_allowed and viewer.has_link_to(entry.needs)


def _of(place: Place, entries: Iterable[Entry]) -> Iterator[Entry]:
    return (entry for entry in entries if entry.group == place)


def _position(entry: Entry) -> int:
    return entry.position
