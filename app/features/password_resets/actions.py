"""What admins and members do to get a new password; the API and the pages share it."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from flask import url_for

from app.domain.errors import OperatorRequired, PasswordResetRefused
from app.domain.kinds import MAIL_PASSWORD_RESET, Queue
from app.domain.messages import Message
from app.engine.accounts import accounts, login_throttle
from app.features.password_resets import resets, rules
from app.infra.crypto import passwords
from app.infra.database import database_clock
from app.infra.telemetry.log import log
from app.web import account_rules, admission, public_urls
from app.web.languages.negotiation import language
from app.web.request_actor import account_actor
from app.web.services import services
from app.web.sign_in.auth import caller

OWN = Message("This is your own account. Change its password on the account page.")


class ResetLink(NamedTuple):
    """A link for the person whose account it is."""

    name: str
    url: str
    expires_at: datetime


def create_link(account_id: str) -> ResetLink:
    """Return a link with which the account of the admin's workspace gets a new password.

    Raises:
        NotFound: the workspace has no such account.
        OperatorRequired: it is an operator's, and the admin is none.
        PasswordResetRefused: it is the admin's own, disabled, or has no password.

    """
    current, app = caller(), services()
    with admission.transaction() as session:
        account = accounts.get(session, current.workspace_id, account_id)
        if account_id == current.account_id:
            raise PasswordResetRefused(OWN)
        admin = accounts.get(session, current.workspace_id, current.account_id)
        by_operator = app.settings.is_operator(admin.email)
        if not account_rules.may_change(account.email, by_operator=by_operator):
            raise OperatorRequired("This is the account of an operator. Ask an operator to change it.")
        if reason := rules.refusal(account, app.settings):
            raise PasswordResetRefused(reason)
        now = database_clock.value(session)
        token, expires_at = resets.issue(session, account, admin_id=current.account_id, now=now)
        name = account.name
    log.info("password reset link created", account=account_id, by=current.account_id)
    url = public_urls.absolute(url_for("password_resets.reset", token=token))
    return ResetLink(name, url, expires_at)


def request_mail(email: str) -> None:
    """Have a link sent to the address, if an account has it."""
    with services().database.transaction() as session:
        work_id = resets.request(session, email, language=language(), now=database_clock.now())
    if work_id is not None:
        services().publisher.push(MAIL_PASSWORD_RESET, Queue.UPKEEP, [work_id])


def is_usable(token: str) -> bool:
    """Return whether the link can be used; it stays usable."""
    with services().database.reading() as session:
        account = resets.account_of(session, token, now=database_clock.now())
        return account is not None and rules.refusal(account, services().settings) is None


def use(token: str, new_password: str) -> bool:
    """Give the account of the link this password, and end its sessions, keys and links; False if it is over.

    Two-factor sign-in stays: the next sign-in needs a code, too.
    """
    new_hash = passwords.hash_password(new_password)
    with services().database.transaction() as session:
        now = database_clock.value(session)
        account = resets.account_of(session, token, now=now)
        if account is None or rules.refusal(account, services().settings):
            return False
        account_id = account.id
        session.actor = account_actor(account_id)
        accounts.set_password(session, account_id, new_hash, now=now)
        login_throttle.reset(session, account.email)
        resets.end_all(session, account_id)
    log.info("password reset", account=account_id)
    return True
