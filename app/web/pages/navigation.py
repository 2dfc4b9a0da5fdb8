"""The navigation of the pages, by who may see them."""

from __future__ import annotations

from dataclasses import dataclass

from flask import request, url_for

from app.web.pages.access import Needs, Viewer

_STARTS = frozenset({"/", "/admin"})
"""Pages to which the others are not subordinate, although their paths begin with theirs."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A link of the navigation: the endpoint of its page, and its text."""

    endpoint: str
    label: str

    @property
    def is_current(self) -> bool:
        """Return whether the page that is shown is that of this link, or one below it."""
        own = url_for(self.endpoint)
        return request.path == own or (own not in _STARTS and request.path.startswith(f"{own}/"))


GROUPS: dict[Needs, tuple[str, tuple[Entry, ...]]] = {
    "member": (
        "Workspace",
        (
            Entry("start.start", "Search"),
            Entry("contacts_page.index", "Contacts"),
            Entry("lists_page.index", "Lists"),
            Entry("uploads_page.index", "Uploads"),
            Entry("history.index", "History"),
            Entry("crm_page.index", "CRM"),
            Entry("events_page.index", "Events"),
            Entry("usage_page.index", "Usage"),
            Entry("keys_page.index", "API keys"),
            Entry("webhooks_page.index", "Webhooks"),
            Entry("account.index", "Account"),
        ),
    ),
    "admin": (
        "Administration",
        (
            Entry("admin.index", "Overview"),
            Entry("admin_accounts.index", "Accounts"),
            Entry("admin_jobs.index", "Requests"),
            Entry("admin_limits.index", "Limits"),
            Entry("admin_ledger.index", "Ledger"),
            Entry("admin_audit_log.index", "Audit log"),
        ),
    ),
    "operator": (
        "Operation",
        (
            Entry("admin_workspaces.index", "Workspaces"),
            Entry("admin_providers.index", "Providers"),
            Entry("admin_suppressions.index", "Suppressions"),
            Entry("admin_imports.index", "Imports"),
            Entry("admin_queues.index", "Queues"),
            Entry("admin_audit_log.everything", "Audit log of all"),
        ),
    ),
}
"""The title and the links of each group, in their order."""


def groups_for(viewer: Viewer) -> list[tuple[str, tuple[Entry, ...]]]:
    """Return the groups with at least one link to the viewer's pages."""
    return [group for needs, group in GROUPS.items() if viewer.has_link_to(needs) and group[1]]
