"""The verification of ID tokens (OpenID Connect Core 1.0, 3.1.3.7), with asymmetric signatures only."""

from __future__ import annotations

from typing import Any

from joserfc import jwt
from joserfc.errors import (
    BadSignatureError,
    InvalidKeyCurveError,
    InvalidKeyIdError,
    JoseError,
    KeyParameterError,
)
from joserfc.jwt import JWTClaimsRegistry

from app.features.company_sign_in.openid.documents import MIN_REFRESH_SECONDS, ProviderDocuments

CLOCK_SKEW_SECONDS = 60
MAX_SUBJECT = 255
ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "Ed25519", "EdDSA"),
)
_OF_ANOTHER_KEY = (InvalidKeyIdError, KeyParameterError, InvalidKeyCurveError, BadSignatureError)
"""Errors of a token whose key is not among the known ones: a provider may replace a key under its id, or by
one of another algorithm."""


class SignInInvalid(Exception):  # noqa: N818 -- named after what is wrong
    """The sign-in must not be accepted; the text says why, for the log, without personal data."""


def verify(
    id_token: object, documents: ProviderDocuments, *, issuer: str, client_id: str, nonce: str
) -> dict[str, Any]:
    """Return the claims of the ID token if its signature, issuer, audience, times and nonce are right.

    Raises:
        SignInInvalid: one of them is not.

    """
    if not isinstance(id_token, str):
        raise SignInInvalid("there is no ID token")
    required = JWTClaimsRegistry(
        leeway=CLOCK_SKEW_SECONDS,
        iss={"essential": True, "value": issuer},
        sub={"essential": True},
        aud={"essential": True, "value": client_id},
        exp={"essential": True},
        iat={"essential": True},
        nonce={"essential": True, "value": nonce},
    )
    try:
        claims = _decoded(id_token, documents)
        required.validate(claims)
    except (JoseError, ValueError, TypeError) as error:  # the library trusts the type of `crit`
        claim = getattr(error, "claim", "")
        raise SignInInvalid(f"the ID token is not valid: {type(error).__name__} {claim}".rstrip()) from None
    _check_party(claims, client_id)
    _check_subject(claims["sub"])
    return claims


def _decoded(id_token: str, documents: ProviderDocuments) -> dict[str, Any]:
    """Return the claims if the signature is right; read the keys again if it is not of a known one."""
    try:
        return jwt.decode(id_token, documents.keys(), algorithms=ALGORITHMS).claims
    except _OF_ANOTHER_KEY:
        keys = documents.keys(max_age=MIN_REFRESH_SECONDS)
        return jwt.decode(id_token, keys, algorithms=ALGORITHMS).claims


def _check_party(claims: dict[str, Any], client_id: str) -> None:
    """Raise SignInInvalid if the token was issued to another client, even if this one is an audience."""
    audience = claims["aud"]
    is_only_one = isinstance(audience, str) or len(audience) == 1
    if claims.get("azp", client_id if is_only_one else None) != client_id:
        raise SignInInvalid("the ID token was issued to another client")


def _check_subject(subject: str) -> None:
    """Raise SignInInvalid unless the subject has at most 255 ASCII characters (section 2)."""
    if not (subject.isascii() and subject.isprintable() and len(subject) <= MAX_SUBJECT):
        raise SignInInvalid("the subject of the ID token is not valid")
