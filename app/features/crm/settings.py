"""Settings of CRMs, in variables named after them: the operator's OAuth client, and another address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class CrmAccess:
    """The operator's settings of a CRM: its OAuth client, and another address of its API."""

    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    base_url: str = ""


def access(variables: Mapping[str, str], crm: str) -> CrmAccess:
    """Return the settings of a CRM."""
    prefix = f"CRM_{crm.upper()}"
    return CrmAccess(
        client_id=variables.get(f"{prefix}_CLIENT_ID", "").strip(),
        client_secret=variables.get(f"{prefix}_CLIENT_SECRET", "").strip(),
        base_url=variables.get(f"{prefix}_BASE_URL", "").strip(),
    )
