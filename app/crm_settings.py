"""Settings of CRMs, in variables named after them: the operator's OAuth client, and another address."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_VARIABLE = re.compile(r"CRM_[A-Z0-9]+_(?:CLIENT_ID|CLIENT_SECRET|BASE_URL)")


@dataclass(frozen=True, slots=True)
class CrmAccess:
    """The operator's settings of a CRM: its OAuth client, and another address of its API."""

    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    base_url: str = ""


def pick(environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the variables that are settings of CRMs, sorted by name."""
    return tuple((name, environment[name]) for name in sorted(filter(_VARIABLE.fullmatch, environment)))


def access(variables: Mapping[str, str], crm: str) -> CrmAccess:
    """Return the settings of a CRM."""
    prefix = f"CRM_{crm.upper()}"
    return CrmAccess(
        client_id=variables.get(f"{prefix}_CLIENT_ID", "").strip(),
        client_secret=variables.get(f"{prefix}_CLIENT_SECRET", "").strip(),
        base_url=variables.get(f"{prefix}_BASE_URL", "").strip(),
    )
