"""Who may use the endpoints and the pages of CRM connections and pushes."""

from __future__ import annotations

from access_support import ADMIN, MEMBER, Maker, requires
from sqlalchemy import delete
from users_support import SignedInUser

from app.domain.callers import Scope
from app.features.crm import connections, pushes
from app.features.crm.connections import Credentials, CrmConnection
from app.infra import clock

ACCESS_RULES = {
    "GET /api/crm/vendors": requires("token", 200),
    "GET /api/crm/connections": requires(Scope.SAVE, 200),
    "POST /api/crm/connections": requires("admin", 201, body={"vendor": "hubspot", "token": "t"}),
    "POST /api/crm/connections/<connection_id>": requires(
        "admin", 200, body={"token": "t"}, owned_by="the workspace's"
    ),
    "GET /api/crm/connections/<connection_id>/properties": requires(
        Scope.SAVE, 200, owned_by="the workspace's"
    ),
    "DELETE /api/crm/connections/<connection_id>": requires("admin", 204, owned_by="the workspace's"),
    "POST /api/crm/pushes": requires(
        Scope.SAVE,
        202,
        body={"contact_ids": ["{contact_id}"], "connection_id": "{connection_id}"},
        owned_by="the workspace's",
    ),
    "GET /api/crm/pushes": requires(Scope.SAVE, 200),
    "GET /api/crm/pushes/<push_id>": requires(Scope.SAVE, 200, owned_by="the workspace's"),
}
WITHOUT_A_BODY: set[str] = set()
BY_ID: tuple[str, ...] = (
    "POST /api/crm/connections/<connection_id>",
    "GET /api/crm/connections/<connection_id>/properties",
    "DELETE /api/crm/connections/<connection_id>",
    "GET /api/crm/pushes/<push_id>",
)
PAGES = {
    "GET /crm": MEMBER,
    "POST /crm": ADMIN,
    "POST /crm/authorize": ADMIN,
    "GET /crm/callback": ADMIN,
    "GET /crm/connections/<connection_id>": MEMBER,
    "POST /crm/connections/<connection_id>/mapping": ADMIN,
    "POST /crm/connections/<connection_id>/check": ADMIN,
    "POST /crm/connections/<connection_id>/delete": ADMIN,
    "GET /crm/push": MEMBER,
    "POST /crm/pushes": MEMBER,
    "GET /crm/pushes/<push_id>": MEMBER,
}


_NEW = {"vendor": "hubspot", "token": "pat-1"}
RECORDED = (
    (("POST /api/crm/connections", _NEW), ("POST /crm", _NEW), "crm_connection.create"),
    (
        ("POST /api/crm/connections/{connection_id}", {"token": "pat-2"}),
        ("POST /crm/connections/{connection_id}/check", {"token": "pat-2"}),
        "crm_connection.credentials",
    ),
    (
        ("POST /api/crm/connections/{connection_id}", {"constants": {"leadsource": "Web"}}),
        (
            "POST /crm/connections/{connection_id}/mapping",
            {"email": "email", "constant_0": "leadsource", "constant_value_0": "Web"},
        ),
        "crm_connection.mapping",
    ),
    (
        ("DELETE /api/crm/connections/{connection_id}", None),
        ("POST /crm/connections/{connection_id}/delete", {}),
        "crm_connection.delete",
    ),
)
"""An endpoint and a page that do alike, and what both record in the audit log."""


def a_connection(owner: SignedInUser, _contact_id: str) -> str:
    """Create the only connection of the owner's workspace, of which there may be twenty; return its id."""
    with owner.database.transaction() as session:
        session.execute(delete(CrmConnection).where(CrmConnection.workspace_id == owner.workspace_id))
        return connections.create(
            session,
            owner.workspace_id,
            vendor="hubspot",
            base_url=None,
            credentials=Credentials(token="t"),
            mapping={"email": "email"},
            account_id=owner.account_id,
            now=clock.now(),
        ).id


def a_push(owner: SignedInUser, contact_id: str) -> str:
    connection_id = a_connection(owner, contact_id)
    with owner.database.transaction() as session:
        return pushes.submit(
            session,
            connections.get(session, owner.workspace_id, connection_id, lock=True),
            [contact_id],
            account_id=owner.account_id,
            origin="",
            dry_run=False,
            now=clock.now(),
        ).id


MAKERS: dict[str, Maker] = {"connection_id": a_connection, "push_id": a_push}
