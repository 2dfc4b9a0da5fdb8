"""The table of exclusions, whose rows a request with an Idempotency-Key creates."""

from __future__ import annotations

from app.engine.exclusions.exclusions import Exclusion
from app.engine.tables import Tables

TABLES = Tables(created=((Exclusion.__tablename__, "exc"),))
