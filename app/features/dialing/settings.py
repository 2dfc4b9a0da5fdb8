"""The form of a workspace's links: read by everybody, chosen by its admins."""

from __future__ import annotations

from flask import g
from sqlalchemy import delete, select

from app.domain.audit_actions import Action
from app.engine.audit_log import entries as audit_log
from app.features.dialing import link_forms
from app.features.dialing.tables import DialLink
from app.infra.database import database_clock
from app.infra.database.db import insert
from app.infra.database.session import Session
from app.web import admission
from app.web.services import services
from app.web.sign_in.admins import admin_caller
from app.web.sign_in.auth import caller


def form_of(session: Session, workspace_id: str) -> str:
    """Return the form of the workspace's links."""
    query = select(DialLink.form).where(DialLink.workspace_id == workspace_id)
    return session.scalar(query) or link_forms.DEFAULT


def choose(form: str) -> str:
    """Store the form that an admin has chosen; return it. The default one is not stored.

    Raises:
        AdminRequired: the caller is not an admin.

    """
    workspace_id = caller().workspace_id
    with admission.transaction() as session:
        admin_caller(session)
        if form == link_forms.DEFAULT:
            session.execute(delete(DialLink).where(DialLink.workspace_id == workspace_id))
        else:
            values = {"form": form, "updated_at": database_clock.value(session)}
            row = insert(session, DialLink).values(workspace_id=workspace_id, **values)
            session.execute(row.on_conflict_do_update(index_elements=["workspace_id"], set_=values))
        audit_log.record(session, Action.DIAL_LINK_SET, object_id=workspace_id, workspace_id=workspace_id)
    return form


def dial_url(e164: str) -> str:
    """Return the link that dials a number, in the form of the caller's workspace, read once per request."""
    if "dial_form" not in g:
        with services().database.reading() as session:
            g.dial_form = form_of(session, caller().workspace_id)
    return link_forms.link(g.dial_form, e164)
