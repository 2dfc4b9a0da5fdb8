"""Entries of the audit log for files, and pages of results, that a caller downloads."""

from __future__ import annotations

from app.domain.audit_actions import Action
from app.domain.permissions import Permission
from app.engine.audit_log import entries as audit_log
from app.web import admission, permissions
from app.web.sign_in.auth import caller


def record_export(action: Action, object_id: str | None = None) -> None:
    """Require the permission, and record that the caller downloads a file or a page, before it is sent.

    What cannot be recorded is not sent.
    """
    permissions.require(Permission.EXPORT)
    with admission.transaction() as session:
        audit_log.record(session, action, object_id=object_id, workspace_id=caller().workspace_id)
