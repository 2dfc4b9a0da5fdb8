"""The navigation of the pages, by who may see them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from flask import Flask, current_app, request, url_for

from app.domain.permissions import Permission
from app.web.pages.access import Needs, Viewer

_STARTS = frozenset({"/", "/admin"})
"""Pages to which the others are not subordinate, although their paths begin with theirs."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A link of the navigation: the endpoint of its page, its text, and its position in its group.

    Whoever lacks the `permission` does not see it.
    """

    endpoint: str
    label: str
    position: int
    needs: Needs = "member"
    permission: Permission | None = None

    @property
    def is_current(self) -> bool:
        """Return whether the page that is shown is the target of this link, or a page below it."""
        own = url_for(self.endpoint)
        return request.path == own or (own not in _STARTS and request.path.startswith(f"{own}/"))


GROUPS: dict[Needs, tuple[str, tuple[Entry, ...]]] = {
    "member": (
        "Workspace",
        (
            Entry("start.start", "Search", position=10),
            Entry("contacts_page.index", "Contacts", position=20),
            Entry("history.index", "History", position=50),
            Entry("events_page.index", "Events", position=70),
            Entry("keys_page.index", "API keys", position=90),
            Entry("account.index", "Account", position=110),
        ),
    ),
    "admin": (
        "Administration",
        (
            Entry("admin.index", "Overview", position=10),
            Entry("admin_accounts.index", "Accounts", position=20),
            Entry("admin_jobs.index", "Requests", position=30),
            Entry("admin_ledger.index", "Ledger", position=50),
            Entry("admin_audit_log.index", "Audit log", position=60),
        ),
    ),
    "operator": (
        "Operation",
        (
            Entry("admin_workspaces.index", "Workspaces", position=10),
            Entry("admin_queues.index", "Queues", position=50),
            Entry("admin_audit_log.everything", "Audit log of all", position=60),
        ),
    ),
}
"""The title and the links of each group, without the links of features."""
_EXTENSION = "navigation"


def register(app: Flask, entries: Iterable[Entry]) -> None:
    """Add the links of features, each at its position, to the navigation of the application."""
    added = list(entries)
    app.extensions[_EXTENSION] = {
        needs: (title, sorted((*own, *(entry for entry in added if entry.needs == needs)), key=_position))
        for needs, (title, own) in GROUPS.items()
    }


def groups_for(viewer: Viewer) -> list[tuple[str, list[Entry]]]:
    """Return the groups with at least one link to the viewer's pages."""
    groups: dict[Needs, tuple[str, list[Entry]]] = current_app.extensions[_EXTENSION]
    shown = [
        (title, [entry for entry in entries if entry.permission is None or viewer.may(entry.permission)])
        for needs, (title, entries) in groups.items()
        if viewer.has_link_to(needs)
    ]
    return [group for group in shown if group[1]]


def _position(entry: Entry) -> int:
    return entry.position
