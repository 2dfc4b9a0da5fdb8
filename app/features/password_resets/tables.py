"""The table of links for new passwords."""

from __future__ import annotations

from app.engine.tables import Tables
from app.features.password_resets import resets  # noqa: F401 -- its table is declared by the import

TABLES = Tables()
