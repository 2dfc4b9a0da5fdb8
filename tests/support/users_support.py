"""Helpers for tests of authenticated endpoints: a workspace with an account, and its tokens."""

from __future__ import annotations

from dataclasses import dataclass, field

from apiflask import APIFlask
from flask.testing import FlaskClient
from jobs_support import LIFETIME
from werkzeug.test import TestResponse

from app.domain.callers import Scope
from app.engine.accounts import accounts, api_keys, sessions, workspaces
from app.engine.accounts.api_keys import ApiKey
from app.engine.ledger import credits, key_limits
from app.infra import clock
from app.infra.crypto import passwords
from app.infra.database.db import Database
from app.infra.database.session import Session

EMAIL = "ada@acme.example"
PASSWORD = "correct horse battery staple"
CREDITS = 250


@dataclass
class SignedInUser:
    """A test account with an HTTP client that signs in or sends the session token."""

    account_id: str
    workspace_id: str
    database: Database
    client: FlaskClient
    email: str
    session_token: str = field(repr=False)

    @property
    def headers(self) -> dict[str, str]:
        return bearer(self.session_token)

    def sign_in(self, *, address: str = "127.0.0.1", **changes: object) -> TestResponse:
        body = {"email": self.email, "password": PASSWORD} | changes
        return self.client.post("/api/ext/login", json=body, environ_base={"REMOTE_ADDR": address})

    def fails(self, times: int, **changes: object) -> list[int]:
        attempt = {"password": "not the password"} | changes
        return [self.sign_in(**attempt).status_code for _ in range(times)]

    def colleague(self, *, email: str = "bob@acme.example", api_access: bool = True) -> SignedInUser:
        """Create another signed-in account of the same workspace."""
        now = clock.now()
        with self.database.transaction() as session:
            account = accounts.create(
                session,
                self.workspace_id,
                email=email,
                name="Bob",
                password_hash="",
                api_access=api_access,
                now=now,
            )
            _, token = sessions.start(session, account.id, network=b"", lifetime=LIFETIME, now=now)
        return SignedInUser(account.id, self.workspace_id, self.database, self.client, email, token)

    def make_key(self, *scopes: Scope) -> str:
        with self.database.transaction() as session:
            return api_keys.create(
                session,
                self.account_id,
                name="CRM sync",
                scopes=scopes or Scope,
                expires_at=None,
                now=clock.now(),
            )[1]


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def keys_of(session: Session, account_id: str) -> list[ApiKey]:
    """Return the account's keys that are not revoked, newest first."""
    return [limited.key for limited in key_limits.of_account(session, account_id, now=clock.now())]


def create_user(app: APIFlask, *, email: str = EMAIL) -> SignedInUser:
    """Create a workspace with credits and a signed-in account."""
    database: Database = app.extensions["services"].database
    now = clock.now()
    password_hash = passwords.hash_password(PASSWORD)
    with database.transaction() as session:
        workspace = workspaces.create(session, name="Acme", now=now)
        credits.grant(session, workspace.id, CREDITS, reason="test", now=now)
        account = accounts.create(
            session,
            workspace.id,
            email=email,
            name="Ada Lovelace",
            password_hash=password_hash,
            api_access=True,
            now=now,
        )
        _, token = sessions.start(session, account.id, network=b"", lifetime=LIFETIME, now=now)
    return SignedInUser(account.id, workspace.id, database, app.test_client(), email, token)
