"""/sign-in/company: sign in with a company account, for the pages and for the extension.

The browser goes to the company's OpenID provider and comes back to the callback. The pages then get their
cookie. The extension gets a code for `POST /api/ext/company-login`, at an address that Chrome keeps for it.
"""

from __future__ import annotations

import hmac
from dataclasses import asdict
from urllib.parse import urlencode

from flask import Response, request, url_for

from app.domain.errors import (
    AccountDisabled,
    CompanyAccountRefused,
    CompanySignInFailed,
    NotFound,
    Problem,
    Unavailable,
)
from app.domain.messages import Message
from app.engine.accounts.accounts import Account
from app.engine.accounts.sessions import Method
from app.features.company_sign_in import codes, identities
from app.features.company_sign_in.openid.id_tokens import SignInInvalid
from app.features.company_sign_in.openid.json_client import ProviderUnreachable
from app.features.company_sign_in.openid.provider import Attempt, Client, OpenIdProvider, provider
from app.features.company_sign_in.targets import Target
from app.features.company_sign_in.users import CompanyUser, RoleRules
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.infra.telemetry.log import log
from app.pages.sign_in_form import CLIENT, complete, sentence, sign_in_form
from app.web import admission, public_urls
from app.web.failure_limits import FailureCounter
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.rendering import go_to_path
from app.web.pages.sealed_cookie import SealedCookie
from app.web.services import services
from app.web.sign_in import session_cookie, session_start
from app.web.sign_in.login_attempts import LoginAttempt, record_refusal

blueprint = PageBlueprint("company_sign_in", __name__)

COOKIE = SealedCookie("company-sign-in", seconds=600)
CANCELED = "access_denied"  # RFC 6749, section 4.1.2.1
CANCELED_BY_USER = Message("You canceled it. Start again, or ask your admin.")
REFUSED = Message("The company's sign-in refused it. Start again, or ask your admin.")


@blueprint.get("/sign-in/company")
def start() -> Response:
    """Send the browser to the company's provider."""
    if not session_cookie.is_allowed():
        return sign_in_form(403)
    openid, target, attempt = _provider(), Target.of_request(), Attempt.new()
    try:
        response = go_to_path(openid.authorization_url(attempt, _callback_url()))
    except ProviderUnreachable as error:
        return _refuse(target, _unreachable(error))
    COOKIE.store(response, {"attempt": asdict(attempt), "target": asdict(target)})
    return response


@blueprint.get("/sign-in/company/callback")
def callback() -> Response:
    """Verify what the provider says, and give the page or the extension its session."""
    openid, stored = _provider(), COOKIE.read()
    if stored is None:
        return _refuse(Target(), CompanySignInFailed("It took too long, or cookies are off. Start again."))
    target, attempt = Target(**stored["target"]), Attempt(**stored["attempt"])
    failures = FailureCounter.for_client("login", services().settings.limit_login_address)
    try:
        failures.check()
        response = _finish(target, _user(openid, attempt))
    except ProviderUnreachable as error:
        response = _refuse(target, _unreachable(error))
    except SignInInvalid as error:
        log.warning("company sign-in refused", reason=str(error))
        failures.add()
        _record_refusal(CompanySignInFailed.code)
        response = _refuse(target, CompanySignInFailed())
    except Problem as problem:
        if isinstance(problem, CompanyAccountRefused | AccountDisabled):
            _record_refusal(problem.code)
        response = _refuse(target, problem)
    COOKIE.clear(response)
    return response


def _user(openid: OpenIdProvider, attempt: Attempt) -> CompanyUser:
    """Return the user whom the response of the provider stands for."""
    if not hmac.compare_digest(request.args.get("state", "").encode(), attempt.state.encode()):
        raise SignInInvalid("the state is not that of this browser")
    openid.check_issuer(request.args.get("iss"))
    error = request.args.get("error")
    if error is not None:
        log.info("company sign-in refused by the provider", error=error[:40])
        raise CompanySignInFailed(CANCELED_BY_USER if error == CANCELED else REFUSED)
    settings = services().settings
    rules = RoleRules(settings.oidc_role_claim, settings.oidc_admin_values, settings.oidc_member_values)
    claims = openid.claims(request.args.get("code", ""), attempt, _callback_url())
    return CompanyUser.from_claims(claims, rules)


def _finish(target: Target, user: CompanyUser) -> Response:
    """Sign the user in, and return to the page or to the extension."""
    if user.access == "none":
        with admission.transaction() as session:
            identities.withdraw(session, user, now=database_clock.now())
        raise CompanyAccountRefused
    with admission.transaction() as session:
        now = database_clock.value(session)
        workspaces = dict(services().settings.oidc_create_accounts)
        account = identities.sign_in(session, user, workspaces, now=now)
        if target.redirect_uri:
            code = codes.issue(session, account.id, target.challenge, now=now)
            return go_to_path(f"{target.redirect_uri}?{urlencode({'code': code, 'state': target.state})}")
        token = _start_session(session, account)
    return complete(token, target.next_path)


def _start_session(session: Session, account: Account) -> str:
    return session_start.start(
        session,
        account,
        network=LoginAttempt(account.email).network,
        client=CLIENT,
        method=Method.COMPANY,
        now=database_clock.value(session),
    ).token


def _record_refusal(reason: str) -> None:
    with admission.transaction() as session:
        record_refusal(session, None, reason=reason)


def _refuse(target: Target, problem: Problem) -> Response:
    """Return the sign-in form with the reason, or to the extension with its code."""
    if target.redirect_uri:
        query = urlencode({"error": problem.code, "state": target.state})
        return go_to_path(f"{target.redirect_uri}?{query}")
    return sign_in_form(problem.status, errors={"": sentence(problem)}, next_path=target.next_path)


def _unreachable(error: ProviderUnreachable) -> Unavailable:
    log.warning("OpenID provider cannot be reached", reason=str(error))
    return Unavailable("The company's sign-in cannot be reached at the moment. Try again in a minute.")


def _provider() -> OpenIdProvider:
    """Return the configured provider."""
    settings = services().settings
    if not settings.oidc_issuer:
        raise NotFound
    return provider(Client(settings.oidc_issuer, settings.oidc_client_id, settings.oidc_client_secret))


def _callback_url() -> str:
    return public_urls.absolute(url_for("company_sign_in.callback"))
