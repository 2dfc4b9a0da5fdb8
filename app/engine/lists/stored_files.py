"""Files of workspaces that are stored, encrypted, until workers have read them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, LargeBinary, func, literal, select

from app.infra.crypto.encryption import open_sealed, seal
from app.infra.database.db import Base
from app.infra.database.session import Session


class StoredFiles:
    """The encryption of the column `content` of a table; `key` is the name of its primary key."""

    def __init__(self, table: type[Base], key: str) -> None:
        self._table: Any = table
        self._key = key

    def encrypted(self, session: Session, key: str, content: bytes) -> bytes:
        """Return the bytes of a file as they are stored."""
        return seal(session.keys.ring, self._context(key), content)

    def decrypted(self, session: Session, key: str, stored: bytes) -> bytes:
        """Return the bytes of a stored file."""
        return open_sealed(session.keys.ring, self._context(key), stored)

    def encrypt_next(self, session: Session) -> bool:
        """Encrypt a file that is not under the current key; return whether there was one.

        A file that another transaction locks, probably to delete it, is left for the next call.
        """
        query = select(self._table).where(self._is_outdated(session)).limit(1)
        file = session.scalar(query.with_for_update(skip_locked=True))
        if file is None:
            return False
        key = getattr(file, self._key)
        file.content = self.encrypted(session, key, self.decrypted(session, key, file.content))
        session.flush()
        session.expunge(file)
        return True

    def is_any_outdated(self, session: Session) -> bool:
        """Return whether a file is not under the current key, also one that another transaction locks."""
        query = select(getattr(self._table, self._key)).where(self._is_outdated(session))
        return session.scalar(query.limit(1)) is not None

    def _is_outdated(self, session: Session) -> ColumnElement[bool]:
        key_id = bytes((session.keys.ring.current_id,))
        return func.substr(self._table.content, 1, 1) != literal(key_id, LargeBinary())

    def _context(self, key: str) -> str:
        return f"{self._table.__tablename__}.content|{key}"
