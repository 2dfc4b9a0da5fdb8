"""What the service says of itself: configuration, resource types and schemas (RFC 7643, 5 to 7)."""

from __future__ import annotations

from typing import Any

from app.features.scim.groups import GROUP
from app.features.scim.users import USER

MAX_RESULTS = 200
_CORE = "urn:ietf:params:scim:schemas:core:2.0:"
CONFIG: dict[str, Any] = {
    "schemas": [f"{_CORE}ServiceProviderConfig"],
    "patch": {"supported": True},
    "bulk": {"supported": False, "maxOperations": 0, "maxPayloadSize": 0},
    "filter": {"supported": True, "maxResults": MAX_RESULTS},
    "changePassword": {"supported": False},
    "sort": {"supported": False},
    "etag": {"supported": False},
    "authenticationSchemes": [
        {
            "type": "oauthbearertoken",
            "name": "Bearer token",
            "description": "The token of the workspace, made by an admin on the page Provisioning.",
            "specUri": "https://www.rfc-editor.org/info/rfc6750",
            "primary": True,
        }
    ],
}


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


_EXTERNAL_ID = _attribute("externalId", caseExact=True)
_USER_ATTRIBUTES = [
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
_GROUP_ATTRIBUTES = [
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


def schemas(base: str) -> list[dict[str, Any]]:
    """Return the schemas of users and groups."""
    described = ((USER, "User", _USER_ATTRIBUTES), (GROUP, "Group", _GROUP_ATTRIBUTES))
    return [
        {
            "schemas": [f"{_CORE}Schema"],
            "id": urn,
            "name": name,
            "description": name,
            "attributes": attributes,
            "meta": {"resourceType": "Schema", "location": f"{base}/Schemas/{urn}"},
        }
        for urn, name, attributes in described
    ]


def resource_types(base: str) -> list[dict[str, Any]]:
    """Return the resource types of users and groups."""
    return [
        {
            "schemas": [f"{_CORE}ResourceType"],
            "id": name,
            "name": name,
            "endpoint": endpoint,
            "description": name,
            "schema": urn,
            "schemaExtensions": [],
            "meta": {"resourceType": "ResourceType", "location": f"{base}/ResourceTypes/{name}"},
        }
        for name, endpoint, urn in (("User", "/Users", USER), ("Group", "/Groups", GROUP))
    ]


def config(base: str) -> dict[str, Any]:
    """Return what the service supports."""
    meta = {"resourceType": "ServiceProviderConfig", "location": f"{base}/ServiceProviderConfig"}
    return {**CONFIG, "meta": meta}
