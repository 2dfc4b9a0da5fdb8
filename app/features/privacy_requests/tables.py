"""The tables of codes and of proofs."""

from __future__ import annotations

from app.engine.tables import Tables
from app.features.privacy_requests import mailbox_proofs  # noqa: F401 -- its tables are declared by the import

TABLES = Tables()
