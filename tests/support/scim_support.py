"""A workspace whose accounts an identity provider manages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from apiflask import APIFlask
from flask.testing import FlaskClient
from sqlalchemy import update
from users_support import SignedInUser, bearer, create_user
from werkzeug.test import TestResponse

from app.engine.accounts.accounts import Account, Role
from app.features.scim import tokens
from app.infra import clock

PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"


@dataclass
class IdentityProvider:
    """Calls SCIM with the token of the admin's workspace."""

    admin: SignedInUser
    token: str
    client: FlaskClient

    @classmethod
    def of(cls, app: APIFlask) -> IdentityProvider:
        admin = create_user(app)
        with admin.database.transaction() as session:
            session.execute(update(Account).values(role=Role.ADMIN.value))
            made = tokens.rotate(session, admin.workspace_id, now=clock.now())
        return cls(admin, made.text, app.test_client())

    def call(self, method: str, path: str, body: Any = None, **query: str) -> TestResponse:
        return self.client.open(
            f"/scim/v2{path}",
            method=method,
            json=body,
            query_string=query,
            headers=bearer(self.token) | ({"Content-Type": "application/scim+json"} if body else {}),
        )

    def create(self, email: str = "bob@acme.example", **values: Any) -> Any:
        response = self.call("POST", "/Users", {"userName": email} | values)
        assert response.status_code == 201, response.text
        return response.get_json(force=True)

    def patch(self, path: str, *operations: dict[str, Any]) -> TestResponse:
        return self.call("PATCH", path, {"schemas": [PATCH], "Operations": list(operations)})

    def group(self, name: str, *members: str) -> Any:
        body = {"displayName": name, "members": [{"value": member} for member in members]}
        response = self.call("POST", "/Groups", body)
        assert response.status_code == 201, response.text
        return response.get_json(force=True)

    def account(self, account_id: str) -> Account:
        with self.admin.database.reading() as session:
            found = session.get_one(Account, account_id)
            session.expunge(found)
            return found
