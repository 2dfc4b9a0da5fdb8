"""Authorizations by OAuth 2.0 with PKCE (RFC 6749, 4.1; RFC 7636): an admin agrees in the browser.

The state is bound to the connection and to the session of the admin who began, so that nobody else can
connect the workspace to another CRM account. The code is stored; a worker exchanges it for tokens.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from dataclasses import replace
from urllib.parse import urlencode

from app.domain.errors import NotFound
from app.domain.ids import is_id
from app.domain.messages import Message
from app.features.crm import connections
from app.features.crm.connections import Credentials, CrmConnection
from app.features.crm.vendors.vendor import Crm, OAuth
from app.infra.crypto.encryption import Undecryptable
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session


def begin(
    session: Session, connection: CrmConnection, crm: Crm, *, session_id: str, redirect_uri: str
) -> str:
    """Store the secrets of a new authorization, and return the URL at which the admin agrees to it."""
    oauth = crm.oauth
    if oauth is None or not crm.offers_oauth:
        raise NotFound(
            Message(
                "{title} cannot be connected this way: ask the operator to register a client.",
                title=crm.title,
            )
        )
    verifier = secrets.token_urlsafe(48)
    state = f"{connection.id}.{secrets.token_urlsafe(24)}"
    pending = replace(
        _credentials(session, connection),  # they stay in use if the admin does not agree
        verifier=verifier,
        redirect_uri=redirect_uri,
        state=f"{state}.{session_id}",
    )
    connections.begin_authorization(session, connection, pending)
    return _url(oauth, crm.access.client_id, redirect_uri, state, verifier)


def complete(
    session: Session, workspace_id: str, *, state: str, code: str, session_id: str, now: Moment
) -> CrmConnection:
    """Store the code with which the CRM sent the admin back; a worker exchanges it.

    Raises:
        NotFound: this session has begun no such authorization, or it was completed already.

    """
    connection_id = state.partition(".")[0]
    refused = NotFound("This authorization was not begun in this session, or has ended. Connect again.")
    if not is_id(connection_id, "crm"):
        raise refused
    connection = connections.get(session, workspace_id, connection_id, lock=True)
    pending = _credentials(session, connection)
    is_same = hmac.compare_digest(pending.state.encode(), f"{state}.{session_id}".encode())
    if not is_same:
        raise refused
    granted = Credentials(code=code, verifier=pending.verifier, redirect_uri=pending.redirect_uri)
    connections.replace_credentials(session, connection, granted, now=now)
    return connection


def _credentials(session: Session, connection: CrmConnection) -> Credentials:
    """Return the stored credentials; none if their encryption key is lost."""
    try:
        return connections.decrypted(session, connection)
    except Undecryptable:
        return Credentials()


def _url(oauth: OAuth, client_id: str, redirect_uri: str, state: str, verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    query = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": redirect_uri,
        **({"scope": " ".join(oauth.scopes)} if oauth.scopes else {}),
        "state": state,
        "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
        **oauth.parameters,
    }
    return f"{oauth.authorize_url}?{urlencode(query)}"
