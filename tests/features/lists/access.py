"""Who may use the endpoints and the pages of lists."""

from __future__ import annotations

from typing import Any

from access_support import MEMBER, Maker, requires
from users_support import SignedInUser

from app.domain.callers import Scope
from app.engine.contacts.saved import contact_lists
from app.infra import clock

ACCESS_RULES = {
    "GET /api/lists": requires(Scope.LOOKUP, 200),
    "POST /api/lists": requires(Scope.SAVE, 200, 201, body={"name": "Hot"}),
    "POST /api/lists/<list_id>": requires(Scope.SAVE, 200, body={"name": "Hot"}, owned_by="the workspace's"),
    "DELETE /api/lists/<list_id>": requires(Scope.SAVE, 204, owned_by="the workspace's"),
    "POST /api/lists/<list_id>/contacts": requires(
        Scope.SAVE, 200, body={"add": []}, owned_by="the workspace's"
    ),
}
WITHOUT_A_BODY: set[str] = set()
BY_ID = ("POST /api/lists/<list_id>", "DELETE /api/lists/<list_id>")
PAGES = {
    "GET /lists": MEMBER,
    "POST /lists": MEMBER,
    "POST /lists/members": MEMBER,
    "POST /lists/matching": MEMBER,
    "GET /lists/<list_id>": MEMBER,
    "POST /lists/<list_id>/remove": MEMBER,
    "POST /lists/<list_id>/name": MEMBER,
    "POST /lists/<list_id>/delete": MEMBER,
}
RECORDED: tuple[Any, ...] = ()


def a_list(owner: SignedInUser, _contact_id: str) -> str:
    """Return the id of the owner's only list; renaming a second one to its name would be refused."""
    with owner.database.transaction() as session:
        return contact_lists.ensure(session, owner.workspace_id, "Hot", now=clock.now())[0].id


MAKERS: dict[str, Maker] = {"list_id": a_list}
