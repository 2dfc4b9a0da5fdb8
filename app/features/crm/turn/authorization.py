"""Tokens by OAuth 2.0 (RFC 6749, sections 4.1.3 and 6; RFC 7636): the exchange of the code, and renewal."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.features.crm.connections import Credentials
from app.features.crm.turn.transport import Transport
from app.features.crm.vendors.errors import AccessRefused, Throttled, Unreachable
from app.features.crm.vendors.exchange import OK, SERVER_ERROR, TOO_MANY, Request, Response
from app.features.crm.vendors.vendor import Crm
from app.infra import clock

EXPIRY_MARGIN_SECONDS = 120.0


def is_due(credentials: Credentials) -> bool:
    """Return whether there is a code to exchange, or a token that expires soon."""
    expires_at = credentials.expires_at
    if credentials.code:
        return True
    is_expiring = expires_at is not None and clock.now().timestamp() > expires_at - EXPIRY_MARGIN_SECONDS
    return bool(credentials.refresh_token) and is_expiring


def headers(crm: Crm, credentials: Credentials) -> dict[str, str]:
    """Return the headers of requests with these credentials."""
    return crm.authentication(credentials.token, is_granted=bool(credentials.refresh_token))


@dataclass(frozen=True, slots=True)
class Grant:
    """The new tokens, and the account of the CRM to which they belong if it names it."""

    credentials: Credentials
    account: str | None


def renew(crm: Crm, transport: Transport, credentials: Credentials) -> Grant:
    """Exchange the code or the refresh token for new tokens.

    Raises:
        AccessRefused: the CRM does not accept them (any more), so the workspace must connect again.
        Unreachable, Throttled: it can be tried again.

    """
    oauth = crm.oauth
    if oauth is None or not crm.offers_oauth:
        raise AccessRefused("oauth_not_configured")
    form = {"client_id": crm.access.client_id, "client_secret": crm.access.client_secret}
    if credentials.code:
        form |= {
            "grant_type": "authorization_code",
            "code": credentials.code,
            "code_verifier": credentials.verifier,
            "redirect_uri": credentials.redirect_uri,
        }
    else:
        form |= {"grant_type": "refresh_token", "refresh_token": credentials.refresh_token}
    response = transport.send(Request(method="POST", path=oauth.token_path, form=form))
    if response.status == TOO_MANY:
        raise Throttled(response.retry_after)
    if response.status >= SERVER_ERROR:
        raise Unreachable(f"http_{response.status}")
    token = response.object.get("access_token")
    if response.status not in OK or not token:
        raise AccessRefused(_refusal(response))
    expires_in = response.object.get("expires_in")
    begun = {"code": "", "verifier": "", "redirect_uri": "", "state": ""} if credentials.code else {}
    renewed = replace(
        credentials,
        **begun,
        token=str(token),
        refresh_token=str(response.object.get("refresh_token") or credentials.refresh_token),
        expires_at=None if expires_in is None else clock.now().timestamp() + float(expires_in),
        api_url=crm.granted_url(response.object) or credentials.api_url,
    )
    return Grant(renewed, crm.granted_account(response.object))


def _refusal(response: Response) -> str:
    """Return what the CRM refuses: the client of this server, by its id or secret, or the authorization.

    HubSpot's status is BAD_CLIENT_SECRET, Salesforce's and Zoho's error a form of invalid_client.
    """
    named = str(response.object.get("error") or response.object.get("status") or "")
    return "client_refused" if "client" in named.lower() else "authorization_ended"
