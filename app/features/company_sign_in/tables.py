"""The tables of company accounts and of the codes of the extension."""

from __future__ import annotations

from app.engine.tables import Tables
from app.features.company_sign_in import codes, identities  # noqa: F401 -- their tables are declared by the import

TABLES = Tables()
