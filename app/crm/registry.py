"""The registry of all CRMs by name."""

from __future__ import annotations

from functools import lru_cache

from app.crm.hubspot import HubSpot
from app.crm.salesforce import Salesforce
from app.crm.twenty import Twenty
from app.crm.vendor import Crm
from app.settings import Settings

CRMS: tuple[type[Crm], ...] = (
    HubSpot,
    Salesforce,
    Twenty,
)
"""One line per CRM."""


@lru_cache(maxsize=16)
def load(settings: Settings) -> dict[str, Crm]:
    """Create every CRM from its settings, by name."""
    return {crm.name: crm(settings.crm_access(crm.name)) for crm in CRMS}
