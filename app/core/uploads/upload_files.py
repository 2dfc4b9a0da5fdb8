"""The encryption of an uploaded file, which is stored until its rows are."""

from __future__ import annotations

from sqlalchemy.orm import Session

from app.infra.encrypted_columns import key_ring
from app.infra.encryption import open_sealed, seal

MARK = b"enc:"
"""The beginning of an encrypted file; a file of an earlier release has another one."""


def encrypted(session: Session, upload_id: str, content: bytes) -> bytes:
    """Return the bytes of a file as they are stored."""
    return MARK + seal(key_ring(session), _context(upload_id), content)


def decrypted(session: Session, upload_id: str, stored: bytes) -> bytes:
    """Return the bytes of a stored file.

    Raises:
        Undecryptable: it was changed, belongs to another upload, or its key is not set.

    """
    if not stored.startswith(MARK):
        return stored
    return open_sealed(key_ring(session), _context(upload_id), stored.removeprefix(MARK))


def _context(upload_id: str) -> str:
    return f"upload_files.content|{upload_id}"
