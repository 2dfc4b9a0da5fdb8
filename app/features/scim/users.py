"""The users of SCIM are the accounts of the workspace: created, changed, and disabled when somebody leaves.

An account that exists is found and taken over by the provider, so nobody gets a second one. Addresses of
other workspaces are refused, as on the page of accounts, and so are the accounts of operators.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, func, or_, select

from app.domain.audit_actions import Action
from app.domain.errors import InvalidValue
from app.domain.ids import is_id
from app.domain.normal.emails import normal_email
from app.engine.accounts import accounts
from app.engine.accounts.accounts import Account, DisabledByOperator, EmailTaken
from app.engine.audit_log import entries as audit_log
from app.features.scim import access
from app.features.scim.attributes import USER_ATTRIBUTES
from app.features.scim.errors import ScimError, invalid
from app.features.scim.filters import Filter
from app.features.scim.patches import Shape
from app.features.scim.resource_types import ResourceType
from app.features.scim.tables import ScimGroup, ScimMember, ScimUser
from app.features.scim.texts import one_line
from app.infra import clock
from app.infra.crypto import passwords
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session
from app.web import account_rules
from app.web.languages import negotiation

USER = "urn:ietf:params:scim:schemas:core:2.0:User"
LANGUAGE = "preferredLanguage"
SHAPE = Shape(
    simple=frozenset({"userName", "externalId", "displayName", "active", LANGUAGE}),
    complex=frozenset({"name"}),
    lists=frozenset({"emails"}),
)
MAX_EMAILS = 20
_NAMES = ("formatted", "familyName", "givenName")
_TAKEN = "Another account has this userName or address."
_OPERATORS = "This is the account of an operator of the server. Only an operator can change it."
_NOT_YOURS = (
    "This address belongs to another workspace or to an operator, or its domain is not of this workspace. "
    "An operator of the server can create the account."
)


@dataclass(frozen=True, slots=True)
class UserValues:
    """What a request says of a user: checked, with the address and the name of the account.

    `is_active` is None if the request does not say it.
    """

    user_name: str
    external_id: str | None
    is_active: bool | None
    email: str
    name: str
    data: dict[str, Any]


def parse(body: Mapping[str, Any]) -> UserValues:
    """Return the values of a user; attributes that are not stored are left out (RFC 7644, section 3.3).

    Raises:
        ScimError: one is missing or invalid.

    """
    given = {known: value for key, value in body.items() if (known := SHAPE.canonical(key))}
    user_name, external_id = one_line(given, "userName"), one_line(given, "externalId")
    if not user_name:
        raise invalid("userName is missing.")
    name = _names(given.get("name"))
    emails = _emails(given.get("emails"))
    display_name = one_line(given, "displayName")
    email = _address(user_name, emails)
    full = " ".join(filter(None, (name.get("givenName"), name.get("familyName"))))
    data = {"userName": user_name, "displayName": display_name, "name": name, "emails": emails}
    data[LANGUAGE] = one_line(given, LANGUAGE)
    return UserValues(
        user_name=user_name,
        external_id=external_id,
        is_active=None if given.get("active") is None else boolean(given["active"]),
        email=email,
        name=_shown(display_name or name.get("formatted") or full) or email.partition("@")[0],
        data={key: value for key, value in data.items() if value},
    )


def find(session: Session, workspace_id: str, wanted: Filter | None) -> list[dict[str, Any]]:
    """Return the users of the workspace that the filter selects, oldest first."""
    query = _query(workspace_id)
    attribute, text = wanted.equal if wanted and wanted.equal else ("", "")
    if attribute == "id":
        query = query.where(Account.id == text)
    if attribute == "username":
        key = text.lower()
        query = query.where(or_(ScimUser.user_key == key, func.lower(Account.email) == key))
    resources = _resources(session, session.execute(query).all())
    return [resource for resource in resources if wanted is None or wanted.matches(resource)]


def get(session: Session, workspace_id: str, user_id: str) -> dict[str, Any]:
    """Return one user of the workspace."""
    query = _query(workspace_id).where(Account.id == user_id)
    rows = session.execute(query).all() if is_id(user_id, "acc") else []
    if not rows:
        raise ScimError(404, "The workspace has no such user.")
    return _resources(session, rows)[0]


def create(session: Session, workspace_id: str, values: UserValues, now: Moment) -> str:
    """Create the account and return its id.

    An account of the workspace that no provider manages, or not any more, is taken over.
    """
    account = accounts.by_email(session, values.email)
    if account is None or account.workspace_id != workspace_id:
        _require_free(session, workspace_id, values)
        _require_own(session, workspace_id, values.email)
        account = _inserted(session, workspace_id, values, now)
    else:
        row = session.get(ScimUser, account.id)
        if row is not None and row.data and row.removed_at is None:
            raise ScimError(409, _TAKEN, "uniqueness")
        _require_free(session, workspace_id, values, account_id=account.id)
        if not account_rules.may_change(account.email, by_operator=False):
            raise ScimError(403, _OPERATORS)
        if row is not None:
            row.removed_at = None
    _store(session, account, values, now=now)
    _set_active(session, account, is_active=values.is_active is not False, now=now)
    return account.id


def replace(session: Session, workspace_id: str, user_id: str, values: UserValues, now: Moment) -> None:
    """Change an account: its address, its name, and whether it is enabled.

    A disabled account keeps its address: Entra renames whom it deletes, and takes the name back if the user
    is restored.
    """
    account = _changeable(session, workspace_id, user_id)
    if values.is_active is False:
        values = dataclasses.replace(values, email=account.email)
    _require_free(session, workspace_id, values, account_id=account.id)
    if account.email != values.email:
        _require_own(session, workspace_id, values.email)
        if accounts.by_email(session, values.email) is not None:
            raise ScimError(409, _TAKEN, "uniqueness")
    _store(session, account, values, now=now)


def remove(session: Session, workspace_id: str, user_id: str, now: Moment) -> None:
    """Disable the account and end its sessions and keys; what it did stays, and so does its row."""
    account = _changeable(session, workspace_id, user_id)
    if account.disabled_at is None:
        accounts.disable(session, account.id, by_operator=False, now=now)
    row = session.get(ScimUser, account.id) or _added(session, account, now)
    row.removed_at = now
    row.user_key = f"{row.user_key}\n{account.id}"  # free for another account
    access.leave_all(session, account.id)


def _changeable(session: Session, workspace_id: str, user_id: str) -> Account:
    """Return the account, locked; an operator's is not the workspace's to change."""
    get(session, workspace_id, user_id)
    account = accounts.locked(session, user_id)
    if not account_rules.may_change(account.email, by_operator=False):
        raise ScimError(403, _OPERATORS)
    return account


def _inserted(session: Session, workspace_id: str, values: UserValues, now: Moment) -> Account:
    try:
        return accounts.create(
            session,
            workspace_id,
            email=values.email,
            name=values.name,
            password_hash=passwords.unusable(),
            role=accounts.default_role(session, workspace_id),
            now=now,
        )
    except EmailTaken as error:
        raise ScimError(409, _TAKEN, "uniqueness") from error


def _store(session: Session, account: Account, values: UserValues, *, now: Moment) -> None:
    row = session.get(ScimUser, account.id) or _added(session, account, now)
    row.user_key, row.external_id = values.user_name.lower(), values.external_id
    _set_language(account, values.data.get(LANGUAGE), row.data.get(LANGUAGE))
    row.data, row.updated_at = values.data, now
    if (account.email, account.name) != (values.email, values.name):
        account.email, account.name = values.email, values.name
        audit_log.record(
            session, Action.ACCOUNT_CHANGE, object_id=account.id, workspace_id=account.workspace_id
        )
    _set_active(session, account, is_active=values.is_active, now=now)
    session.flush()
    access.apply(session, account.workspace_id, [account.id])


def _set_language(account: Account, given: str | None, before: str | None) -> None:
    """Change the language of an account to one of ours if the provider names another one than before.

    Providers send all attributes again and again, and the person may have chosen another language since.
    """
    if given and given != before:
        account.language = negotiation.preferred(given) or account.language


def _set_active(session: Session, account: Account, *, is_active: bool | None, now: Moment) -> None:
    if is_active is None or is_active == (account.disabled_at is None):
        return
    if not is_active:
        accounts.disable(session, account.id, by_operator=False, now=now)
        return
    try:
        accounts.enable(session, account.id, by_operator=False)
    except DisabledByOperator as error:
        detail = "An operator of the server disabled this account. Only an operator can enable it."
        raise ScimError(403, detail) from error


def _added(session: Session, account: Account, now: Moment) -> ScimUser:
    row = ScimUser(
        account_id=account.id,
        workspace_id=account.workspace_id,
        user_key=account.email,
        data={},
        has_seat=False,
        updated_at=now,
    )
    session.add(row)
    return row


def _require_free(
    session: Session, workspace_id: str, values: UserValues, *, account_id: str | None = None
) -> None:
    taken = select(ScimUser.account_id).where(
        ScimUser.workspace_id == workspace_id,
        ScimUser.user_key == values.user_name.lower(),
        ScimUser.account_id != (account_id or ""),
    )
    if session.scalar(taken) is not None:
        raise ScimError(409, _TAKEN, "uniqueness")


def _require_own(session: Session, workspace_id: str, email: str) -> None:
    if not account_rules.may_have(session, workspace_id, email):
        raise ScimError(403, _NOT_YOURS)


def _query(workspace_id: str) -> Select[*tuple[Any, ...]]:
    return (
        select(Account, ScimUser)
        .outerjoin(ScimUser, ScimUser.account_id == Account.id)
        .where(Account.workspace_id == workspace_id, ScimUser.removed_at.is_(None))
        .order_by(Account.created_at, Account.id)
    )


def _resources(session: Session, rows: Sequence[Any]) -> list[dict[str, Any]]:
    ids = [account.id for account, _row in rows]
    groups: dict[str, list[dict[str, str]]] = {}
    if ids:
        query = select(ScimMember.account_id, ScimGroup.id, ScimGroup.name).join(
            ScimGroup, ScimGroup.id == ScimMember.group_id
        )
        query = query.where(ScimGroup.workspace_id == rows[0][0].workspace_id)
        for account_id, group_id, name in session.execute(query):
            groups.setdefault(account_id, []).append({"value": group_id, "display": name})
    return [_resource(account, row, groups.get(account.id, [])) for account, row in rows]


def _resource(account: Account, row: ScimUser | None, groups: list[dict[str, str]]) -> dict[str, Any]:
    """Return the user; an account that no provider has described has its address for a userName."""
    described = row.data if row is not None and row.data else {}
    default = {
        "userName": account.email,
        "displayName": account.name,
        "name": {"formatted": account.name},
        "emails": [{"value": account.email, "type": "work", "primary": True}],
        **({LANGUAGE: account.language} if account.language else {}),
    }
    changed_at = account.created_at if row is None else row.updated_at
    resource: dict[str, Any] = {
        "schemas": [USER],
        "id": account.id,
        **(described or default),
        "active": account.disabled_at is None,
        "meta": {
            "resourceType": "User",
            "created": clock.rfc3339(account.created_at),
            "lastModified": clock.rfc3339(changed_at),
        },
    }
    if row is not None and row.external_id is not None:
        resource["externalId"] = row.external_id
    return resource | ({"groups": groups} if groups else {})


def boolean(value: object) -> bool:
    """Return a boolean, also from what Microsoft Entra sends: "True", or one inside an object or a list."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, Mapping):
        value = value.get("active", value.get("value"))
    if isinstance(value, str) and value.lower() in {"true", "false"}:
        return value.lower() == "true"
    if not isinstance(value, bool):
        raise invalid("active is true or false.")
    return value


