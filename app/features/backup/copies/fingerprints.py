"""Fingerprints of the keys that a database depends on, which are kept apart from its backups."""

from __future__ import annotations

import hashlib

from app.settings import Settings

_PURPOSE = b"contact-lookup key fingerprint\0"
_DIGITS = 16


def fingerprints(settings: Settings) -> dict[str, str]:
    """Return a fingerprint for each key of the settings, by its name."""
    keys = {
        "SECRET_KEY": settings.secret_key.encode(),
        "SUPPRESSION_KEY": settings.suppression_key.encode(),
        **{f"ENCRYPTION_KEYS {key_id}": key for key_id, key in settings.encryption_keys},
    }
    return {name: _fingerprint(name, key) for name, key in keys.items()}


def missing(backup: dict[str, str], current: dict[str, str]) -> list[str]:
    """Return the names of the keys that a backup needs and the settings do not have."""
    return [name for name, fingerprint in backup.items() if current.get(name) != fingerprint]


def _fingerprint(name: str, key: bytes) -> str:
    return hashlib.sha256(_PURPOSE + name.encode() + b"\0" + key).hexdigest()[:_DIGITS]
