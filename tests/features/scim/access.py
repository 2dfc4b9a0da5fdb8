"""Who may use the endpoints and the page of provisioning."""

from __future__ import annotations

from typing import Any

from access_support import ADMIN, AccessRule, Maker, open_to_all, requires
from users_support import SignedInUser

from app.domain.ids import new_id
from app.features.scim.tables import ScimGroup
from app.infra import clock

_OWN_TOKEN = "a token of the workspace's own, which identifies no account"
_TYPE = "/scim/v2/<any(Users,Groups):kind>"
ACCESS_RULES: dict[str, AccessRule] = {
    "GET /api/scim": requires("admin", 200),
    "POST /api/scim/token": requires("admin", 201),
    "DELETE /api/scim/token": requires("admin", 204),
    "PUT /api/scim/groups/<group_id>": requires(
        "admin", 200, body={"role": None, "permissions": None}, owned_by="the workspace's"
    ),
} | {
    route: open_to_all(_OWN_TOKEN, 401, challenge='Bearer realm="scim"')
    for route in (
        "POST /scim/v2/.search",
        f"GET {_TYPE}",
        f"POST {_TYPE}",
        f"POST {_TYPE}/.search",
        *(f"{method} {_TYPE}/<resource_id>" for method in ("GET", "PUT", "PATCH", "DELETE")),
        "GET /scim/v2/ServiceProviderConfig",
        "GET /scim/v2/Schemas",
        "GET /scim/v2/Schemas/<urn>",
        "GET /scim/v2/ResourceTypes",
        "GET /scim/v2/ResourceTypes/<name>",
        *(
            f"{method} /scim/v2{rest}"
            for rest in ("", "/<path:rest>")
            for method in ("GET", "POST", "PUT", "PATCH", "DELETE")
        ),
    )
}
WITHOUT_A_BODY = {"POST /api/scim/token"}
BY_ID: tuple[str, ...] = ()
PAGES = {
    "GET /admin/provisioning": ADMIN,
    "POST /admin/provisioning/token": ADMIN,
    "POST /admin/provisioning/token/revoke": ADMIN,
    "POST /admin/provisioning/groups/<group_id>": ADMIN,
}
RECORDED: tuple[Any, ...] = ()


def a_group(owner: SignedInUser, _contact_id: str) -> str:
    """Create a group of the owner's workspace; return its id."""
    group_id, now = new_id("scg"), clock.now()
    with owner.database.transaction() as session:
        session.add(
            ScimGroup(
                id=group_id,
                workspace_id=owner.workspace_id,
                name=group_id,
                name_key=group_id,
                created_at=now,
                updated_at=now,
            )
        )
    return group_id


MAKERS: dict[str, Maker] = {
    "group_id": a_group,
    "kind": lambda *_: "Users",
    "resource_id": lambda owner, _contact_id: owner.account_id,
    "urn": lambda *_: "x",
    "name": lambda *_: "User",
    "rest": lambda *_: "Me",
}
