"""What the service says of itself: configuration, resource types and schemas (RFC 7643, 5 to 7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.features.scim import groups, users
from app.features.scim.resource_types import ResourceType

TYPES: Mapping[str, ResourceType[Any]] = {"Users": users.TYPE, "Groups": groups.TYPE}
"""The types of resources, by their endpoints."""
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


def schemas(base: str) -> list[dict[str, Any]]:
    """Return the schemas of all types."""
    return [
        {
            "schemas": [f"{_CORE}Schema"],
            "id": kind.urn,
            "name": kind.name,
            "description": kind.name,
            "attributes": kind.attributes,
            "meta": {"resourceType": "Schema", "location": f"{base}/Schemas/{kind.urn}"},
        }
        for kind in TYPES.values()
    ]


def resource_types(base: str) -> list[dict[str, Any]]:
    """Return the types of resources."""
    return [
        {
            "schemas": [f"{_CORE}ResourceType"],
            "id": kind.name,
            "name": kind.name,
            "endpoint": f"/{endpoint}",
            "description": kind.name,
            "schema": kind.urn,
            "schemaExtensions": [],
            "meta": {"resourceType": "ResourceType", "location": f"{base}/ResourceTypes/{kind.name}"},
        }
        for endpoint, kind in TYPES.items()
    ]


def config(base: str) -> dict[str, Any]:
    """Return what the service supports."""
    meta = {"resourceType": "ServiceProviderConfig", "location": f"{base}/ServiceProviderConfig"}
    return {**CONFIG, "meta": meta}
