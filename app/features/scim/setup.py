"""What admins do to set up provisioning; the API and the page share it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict
from typing import Any

from app.domain.errors import NotFound
from app.domain.permissions import Permission
from app.engine.accounts import workspaces
from app.engine.accounts.accounts import Role
from app.features.scim import groups, tokens
from app.features.scim.errors import ScimError
from app.features.scim.protocol import ROOT
from app.features.scim.tables import ScimToken
from app.infra import clock
from app.infra.database import database_clock
from app.infra.telemetry.log import log
from app.web import admission, public_urls
from app.web.services import services
from app.web.sign_in.auth import caller


def describe(workspace_id: str) -> dict[str, Any]:
    """Return the provisioning of the workspace, as the API shows it."""
    with services().database.reading() as session:
        token = session.get(ScimToken, workspace_id)
        maker = token and tokens.maker(session, token)
        rows = groups.of_workspace(session, workspace_id)
    return {
        "base_url": public_urls.absolute(ROOT),
        "token": token
        and {
            "prefix": token.prefix,
            "created_by": maker and asdict(maker),
            "created_at": clock.rfc3339(token.created_at),
            "last_used_at": clock.rfc3339(token.last_used_at),
        },
        "groups": [
            {
                "id": group.id,
                "name": group.name,
                "members": number,
                "role": group.role,
                "permissions": group.permissions,
            }
            for group, number in rows
        ],
    }


def rotate() -> str:
    """Make the token of the caller's workspace, and return it this once."""
    with admission.transaction() as session:
        made = tokens.rotate(
            session, caller().workspace_id, by=caller().account_id, now=database_clock.value(session)
        )
    log.info("SCIM token created", token=made.id, by=caller().account_id)
    return made.text


def revoke() -> None:
    """Delete the token; the identity provider changes nothing from then on."""
    with admission.transaction() as session:
        tokens.revoke(session, caller().workspace_id)
    log.info("SCIM token revoked", workspace=caller().workspace_id, by=caller().account_id)


def map_group(group_id: str, *, role: Role | None, permissions: Collection[Permission] | None) -> None:
    """Set what the members of a group get.

    Raises:
        NotFound: the workspace has no such group.

    """
    workspace_id = caller().workspace_id
    with admission.transaction() as session:
        workspaces.lock(session, [workspace_id])
        try:
            groups.map_to(session, workspace_id, group_id, role=role, permissions=permissions)
        except ScimError as error:
            raise NotFound("The workspace has no such group. List them with GET /api/scim.") from error
    log.info("SCIM group mapped", group=group_id, by=caller().account_id)
