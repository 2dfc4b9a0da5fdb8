"""The groups of SCIM, each with its members and with the role and the permissions that an admin gave it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, func, select

from app.domain.audit_actions import Action
from app.domain.ids import is_id, new_id
from app.domain.permissions import Permission
from app.engine.accounts.accounts import Account, Role
from app.engine.audit_log import entries as audit_log
from app.features.scim import access
from app.features.scim.attributes import GROUP_ATTRIBUTES
from app.features.scim.errors import ScimError, invalid
from app.features.scim.filters import Filter
from app.features.scim.patches import Shape
from app.features.scim.resource_types import ResourceType
from app.features.scim.tables import ScimGroup, ScimMember, ScimUser
from app.features.scim.texts import one_line
from app.infra import clock
from app.infra.database.database_clock import Moment
from app.infra.database.db import insert
from app.infra.database.session import Session

GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"
SHAPE = Shape(
    simple=frozenset({"displayName", "externalId"}), complex=frozenset(), lists=frozenset({"members"})
)
MAX_GROUPS = 1000


@dataclass(frozen=True, slots=True)
class GroupValues:
    """What a request says of a group: its name, and the accounts in it."""

    name: str
    external_id: str | None
    members: frozenset[str]


def parse(body: Mapping[str, Any]) -> GroupValues:
    """Return the values of a group; attributes that are not stored are left out.

    Raises:
        ScimError: one is missing or invalid.

    """
    given = {known: value for key, value in body.items() if (known := SHAPE.canonical(key))}
    name, external_id = (one_line(given, key) for key in ("displayName", "externalId"))
    members = given.get("members")
    if not name:
        raise invalid("displayName is missing.")
    if not isinstance(members or [], list):
        raise invalid("members is a list of objects.")
    return GroupValues(name, external_id, frozenset(map(_member_id, members or ())))


def find(session: Session, workspace_id: str, wanted: Filter | None) -> list[dict[str, Any]]:
    """Return the groups of the workspace that the filter selects, oldest first."""
    query = select(ScimGroup).where(ScimGroup.workspace_id == workspace_id)
    rows = session.scalars(query.order_by(ScimGroup.created_at, ScimGroup.id)).all()
    resources = _resources(session, rows)
    return [resource for resource in resources if wanted is None or wanted.matches(resource)]


def of_workspace(session: Session, workspace_id: str) -> list[tuple[ScimGroup, int]]:
    """Return the groups of the workspace by name, with the number of their members."""
    counts = (
        select(ScimMember.group_id, func.count().label("number")).group_by(ScimMember.group_id).subquery()
    )
    query = (
        select(ScimGroup, func.coalesce(counts.c.number, 0))
        .outerjoin(counts, counts.c.group_id == ScimGroup.id)
        .where(ScimGroup.workspace_id == workspace_id)
        .order_by(ScimGroup.name_key)
    )
    return [(group, int(count)) for group, count in session.execute(query)]


def get(session: Session, workspace_id: str, group_id: str) -> dict[str, Any]:
    """Return one group of the workspace."""
    return _resources(session, [row(session, workspace_id, group_id)])[0]


def row(session: Session, workspace_id: str, group_id: str) -> ScimGroup:
    """Return the stored group."""
    query = select(ScimGroup).where(ScimGroup.id == group_id, ScimGroup.workspace_id == workspace_id)
    found = session.scalar(query) if is_id(group_id, "scg") else None
    if found is None:
        raise ScimError(404, "The workspace has no such group.")
    return found


def create(session: Session, workspace_id: str, values: GroupValues, now: Moment) -> str:
    """Insert a group and return its id."""
    _require_free(session, workspace_id, values)
    if len(of_workspace(session, workspace_id)) >= MAX_GROUPS:
        raise ScimError(403, f"A workspace has at most {MAX_GROUPS} groups.")
    group = ScimGroup(
        id=new_id("scg"),
        workspace_id=workspace_id,
        name=values.name,
        name_key=values.name.lower(),
        external_id=values.external_id,
        created_at=now,
        updated_at=now,
    )
    session.add(group)
    session.flush()
    _set_members(session, group, values.members, now=now)
    return group.id


def replace(session: Session, workspace_id: str, group_id: str, values: GroupValues, now: Moment) -> None:
    """Change the name and the members of a group."""
    group = row(session, workspace_id, group_id)
    _require_free(session, workspace_id, values, group_id=group_id)
    group.name, group.name_key, group.external_id = values.name, values.name.lower(), values.external_id
    group.updated_at = now
    session.flush()
    _set_members(session, group, values.members, now=now)


def remove(session: Session, workspace_id: str, group_id: str, _now: Moment) -> None:
    """Delete a group; its members lose what it gave them."""
    group = row(session, workspace_id, group_id)
    members = _members(session, group_id)
    session.delete(group)
    session.flush()
    access.apply(session, workspace_id, members)


def map_to(
    session: Session,
    workspace_id: str,
    group_id: str,
    *,
    role: Role | None,
    permissions: Collection[Permission] | None,
) -> None:
    """Set what the members of a group get: a role, and permissions; None leaves them as they are."""
    group = row(session, workspace_id, group_id)
    group.role = None if role is None else role.value
    group.permissions = None if permissions is None else sorted(permissions)
    session.flush()
    given = "none" if permissions is None else " ".join(group.permissions or ()) or "nothing"
    reason = f"role={group.role or 'none'} permissions={given}"
    audit_log.record(
        session, Action.SCIM_GROUP_MAP, object_id=group_id, workspace_id=workspace_id, reason=reason
    )
    access.apply_to_all(session, workspace_id)


def _set_members(session: Session, group: ScimGroup, wanted: frozenset[str], *, now: Moment) -> None:
    before = _members(session, group.id)
    added, gone = wanted - before, before - wanted
    _require_users(session, group.workspace_id, added, now=now)
    if gone:
        session.execute(
            delete(ScimMember).where(ScimMember.group_id == group.id, ScimMember.account_id.in_(gone))
        )
    for account_id in sorted(added):
        values = {"group_id": group.id, "account_id": account_id}
        session.execute(insert(session, ScimMember).values(values).on_conflict_do_nothing())
    access.apply(session, group.workspace_id, added | gone)


def _require_users(session: Session, workspace_id: str, account_ids: frozenset[str], *, now: Moment) -> None:
    """Raise unless these are users of the workspace; from now on the provider manages them."""
    query = select(Account, ScimUser).outerjoin(ScimUser, ScimUser.account_id == Account.id)
    query = query.where(Account.workspace_id == workspace_id, ScimUser.removed_at.is_(None))
    found = {account.id: (account, user) for account, user in session.execute(query)} if account_ids else {}
    unknown = account_ids - found.keys()
    if unknown:
        raise invalid(f"The workspace has no user {min(unknown)[:40]!r}.")
    for account_id in account_ids:
        account, user = found[account_id]
        if user is None:
            session.add(
                ScimUser(
                    account_id=account_id,
                    workspace_id=workspace_id,
                    user_key=account.email,
                    data={},
                    has_seat=False,
                    updated_at=now,
                )
            )
    session.flush()


def _require_free(
    session: Session, workspace_id: str, values: GroupValues, *, group_id: str | None = None
) -> None:
    taken = select(ScimGroup.id).where(
        ScimGroup.workspace_id == workspace_id,
        ScimGroup.name_key == values.name.lower(),
        ScimGroup.id != (group_id or ""),
    )
    if session.scalar(taken) is not None:
        raise ScimError(409, "Another group has this displayName.", "uniqueness")


def _members(session: Session, group_id: str) -> frozenset[str]:
    return frozenset(session.scalars(select(ScimMember.account_id).where(ScimMember.group_id == group_id)))


def _member_id(item: object) -> str:
    value = item.get("value") if isinstance(item, Mapping) else item
    if value is None and isinstance(item, Mapping) and isinstance(item.get("$ref"), str):
        value = item["$ref"].rpartition("/")[2]
    if not isinstance(value, str):
        raise invalid("Each of members has a value, the id of a user.")
    return value


def _resources(session: Session, rows: Sequence[ScimGroup]) -> list[dict[str, Any]]:
    members: dict[str, list[dict[str, str]]] = {}
    query = select(ScimMember).where(ScimMember.group_id.in_([group.id for group in rows]))
    for member in session.scalars(query.order_by(ScimMember.account_id)) if rows else ():
        members.setdefault(member.group_id, []).append({"value": member.account_id, "type": "User"})
    return [_resource(group, members.get(group.id, [])) for group in rows]


def _resource(group: ScimGroup, members: list[dict[str, str]]) -> dict[str, Any]:
    external = {} if group.external_id is None else {"externalId": group.external_id}
    return {
        "schemas": [GROUP],
        "id": group.id,
        "displayName": group.name,
        **external,
        "members": members,
        "meta": {
            "resourceType": "Group",
            "created": clock.rfc3339(group.created_at),
            "lastModified": clock.rfc3339(group.updated_at),
        },
    }


TYPE = ResourceType(
    name="Group",
    urn=GROUP,
    attributes=GROUP_ATTRIBUTES,
    shape=SHAPE,
    parse=parse,
    find=find,
    get=get,
    create=create,
    replace=replace,
    remove=remove,
)
