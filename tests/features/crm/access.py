"""Who may use the endpoints and the pages of CRM connections, pushes and schedules."""

from __future__ import annotations

from access_support import ADMIN, MEMBER, Maker, requires
from sqlalchemy import delete
from users_support import SignedInUser

from app.domain.callers import Scope
from app.domain.ids import new_id
from app.features.crm import connections, pushes
from app.features.crm.connections import Credentials, CrmConnection
from app.features.crm.pushes import PushOptions
from app.features.crm.schedules import schedules
from app.features.crm.schedules.tables import CrmScheduleRun, RunStatus
from app.infra import clock

_SCHEDULES = "/api/crm/connections/<connection_id>/schedules"
_SCHEDULE = f"{_SCHEDULES}/<schedule_id>"
_NEW_SCHEDULE = {"name": "Customers", "list_id": "42", "max_people": 10, "monthly_credits": 10}
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
    f"GET {_SCHEDULES}": requires(Scope.SAVE, 200, owned_by="the workspace's"),
    f"POST {_SCHEDULES}": requires("admin", 201, body=_NEW_SCHEDULE, owned_by="the workspace's"),
    f"GET {_SCHEDULE}": requires(Scope.SAVE, 200, owned_by="the workspace's"),
    f"POST {_SCHEDULE}": requires("admin", 200, body={"hour": 5}, owned_by="the workspace's"),
    f"DELETE {_SCHEDULE}": requires("admin", 204, owned_by="the workspace's"),
    f"POST {_SCHEDULE}/pause": requires("admin", 200, owned_by="the workspace's"),
    f"POST {_SCHEDULE}/resume": requires("admin", 200, owned_by="the workspace's"),
    f"POST {_SCHEDULE}/run": requires("admin", 200, owned_by="the workspace's"),
    f"GET {_SCHEDULE}/runs": requires(Scope.SAVE, 200, owned_by="the workspace's"),
    f"GET {_SCHEDULE}/runs/<run_id>": requires(Scope.SAVE, 200, owned_by="the workspace's"),
}
WITHOUT_A_BODY: set[str] = {f"POST {_SCHEDULE}/{command}" for command in ("pause", "resume", "run")}
BY_ID: tuple[str, ...] = (
    "POST /api/crm/connections/<connection_id>",
    "GET /api/crm/connections/<connection_id>/properties",
    "DELETE /api/crm/connections/<connection_id>",
    "GET /api/crm/pushes/<push_id>",
    f"GET {_SCHEDULES}",
    f"GET {_SCHEDULE}",
    f"POST {_SCHEDULE}",
    f"DELETE {_SCHEDULE}",
    f"GET {_SCHEDULE}/runs",
    f"GET {_SCHEDULE}/runs/<run_id>",
)
PAGES = {
    "GET /crm": MEMBER,
    "POST /crm": ADMIN,
    "POST /crm/authorize": ADMIN,
    "GET /crm/callback": ADMIN,
    "GET /crm/connections/<connection_id>": MEMBER,
    "POST /crm/connections/<connection_id>/mapping": ADMIN,
    "POST /crm/connections/<connection_id>/stages": ADMIN,
    "POST /crm/connections/<connection_id>/check": ADMIN,
    "POST /crm/connections/<connection_id>/delete": ADMIN,
    "GET /crm/connections/<connection_id>/schedules": MEMBER,
    "POST /crm/connections/<connection_id>/schedules": ADMIN,
    "GET /crm/connections/<connection_id>/schedules/<schedule_id>": MEMBER,
    "POST /crm/connections/<connection_id>/schedules/<schedule_id>": ADMIN,
    "POST /crm/connections/<connection_id>/schedules/<schedule_id>/pause": ADMIN,
    "POST /crm/connections/<connection_id>/schedules/<schedule_id>/resume": ADMIN,
    "POST /crm/connections/<connection_id>/schedules/<schedule_id>/run": ADMIN,
    "POST /crm/connections/<connection_id>/schedules/<schedule_id>/delete": ADMIN,
    "GET /crm/connections/<connection_id>/schedules/<schedule_id>/runs/<run_id>": MEMBER,
    "GET /crm/push": MEMBER,
    "POST /crm/pushes": MEMBER,
    "GET /crm/pushes/<push_id>": MEMBER,
}


_NAMED = "/api/crm/connections/{connection_id}/schedules"
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
    (
        (f"POST {_NAMED}", _NEW_SCHEDULE),
        (f"POST {_NAMED.removeprefix('/api')}", {**_NEW_SCHEDULE, "email": "1", "when": "day", "hour": "4"}),
        "crm_schedule.create",
    ),
    *(
        (
            (f"POST {_NAMED}/{{schedule_id}}/{command}", None),
            (f"POST {_NAMED.removeprefix('/api')}/{{schedule_id}}/{command}", {}),
            f"crm_schedule.{command}",
        )
        for command in ("pause", "run")
    ),
    (
        (f"DELETE {_NAMED}/{{schedule_id}}", None),
        (f"POST {_NAMED.removeprefix('/api')}/{{schedule_id}}/delete", {}),
        "crm_schedule.delete",
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
            options=PushOptions(),
            now=clock.now(),
        ).id


def a_schedule(owner: SignedInUser, _contact_id: str) -> str:
    """Create a schedule of the owner's only connection."""
    with owner.database.transaction() as session:
        [connection] = connections.of_workspace(session, owner.workspace_id)
        settings = _NEW_SCHEDULE | {
            "kind": "contact",
            "fields": ["email"],
            "hour": 4,
            "weekday": None,
            "refresh_days": None,
            "purpose": None,
        }
        return schedules.create(
            session, connection, settings, account_id=owner.account_id, origin="", now=clock.now()
        ).id


def a_run(owner: SignedInUser, _contact_id: str) -> str:
    """Create a run of the owner's only schedule."""
    with owner.database.transaction() as session:
        [connection] = connections.of_workspace(session, owner.workspace_id)
        [schedule] = schedules.of_connection(session, owner.workspace_id, connection.id)
        run = CrmScheduleRun(
            id=new_id("csr"),
            schedule_id=schedule.id,
            workspace_id=owner.workspace_id,
            due_at=clock.now(),
            status=RunStatus.FINISHED.value,
            is_partial=False,
            started_at=clock.now(),
            **dict.fromkeys(("members", "unindexed", "people", "jobs", "charged"), 0),
        )
        session.add(run)
        return run.id


MAKERS: dict[str, Maker] = {
    "connection_id": a_connection,
    "push_id": a_push,
    "schedule_id": a_schedule,
    "run_id": a_run,
}
