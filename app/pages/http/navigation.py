"""The navigation of the pages, by who may see them."""

from __future__ import annotations

from dataclasses import dataclass

from flask import request

from app.pages.http.access import Needs, Viewer


@dataclass(frozen=True, slots=True)
class Entry:
    """A link of the navigation: the endpoint of its page, and its text."""

    endpoint: str
    label: str

    @property
    def is_current(self) -> bool:
        """Return whether the page that is shown belongs to this link."""
        return request.blueprint == self.endpoint.partition(".")[0]


GROUPS: dict[Needs, tuple[str, tuple[Entry, ...]]] = {
    "member": ("Workspace", (Entry("start.start", "Search"),)),
    "admin": ("Administration", ()),
    "operator": ("Operation", ()),
}
"""The title and the links of each group, in their order."""


def groups_for(viewer: Viewer) -> list[tuple[str, tuple[Entry, ...]]]:
    """Return the groups with at least one link that the viewer may see."""
    return [group for needs, group in GROUPS.items() if viewer.may_see(needs) and group[1]]
