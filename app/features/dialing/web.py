"""The endpoints and the page of the dial link, and its form in sessions."""

from __future__ import annotations

from app.features.dialing import api, pages, settings
from app.infra.database.session import Session
from app.web.feature import WebPart
from app.web.pages.navigation import Entry


def _workspace(session: Session, workspace_id: str) -> dict[str, str]:
    return {"dial_link": settings.form_of(session, workspace_id)}


WEB = WebPart(
    api=(api.blueprint,),
    pages=(pages.blueprint,),
    navigation=(Entry("admin_dial_link.index", "Dialling", position=35, needs="admin"),),
    workspace=_workspace,
)
