"""The user of a company's OpenID provider, as its verified claims describe them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from app.domain.errors import InvalidValue
from app.domain.normal.emails import normal_email

MAX_NAME = 200
VERIFIED = ("email_verified", "xms_edov")
"""Claims that say that the provider verified the e-mail address; the second is Microsoft's."""


@dataclass(frozen=True, slots=True)
class RoleRules:
    """Which values of a claim make a user an admin or a member; without `claim`, it sets none.

    Everyone else is a member if `member_values` is empty, and has no access otherwise.
    """

    claim: str = ""
    admin_values: tuple[str, ...] = ()
    member_values: tuple[str, ...] = ()

    def access(self, claims: Mapping[str, Any]) -> Literal["admin", "member", "none"] | None:
        """Return the role, `none` for no access, or None if the provider does not set roles."""
        if not self.claim:
            return None
        values = _values(claims, self.claim)
        if values & set(self.admin_values):
            return "admin"
        return "member" if not self.member_values or values & set(self.member_values) else "none"


@dataclass(frozen=True, slots=True)
class CompanyUser:
    """A user, identified by issuer and subject; `email` is normalised, and None unless it is verified."""

    issuer: str
    subject: str
    email: str | None
    name: str
    access: Literal["admin", "member", "none"] | None

    @classmethod
    def from_claims(cls, claims: Mapping[str, Any], rules: RoleRules) -> Self:
        """Return the user that the claims of a verified ID token describe."""
        email = _verified_email(claims)
        name = claims.get("name")
        printable = "".join(filter(str.isprintable, name)) if isinstance(name, str) else ""
        return cls(
            issuer=claims["iss"],
            subject=claims["sub"],
            email=email,
            name=printable.strip()[:MAX_NAME] or (email or "").partition("@")[0],
            access=rules.access(claims),
        )

    @property
    def domain(self) -> str:
        """Return the domain of the verified e-mail address; empty without one."""
        return (self.email or "").rpartition("@")[2]


def _verified_email(claims: Mapping[str, Any]) -> str | None:
    email = claims.get("email")
    if not isinstance(email, str) or not any(_is_true(claims.get(name)) for name in VERIFIED):
        return None
    try:
        return normal_email(email)
    except InvalidValue:
        return None


def _is_true(value: object) -> bool:
    """Return whether the claim is true; some providers send it as text or number."""
    return value in (True, "true", "1")


def _values(claims: Mapping[str, Any], path: str) -> set[str]:
    """Return the values of a claim by its name or, as Keycloak nests them, by a path such as `a.roles`."""
    value: Any = claims.get(path)
    if value is None:
        value = claims
        for name in path.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
    values = value if isinstance(value, list) else [value]
    return {text for text in values if isinstance(text, str)}
