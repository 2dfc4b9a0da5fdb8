"""The keys of the encrypted columns, on the dialect of their database.

SQLAlchemy gives a column type the dialect and nothing else of the database whose values it converts, so the
keys that decrypt them are an attribute of the dialect. What has a session reads `Session.keys`.
"""

from __future__ import annotations

from sqlalchemy import Dialect

from app.infra.crypto.key_ring import KeyRing

_ATTRIBUTE = "key_ring"


def set_ring(dialect: Dialect, ring: KeyRing | None) -> None:
    """Set the keys that decrypt what is read with the dialect."""
    setattr(dialect, _ATTRIBUTE, ring)


def find_ring(dialect: Dialect) -> KeyRing | None:
    """Return the keys of the dialect, or None if its database was opened without."""
    ring: KeyRing | None = getattr(dialect, _ATTRIBUTE, None)
    return ring


def ring_of(dialect: Dialect) -> KeyRing:
    """Return the keys of the dialect."""
    ring = find_ring(dialect)
    if ring is None:
        raise RuntimeError("Open the Database with keys to read or write encrypted columns.")
    return ring
