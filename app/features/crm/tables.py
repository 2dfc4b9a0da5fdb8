"""The tables of CRM connections, of pushes, of what they wrote, of the index of people, and of schedules."""

from __future__ import annotations

from app.engine.tables import Tables
from app.features.crm import properties, records  # noqa: F401 -- their tables are declared by the import
from app.features.crm.connections import CrmConnection
from app.features.crm.index import crm_index, readings  # noqa: F401 -- likewise
from app.features.crm.pushes import CrmPush
from app.features.crm.schedules.tables import CrmSchedule

TABLES = Tables(
    created=(
        (CrmPush.__tablename__, "psh"),
        (CrmConnection.__tablename__, "crm"),
        (CrmSchedule.__tablename__, "crs"),
    )
)
