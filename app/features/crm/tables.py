"""The tables of CRM connections, of pushes, and of what they wrote."""

from __future__ import annotations

from app.engine.tables import Tables
from app.features.crm import records  # noqa: F401 -- its table is declared by the import
from app.features.crm.connections import CrmConnection
from app.features.crm.pushes import CrmPush

TABLES = Tables(created=((CrmPush.__tablename__, "psh"), (CrmConnection.__tablename__, "crm")))
