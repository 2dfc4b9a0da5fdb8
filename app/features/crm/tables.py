"""The tables of CRM connections, of pushes, and of what they wrote."""

from __future__ import annotations

from app.features.crm.connections import CrmConnection
from app.features.crm.pushes import CrmPush, PushItem
from app.features.crm.records import CrmWrittenRecord

__all__ = ("CrmConnection", "CrmPush", "CrmWrittenRecord", "PushItem")
