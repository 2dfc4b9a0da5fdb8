"""An OpenID provider on loopback that insists on PKCE, and signs whatever ID token a test wants."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jws
from joserfc.jwk import ECKey, RSAKey
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

CLIENT_ID = "contact-lookup"
TIMES = {"exp", "iat", "nbf"}
CLIENT_SECRET = "a secret: of the client"


@dataclass
class FakeOpenIdProvider:
    """The provider; `sign` makes the ID token of the given claims, `profile` is what it knows of the user."""

    server: HTTPServer
    issuer: str
    key: RSAKey | ECKey = field(default_factory=cache(lambda: RSAKey.generate_key(2048, auto_kid=True)))
    profile: dict[str, Any] = field(
        default_factory=lambda: {
            "sub": "sub-ada",
            "email": "ada@acme.example",
            "email_verified": True,
            "name": "Ada Lovelace",
        }
    )
    claims: dict[str, Any] = field(default_factory=dict)
    """What differs from the right claims: None for a missing one; times in seconds from now."""
    metadata: dict[str, Any] = field(default_factory=dict)
    user_info: dict[str, Any] = field(default_factory=dict)
    grants: dict[str, dict[str, str]] = field(default_factory=dict)
    names_keys: bool = True
    keys_path: str = "/keys"
    key_requests: int = 0
    sign: Callable[[dict[str, Any]], str] = field(init=False)

    def __post_init__(self) -> None:
        self.sign = self.signed
        path = urlsplit(self.issuer).path
        for name, handler in (
            ("/.well-known/openid-configuration", self._metadata),
            ("/keys", self._keys),
            ("/moved-keys", self._keys),
            ("/token", self._token),
            ("/userinfo", lambda _request: _json(self.user_info)),
        ):
            self.server.expect_request(path + name).respond_with_handler(handler)

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "oidc_issuer": self.issuer,
            "oidc_client_id": CLIENT_ID,
            "oidc_client_secret": CLIENT_SECRET,
        }

    def approve(self, authorization_url: str) -> str:
        """Sign the user in, and return the path and query to which the browser is sent back."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(authorization_url).query).items()}
        assert query["response_type"] == "code"
        assert query["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(16)
        self.grants[code] = query
        back = urlsplit(query["redirect_uri"])
        return f"{back.path}?{urlencode({'code': code, 'state': query['state']})}"

    def signed(self, claims: dict[str, Any]) -> str:
        """Return a token that is signed as it should be."""
        header = {"alg": "RS256" if isinstance(self.key, RSAKey) else "ES256"}
        if self.names_keys:
            header["kid"] = str(self.key.kid)
        return jws.serialize_compact(header, json.dumps(claims), self.key)  # jwt takes no lone surrogates

    def rotate_key(self) -> None:
        self.key = RSAKey.generate_key(2048, auto_kid=True)

    def replace_key(self) -> None:
        """Use another key under the same id."""
        self.key = RSAKey.generate_key(2048, {"kid": str(self.key.kid)})

    def replace_algorithm(self) -> None:
        """Use a key of another algorithm under the same id."""
        self.key = ECKey.generate_key("P-256", {"kid": str(self.key.kid)})

    def move_keys(self) -> None:
        """Rotate the key, and publish it at another address."""
        self.rotate_key()
        self.keys_path = "/moved-keys"

    def _metadata(self, _request: Request) -> Response:
        return _json(
            {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": self.issuer + self.keys_path,
                "userinfo_endpoint": f"{self.issuer}/userinfo",
            }
            | self.metadata
        )

    def _keys(self, request: Request) -> Response:
        self.key_requests += 1
        if not request.path.endswith(self.keys_path):
            return _json({}, 404)
        key = self.key.as_dict(private=False) | {"use": "sig"}
        if not self.names_keys:
            del key["kid"]
        return _json({"keys": [key]})

    def _token(self, request: Request) -> Response:
        grant = self.grants.pop(request.form["code"], None)
        verifier = request.form.get("code_verifier", "")
        digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        if grant is None or grant["code_challenge"] != digest:
            return _json({"error": "invalid_grant"}, 400)
        if request.form["redirect_uri"] != grant["redirect_uri"] or not _is_client(request):
            return _json({"error": "invalid_client"}, 401)
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 300,
            "nonce": grant["nonce"],
            **self.profile,
            **self.claims,
        }
        for name in TIMES & self.claims.keys():
            claims[name] = self.claims[name] + now if isinstance(self.claims[name], int) else claims[name]
        id_token = self.sign({name: value for name, value in claims.items() if value is not None})
        return _json({"access_token": "an access token", "token_type": "Bearer", "id_token": id_token})


def _is_client(request: Request) -> bool:
    """Return whether the client authenticated itself, with form-encoded id and secret (RFC 6749, 2.3.1)."""
    expected = base64.b64encode(f"{CLIENT_ID}:a%20secret%3A%20of%20the%20client".encode()).decode()
    return request.headers.get("Authorization") == f"Basic {expected}"


def _json(body: dict[str, Any], status: int = 200) -> Response:
    return Response(json.dumps(body), status, content_type="application/json")
