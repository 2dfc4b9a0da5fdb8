"""The registry of all CRMs by name."""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType

from app.features.crm.settings import access
from app.features.crm.vendors.hubspot.hubspot import HubSpot
from app.features.crm.vendors.pipedrive.pipedrive import Pipedrive
from app.features.crm.vendors.salesforce.salesforce import Salesforce
from app.features.crm.vendors.twenty.twenty import Twenty
from app.features.crm.vendors.vendor import Crm
from app.features.crm.vendors.zoho.zoho import Zoho
from app.settings import Settings

CRMS: tuple[type[Crm], ...] = (
    HubSpot,
    Pipedrive,
    Salesforce,
    Twenty,
    Zoho,
)
"""One line per CRM."""
NAMED = MappingProxyType({crm.name: crm for crm in CRMS})
"""The classes by name, for what does not depend on settings."""


@lru_cache(maxsize=16)
def load(settings: Settings) -> dict[str, Crm]:
    """Create every CRM from its settings, by name."""
    variables = dict(settings.crm_variables)
    return {crm.name: crm(access(variables, crm.name)) for crm in CRMS}
