"""Who may use the endpoints and the pages of verifications."""

from __future__ import annotations

from typing import Any

from access_support import MEMBER, Maker, requires
from users_support import SignedInUser

from app.domain.callers import Scope
from app.domain.ids import new_id
from app.features.verifications.tables import VerificationList
from app.infra import clock

ACCESS_RULES = {
    "POST /api/verifications": requires(Scope.ENRICH, 200, 202, body={"values": ["+12025550143"]}),
    "POST /api/verifications/lists": requires(Scope.ENRICH, 201, file=b"phone\r\n+12025550143\r\n"),
    "GET /api/verifications": requires(Scope.ENRICH, 200),
    "GET /api/verifications/<verification_id>": requires(Scope.ENRICH, 200, owned_by="the workspace's"),
    "GET /api/verifications/<verification_id>/result": requires(
        Scope.ENRICH, 200, owned_by="the workspace's"
    ),
}
WITHOUT_A_BODY: set[str] = set()
BY_ID = (
    "GET /api/verifications/<verification_id>",
    "GET /api/verifications/<verification_id>/result",
)
PAGES = {
    "GET /verifications": MEMBER,
    "POST /verifications": MEMBER,
    "GET /verifications/<verification_id>": MEMBER,
    "GET /verifications/<verification_id>/download": MEMBER,
}
RECORDED: tuple[Any, ...] = ()


def a_list(owner: SignedInUser, _contact_id: str) -> str:
    """Return the id of a new list of the owner's workspace, without jobs."""
    row = VerificationList(
        id=new_id("vrf"),
        workspace_id=owner.workspace_id,
        account_id=owner.account_id,
        total=0,
        duplicates=0,
        unreadable=0,
        created_at=clock.now(),
    )
    with owner.database.transaction() as session:
        session.add(row)
        return row.id


MAKERS: dict[str, Maker] = {"verification_id": a_list}
