"""The encryption of an uploaded file, which is stored until its rows are."""

from __future__ import annotations

from app.engine.lists.stored_files import StoredFiles
from app.features.uploads.tables import UploadFile

_FILES = StoredFiles(UploadFile, "upload_id")
encrypted = _FILES.encrypted
decrypted = _FILES.decrypted
encrypt_next = _FILES.encrypt_next
is_any_outdated = _FILES.is_any_outdated
