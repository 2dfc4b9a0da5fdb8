from __future__ import annotations

import pytest

from app.features.uploads import files
from app.infra.crypto.encryption import Undecryptable
from app.infra.database.session import Session


def test_a_stored_file_is_read_back_for_its_upload_only(session: Session) -> None:
    stored = files.encrypted(session, "upl_1", b"name,email")

    assert b"email" not in stored
    assert files.decrypted(session, "upl_1", stored) == b"name,email"
    with pytest.raises(Undecryptable):
        files.decrypted(session, "upl_2", stored)


def test_a_plain_file_is_refused(session: Session) -> None:
    with pytest.raises(Undecryptable):
        files.decrypted(session, "upl_1", b"name,email")
