"""The client of an OpenID provider: authorization code flow with PKCE (OpenID Connect Core 1.0, RFC 7636)."""

from __future__ import annotations

import base64
import hashlib
import secrets
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import quote, urlencode

from app.features.company_sign_in.openid import id_tokens
from app.features.company_sign_in.openid.documents import ProviderDocuments
from app.features.company_sign_in.openid.id_tokens import SignInInvalid
from app.features.company_sign_in.openid.json_client import OK, SERVER_ERROR, JsonClient, ProviderUnreachable

SCOPE = "openid email profile"


@dataclass(frozen=True, slots=True)
class Client:
    """The service as the provider knows it; a public client has no secret."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Attempt:
    """The secrets of one sign-in, which only the browser that started it can finish."""

    state: str = field(repr=False)
    nonce: str = field(repr=False)
    verifier: str = field(repr=False)

    @classmethod
    def new(cls) -> Attempt:
        """Return new random secrets."""
        return cls(secrets.token_urlsafe(32), secrets.token_urlsafe(32), secrets.token_urlsafe(48))

    @property
    def challenge(self) -> str:
        """Return the code challenge of the method S256."""
        return base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()


class OpenIdProvider:
    """An OpenID provider; one object serves all threads of a process."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._http = JsonClient()
        self._documents = ProviderDocuments(client.issuer, self._http)

    def authorization_url(self, attempt: Attempt, redirect_uri: str) -> str:
        """Return the address to which the browser is sent.

        Raises:
            ProviderUnreachable: the provider's metadata cannot be read.

        """
        query = {
            "response_type": "code",
            "client_id": self._client.client_id,
            "redirect_uri": redirect_uri,
            "scope": SCOPE,
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": attempt.challenge,
            "code_challenge_method": "S256",
        }
        endpoint: str = self._documents.metadata()["authorization_endpoint"]
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}"

    def check_issuer(self, issuer: str | None) -> None:
        """Check the parameter `iss` of the authorization response, against mixed-up providers (RFC 9207).

        Raises:
            SignInInvalid: it names another provider, or is missing although this one always sends it.
            ProviderUnreachable: the provider's metadata cannot be read.

        """
        is_sent = self._documents.metadata().get("authorization_response_iss_parameter_supported") is True
        if issuer != self._client.issuer and (issuer is not None or is_sent):
            raise SignInInvalid("the response is from another issuer")

    def claims(self, code: str, attempt: Attempt, redirect_uri: str) -> dict[str, Any]:
        """Exchange the code, and return the verified claims of the user.

        Raises:
            SignInInvalid: the provider refused the code, or the ID token is not valid.
            ProviderUnreachable: the provider did not answer.

        """
        tokens = self._exchange(code, attempt.verifier, redirect_uri)
        client = self._client
        claims = id_tokens.verify(
            tokens.get("id_token"),
            self._documents,
            issuer=client.issuer,
            client_id=client.client_id,
            nonce=attempt.nonce,
        )
        return self._with_user_info(claims, tokens.get("access_token"))

    def _exchange(self, code: str, verifier: str, redirect_uri: str) -> dict[str, Any]:
        credentials, headers = self._credentials()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
            **credentials,
        }
        response = self._http.post(self._documents.metadata()["token_endpoint"], form, headers)
        if response.status >= SERVER_ERROR:
            raise ProviderUnreachable("token endpoint")
        if response.status != OK:
            reason = str(response.body.get("error", ""))[:40]
            raise SignInInvalid(f"the token endpoint answered {response.status} {reason}")
        return response.body

    def _credentials(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return what authenticates this client, as form fields and headers (RFC 6749, section 2.3.1)."""
        client = self._client
        methods = self._documents.metadata().get("token_endpoint_auth_methods_supported")
        takes_basic = not isinstance(methods, list) or not methods or "client_secret_basic" in methods
        if client.client_secret and takes_basic:
            pair = f"{quote(client.client_id, safe='')}:{quote(client.client_secret, safe='')}"
            return {}, {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
        secret = {"client_secret": client.client_secret} if client.client_secret else {}
        return {"client_id": client.client_id, **secret}, {}

    def _with_user_info(self, claims: dict[str, Any], access_token: object) -> dict[str, Any]:
        """Add what the ID token lacks from the userinfo endpoint: some providers keep ID tokens short."""
        endpoint = self._documents.metadata().get("userinfo_endpoint")
        if "email" in claims or not isinstance(endpoint, str) or not isinstance(access_token, str):
            return claims
        response = self._http.get(endpoint, token=access_token)
        if response.status != OK or response.body.get("sub") != claims["sub"]:  # section 5.3.2
            raise SignInInvalid("the userinfo endpoint describes another user")
        return response.body | claims


@cache
def provider(client: Client) -> OpenIdProvider:
    """Return the provider of these settings, shared by all requests of the process."""
    return OpenIdProvider(client)
