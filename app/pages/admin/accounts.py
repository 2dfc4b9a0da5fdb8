"""/admin/accounts: the accounts of the admin's workspace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from apiflask.fields import Boolean, String
from flask import Response, flash, request
from marshmallow import validate

from app.domain.errors import AdminRequired, NotFound
from app.domain.messages import Message
from app.engine.accounts import accounts, sessions, workspaces
from app.engine.accounts.accounts import Account, DisabledByOperator, EmailTaken, Role
from app.infra.crypto import passwords
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.infra.telemetry.log import log
from app.web import account_rules, admission
from app.web.languages.texts import translate
from app.web.pages import forms, value_words
from app.web.pages.access import admin_only, viewer
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.forms import InvalidForm
from app.web.pages.rendering import go_to, page
from app.web.rate_limits import Policy, limited
from app.web.schemas.fields import SingleLineString, StrictSchema, email
from app.web.services import services
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("admin_accounts", __name__)

EMAIL_TAKEN = Message("This address already has an account on this server.")
ASK_AN_OPERATOR = Message(
    "Only an operator can create an account with this address. Admins create accounts of the e-mail domains "
    "that their workspace, and no other, uses already."
)
Change = Callable[[Session, str], object]


class NewAccountSchema(StrictSchema):
    """The account to create."""

    email = email(required=True)
    name = SingleLineString(200, required=True)
    password = String(
        required=True, validate=validate.Length(min=passwords.MIN_LENGTH, max=passwords.MAX_LENGTH)
    )
    role = String(required=True, validate=validate.OneOf(list(Role)))
    api_access = Boolean(load_default=False)


CHANGES: dict[str, tuple[Change, Message]] = {
    "disable": (
        lambda session, account_id: accounts.disable(
            session, account_id, by_operator=viewer().is_operator, now=database_clock.value(session)
        ),
        Message("{name} is disabled; its sessions and API keys have ended."),
    ),
    "enable": (
        lambda session, account_id: accounts.enable(session, account_id, by_operator=viewer().is_operator),
        Message("{name} can sign in again."),
    ),
    "make-admin": (
        lambda session, account_id: accounts.set_role(session, account_id, Role.ADMIN),
        Message("{name} is an admin of the workspace."),
    ),
    "make-member": (
        lambda session, account_id: accounts.set_role(session, account_id, Role.MEMBER),
        Message("{name} is a member of the workspace."),
    ),
    "grant-api-access": (accounts.grant_api_access, Message("{name} may create API keys.")),
    "revoke-api-access": (
        lambda session, account_id: accounts.revoke_api_access(session, account_id, now=database_clock.now()),
        Message("{name} may no longer create API keys; its keys have ended."),
    ),
    "sign-out": (
        lambda session, account_id: sessions.end_all(session, account_id, now=database_clock.now()),
        Message("{name} is signed out everywhere."),
    ),
}
"""What an admin can do with an account, and what is then true."""
_NOT_TO_ONESELF = frozenset({"disable", "make-member"})


@blueprint.get("/admin/accounts")
@admin_only
@limited(Policy.READ)
def index() -> Response:
    """List the accounts of the workspace."""
    return _page()


@blueprint.post("/admin/accounts")
@admin_only
@limited(Policy.WRITE)
def create() -> Response:
    """Create an account of the workspace."""
    typed = forms.texts("email", "name", "role") | {"password": request.form.get("password", "")}
    try:
        new = forms.load(NewAccountSchema(), {**typed, "api_access": "api_access" in request.form})
        if not _may_create(new["email"]):
            return _page(422, errors={"email": ASK_AN_OPERATOR})
        account_id = _create(new)
    except InvalidForm as invalid:
        return _page(422, errors=invalid.messages)
    except EmailTaken:
        return _page(422, errors={"email": EMAIL_TAKEN})
    log.info("account created", account=account_id, by=caller().account_id)
    flash("The account is created. Give its password to the person, who can change it.", "success")
    return go_to("admin_accounts.index")


@blueprint.post("/admin/accounts/<account_id>/<change>")
@admin_only
@limited(Policy.WRITE)
def change(account_id: str, change: str) -> Response:
    """Change an account of the workspace."""
    if change not in CHANGES:
        raise NotFound
    if change in _NOT_TO_ONESELF and account_id == caller().account_id:
        flash("Another admin can do this to your account, but not you.", "failure")
        return go_to("admin_accounts.index")
    apply, sentence = CHANGES[change]
    try:
        with admission.transaction() as session:
            _require_still_admin(session)
            account = accounts.get(session, caller().workspace_id, account_id)
            if not _may_change(account):
                flash("This is the account of an operator. Ask an operator to change it.", "failure")
                return go_to("admin_accounts.index")
            name = account.name
            apply(session, account_id)
    except DisabledByOperator:
        flash("An operator disabled this account. Only an operator can enable it.", "failure")
        return go_to("admin_accounts.index")
    log.info("account changed", account=account_id, change=change, by=caller().account_id)
    flash(translate(sentence.format(name=name)), "success")
    return go_to("admin_accounts.index")


def _require_still_admin(session: Session) -> None:
    """Lock the workspace, and raise AdminRequired if the caller is no longer an admin.

    Otherwise two admins who disable or demote each other at the same time would leave no admin.
    """
    workspaces.lock(session, [caller().workspace_id])
    current = accounts.locked(session, caller().account_id)
    if current.disabled_at is not None or current.role != Role.ADMIN:
        raise AdminRequired


def _may_change(account: Account) -> bool:
    return account_rules.may_change(account.email, by_operator=viewer().is_operator)


def _may_create(address: str) -> bool:
    if viewer().is_operator:
        return True
    with services().database.reading() as session:
        return account_rules.may_have(session, caller().workspace_id, address)


def _create(new: dict[str, Any]) -> str:
    """Insert the account; the password is hashed first, because that takes long."""
    password_hash = passwords.hash_password(new["password"])
    with admission.transaction() as session:
        account = accounts.create(
            session,
            caller().workspace_id,
            email=new["email"],
            name=new["name"],
            password_hash=password_hash,
            role=Role(new["role"]),
            api_access=new["api_access"],
            now=database_clock.value(session),
        )
        return account.id


def _actions(account: Account) -> list[tuple[str, str]]:
    """Return the changes that make sense now, with the texts of their buttons."""
    if not _may_change(account):
        return []
    if account.disabled_at is not None:
        return (
            [("enable", Message("Enable"))]
            if viewer().is_operator or not account.disabled_by_operator
            else []
        )
    is_admin = account.role == Role.ADMIN
    offered = [
        ("make-member", Message("Make member")) if is_admin else ("make-admin", Message("Make admin")),
        ("revoke-api-access", Message("Revoke API access"))
        if account.api_access
        else ("grant-api-access", Message("Grant API access")),
        ("sign-out", Message("Sign out")),
        ("disable", Message("Disable")),
    ]
    is_own = account.id == caller().account_id
    return [(change, label) for change, label in offered if not (is_own and change in _NOT_TO_ONESELF)]


def _page(status: int = 200, *, errors: dict[str, str] | None = None) -> Response:
    with services().database.reading() as session:
        rows = accounts.of_workspace(session, caller().workspace_id)
    typed = {name: forms.text(name) if errors else "" for name in ("email", "name", "role")}
    return page(
        "admin/accounts.html",
        status,
        accounts=[(row, _actions(row)) for row in rows],
        resettable={row.id for row in rows if _may_change(row) and row.id != caller().account_id},
        errors=errors or {},
        typed=typed,
        roles=[*value_words.ROLES.items()],
        min_length=passwords.MIN_LENGTH,
    )
