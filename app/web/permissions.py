"""Refuses what the caller may not do. What pages and endpoints share requires its permission in one place."""

from __future__ import annotations

from collections.abc import Iterable

from app.domain.errors import PermissionDenied
from app.domain.permissions import Permission
from app.web.sign_in.auth import caller


def require(permission: Permission) -> None:
    """Raise PermissionDenied unless the caller has the permission."""
    if permission not in caller().permissions:
        raise PermissionDenied.of(permission, of_key=caller().key_id is not None)


def require_phones(fields: Iterable[str]) -> None:
    """Raise PermissionDenied if phone numbers are among the fields and the caller may not reveal them."""
    if "phone" in fields:
        require(Permission.REVEAL_PHONES)
