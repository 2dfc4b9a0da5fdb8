"""What a seat of a workspace may do: an admin may all, a member what the workspace or its account allows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from app.domain.messages import Message


class Permission(StrEnum):
    """Something that an account, or one of its API keys, may or may not do."""

    EXPORT = "export"
    REVEAL_PHONES = "reveal_phones"
    PUSH = "push"
    SEE_COSTS = "see_costs"
    START_UPLOADS = "start_uploads"


ALL = frozenset(Permission)
ACTS = {
    Permission.EXPORT: "download files of contacts and results",
    Permission.REVEAL_PHONES: "reveal phone numbers",
    Permission.PUSH: "push contacts to a CRM",
    Permission.SEE_COSTS: "see what the workspace spends",
    Permission.START_UPLOADS: "upload lists and start them",
}
"""What each permission is for, after "may"."""
MAY = {
    Permission.EXPORT: Message("May download files of contacts and results"),
    Permission.REVEAL_PHONES: Message("May reveal phone numbers"),
    Permission.PUSH: Message("May push contacts to a CRM"),
    Permission.SEE_COSTS: Message("May see what the workspace spends"),
    Permission.START_UPLOADS: Message("May upload lists and start them"),
}
"""What each permission allows, on the pages."""
REFUSALS = {
    Permission.EXPORT: Message("This account may not download files of contacts and results."),
    Permission.REVEAL_PHONES: Message("This account may not reveal phone numbers."),
    Permission.PUSH: Message("This account may not push contacts to a CRM."),
    Permission.SEE_COSTS: Message("This account may not see what the workspace spends."),
    Permission.START_UPLOADS: Message("This account may not upload lists and start them."),
}
"""What an account without the permission is told."""


def granted(
    *, is_admin: bool, denied_to_members: Iterable[str] | None, own: Mapping[str, bool] | None
) -> frozenset[Permission]:
    """Return the permissions of an account.

    `own` are those of the account by name; they come before `denied_to_members`, its workspace's default.
    """
    if is_admin:
        return ALL
    denied, decided = set(denied_to_members or ()), own or {}
    return frozenset(one for one in Permission if decided.get(one.value, one.value not in denied))


def of_key(account: frozenset[Permission], key: Iterable[str] | None) -> frozenset[Permission]:
    """Return the permissions of an API key, which has at most its account's; None stands for all of them."""
    return account if key is None else account & set(key)
