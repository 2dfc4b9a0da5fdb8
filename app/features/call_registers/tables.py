"""The tables of do-not-call registers, which the engine declares."""

from __future__ import annotations

from app.engine.tables import Tables

TABLES = Tables()
