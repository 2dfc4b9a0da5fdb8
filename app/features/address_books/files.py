"""The encryption of a sent file, which is stored until its people are."""

from __future__ import annotations

from app.engine.lists.stored_files import StoredFiles
from app.features.address_books.tables import AddressBookFile

FILES = StoredFiles(AddressBookFile, "book_id")
