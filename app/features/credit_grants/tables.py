"""The table of monthly grants, which the ledger declares: a forecast reads it, too."""

from __future__ import annotations

from app.engine.tables import Tables

TABLES = Tables()
