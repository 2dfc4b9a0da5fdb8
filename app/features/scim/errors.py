"""The errors of SCIM (RFC 7644, section 3.12)."""

from __future__ import annotations

from typing import Any, Literal

ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"
ScimType = Literal[
    "invalidFilter", "invalidPath", "invalidSyntax", "invalidValue", "mutability", "noTarget", "uniqueness"
]


class ScimError(Exception):
    """An error response, with its status and, if the RFC has one, its type."""

    def __init__(self, status: int, detail: str, scim_type: ScimType | None = None) -> None:
        """Store what the response says."""
        self.status, self.detail, self.scim_type = status, detail, scim_type
        super().__init__(detail)

    def as_dict(self) -> dict[str, Any]:
        """Return the body; the status is a text, as the RFC has it."""
        kind = {} if self.scim_type is None else {"scimType": self.scim_type}
        return {"schemas": [ERROR], "status": str(self.status), **kind, "detail": self.detail}


def invalid(detail: str) -> ScimError:
    """Return the error for a value that is missing or wrong."""
    return ScimError(400, detail, "invalidValue")