def _names(value: object) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise invalid("name is an object.")
    by_key = {key.lower(): inner for key, inner in value.items()}
    found = {name: one_line({name: by_key.get(name.lower())}, name) for name in _NAMES}
    return {name: text for name, text in found.items() if text}


def _emails(value: object) -> list[dict[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list) or len(value) > MAX_EMAILS:
        raise invalid(f"emails is a list of at most {MAX_EMAILS} objects.")
    found = []
    for item in value:
        if not isinstance(item, Mapping):
            raise invalid("emails is a list of objects.")
        by_key = {key.lower(): inner for key, inner in item.items()}
        email: dict[str, Any] = {name: one_line(by_key, name) for name in ("value", "type")}
        if by_key.get("primary") is not None:
            email["primary"] = boolean(by_key["primary"])
        if email["value"]:
            found.append({name: inner for name, inner in email.items() if inner is not None})
    return found


def _shown(name: str) -> str:
    """Return a name without characters that cannot be seen."""
    return "".join(filter(str.isprintable, " ".join(name.split())))


def _address(user_name: str, emails: list[dict[str, Any]]) -> str:
    """Return the address with which the person signs in: the primary one, that of work, or the userName."""
    ranked = sorted(
        emails, key=lambda item: (not item.get("primary"), item.get("type", "").lower() != "work")
    )
    given = ranked[0]["value"] if ranked else user_name
    try:
        return normal_email(given)
    except InvalidValue as error:
        raise invalid(f"The person needs an e-mail address, in emails or as userName. {error}") from error


TYPE = ResourceType(
    name="User",
    urn=USER,
    attributes=USER_ATTRIBUTES,
    shape=SHAPE,
    parse=parse,
    find=find,
    get=get,
    create=create,
    replace=replace,
    remove=remove,
)
