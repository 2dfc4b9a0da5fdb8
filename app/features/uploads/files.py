"""The encryption of an uploaded file, which is stored until its rows are."""

from __future__ import annotations

from sqlalchemy import ColumnElement, LargeBinary, func, literal, select

from app.features.uploads.tables import UploadFile
from app.infra.crypto.encryption import open_sealed, seal
from app.infra.database.session import Session


def encrypted(session: Session, upload_id: str, content: bytes) -> bytes:
    """Return the bytes of a file as they are stored."""
    return seal(session.keys.ring, _context(upload_id), content)


def decrypted(session: Session, upload_id: str, stored: bytes) -> bytes:
    """Return the bytes of a stored file."""
    return open_sealed(session.keys.ring, _context(upload_id), stored)


def encrypt_next(session: Session) -> bool:
    """Encrypt a file that is not under the current key; return whether there was one.

    A file that another transaction locks, probably to delete it, is left for the next call.
    """
    query = select(UploadFile).where(_is_outdated(session)).limit(1)
    file = session.scalar(query.with_for_update(skip_locked=True))
    if file is None:
        return False
    file.content = encrypted(session, file.upload_id, decrypted(session, file.upload_id, file.content))
    session.flush()
    session.expunge(file)
    return True


def is_any_outdated(session: Session) -> bool:
    """Return whether a file is not under the current key, also one that another transaction locks."""
    return session.scalar(select(UploadFile.upload_id).where(_is_outdated(session)).limit(1)) is not None


def _is_outdated(session: Session) -> ColumnElement[bool]:
    key_id = bytes((session.keys.ring.current_id,))
    return func.substr(UploadFile.content, 1, 1) != literal(key_id, LargeBinary())


def _context(upload_id: str) -> str:
    return f"upload_files.content|{upload_id}"
