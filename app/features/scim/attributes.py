"""The attributes of users and groups, as the schemas describe them (RFC 7643, section 7)."""

from __future__ import annotations

from typing import Any


def _attribute(
    name: str, kind: str = "string", *, subs: list[dict[str, Any]] | None = None, **changes: Any
) -> dict[str, Any]:
    described = {
        "name": name,
        "type": kind,
        "multiValued": False,
        "description": name,
        "required": False,
        "mutability": "readWrite",
        "returned": "default",
    }
    if kind in {"string", "reference"}:
        described |= {"caseExact": False, "uniqueness": "none"}
    return described | changes | ({} if subs is None else {"subAttributes": subs})


USER_ATTRIBUTES = [
    _attribute("userName", required=True, uniqueness="server", description="The name at the provider."),
    _attribute("displayName", description="The full name that is shown."),
    _attribute(
        "name",
        "complex",
        subs=[_attribute("formatted"), _attribute("familyName"), _attribute("givenName")],
        description="The parts of the name.",
    ),
    _attribute(
        "emails",
        "complex",
        multiValued=True,
        required=True,
        subs=[_attribute("value", required=True), _attribute("type"), _attribute("primary", "boolean")],
        description="The person signs in with the primary one, or that of work, or the userName.",
    ),
    _attribute("preferredLanguage", description="Of the pages and mails, as in Accept-Language."),
    _attribute(
        "active", "boolean", required=True, description="False ends all sessions and API keys at once."
    ),
    _attribute(
        "groups",
        "complex",
        multiValued=True,
        mutability="readOnly",
        subs=[_attribute("value", mutability="readOnly"), _attribute("display", mutability="readOnly")],
        description="The groups of the user.",
    ),
]
GROUP_ATTRIBUTES = [
    _attribute("displayName", required=True, uniqueness="server", description="The name of the group."),
    _attribute(
        "members",
        "complex",
        multiValued=True,
        subs=[
            _attribute("value", mutability="immutable"),
            _attribute("$ref", "reference", mutability="immutable", referenceTypes=["User"]),
            _attribute("type", mutability="immutable", canonicalValues=["User"]),
        ],
        description="The users in the group.",
    ),
]
