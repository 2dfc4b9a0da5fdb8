"""What groups mean: the role and the permissions of their members.

Roles follow the groups once one of them has a role: an account that the provider manages is an admin if one
of its groups says so, else a member. Permissions follow the groups of an account that have any: it may what
one of them allows. The last admin of a workspace stays one, since nobody could set it right; somebody who
leaves is disabled in any case. An operator's account stays as it is: a workspace cannot change it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from sqlalchemy import delete, exists, select

from app.domain.permissions import Permission
from app.engine.accounts import accounts, permissions
from app.engine.accounts.accounts import Account, Role
from app.engine.contacts.bulk import batched
from app.features.scim.tables import ScimGroup, ScimMember, ScimUser
from app.infra.database.session import Session
from app.infra.telemetry.log import log
from app.web import account_rules


def apply(session: Session, workspace_id: str, account_ids: Collection[str]) -> None:
    """Give these accounts the roles and the permissions of their groups; the workspace is locked."""
    have_roles = session.scalar(
        select(exists().where(ScimGroup.workspace_id == workspace_id, ScimGroup.role.is_not(None)))
    )
    for row, email, groups in _managed(session, account_ids):
        if not account_rules.may_change(email, by_operator=False):
            continue
        _set_permissions(session, row, [group.permissions for group in groups])
        if have_roles:
            is_admin = any(group.role == Role.ADMIN for group in groups)
            _set_role(session, workspace_id, row.account_id, Role.ADMIN if is_admin else Role.MEMBER)


def _managed(
    session: Session, account_ids: Collection[str]
) -> Iterator[tuple[ScimUser, str, Sequence[ScimGroup]]]:
    """Yield those of the accounts that the provider manages, with their addresses and groups."""
    for ids in batched(sorted(account_ids)):
        query = select(ScimUser, Account.email).join(Account, Account.id == ScimUser.account_id)
        rows = session.execute(query.where(ScimUser.account_id.in_(ids)).order_by(ScimUser.account_id)).all()
        members = select(ScimMember.account_id, ScimGroup).join(
            ScimGroup, ScimGroup.id == ScimMember.group_id
        )
        groups: defaultdict[str, list[ScimGroup]] = defaultdict(list)
        for account_id, group in session.execute(members.where(ScimMember.account_id.in_(ids))):
            groups[account_id].append(group)
        yield from ((row.ScimUser, row.email, groups[row.ScimUser.account_id]) for row in rows)


def apply_to_all(session: Session, workspace_id: str) -> None:
    """Give all accounts of the workspace what their groups say."""
    query = select(ScimUser.account_id).where(
        ScimUser.workspace_id == workspace_id, ScimUser.removed_at.is_(None)
    )
    apply(session, workspace_id, session.scalars(query).all())


def leave_all(session: Session, account_id: str) -> None:
    """Remove the account from all groups."""
    session.execute(delete(ScimMember).where(ScimMember.account_id == account_id))


def _set_role(session: Session, workspace_id: str, account_id: str, role: Role) -> None:
    others = exists().where(
        Account.workspace_id == workspace_id,
        Account.role == Role.ADMIN.value,
        Account.disabled_at.is_(None),
        Account.id != account_id,
    )
    if role is Role.MEMBER and not session.scalar(select(others)):
        log.warning("the last admin stays an admin", account=account_id, workspace=workspace_id)
        return
    accounts.set_role(session, account_id, role)


def _set_permissions(session: Session, row: ScimUser, seats: list[list[str] | None]) -> None:
    given = [seat for seat in seats if seat is not None]
    if given:
        allowed = {name for seat in given for name in seat}
        own = {one: one.value in allowed for one in Permission}
        permissions.set_of_account(session, row.account_id, own)
    elif row.has_seat:
        permissions.set_of_account(session, row.account_id, dict.fromkeys(Permission))
    row.has_seat = bool(given)
