"""Files that are not CSV, by how they begin, and what to do with each."""

from __future__ import annotations

import re

from app.domain.errors import InvalidValue
from app.domain.messages import Message

_SAVE_AS = Message("Open it in a spreadsheet program and save it as XLSX or CSV (UTF-8).")
_EXPORT = Message("Export the list as CSV from its source.")
_UNPACK = Message("Unpack it, and send the list in it.")
_BY_BYTES = (
    (
        b"\xd0\xcf\x11\xe0",
        Message("This is an old (xls) or password-protected Excel file. {advice}", advice=_SAVE_AS),
    ),
    (b"%PDF", Message("This is a PDF, not CSV. {advice}", advice=_EXPORT)),
    (b"\x1f\x8b", Message("This file is compressed (gzip). Decompress it first.")),
    (b"BZh", Message("This is a compressed archive. {advice}", advice=_UNPACK)),
    (b"\xfd7zXZ", Message("This is a compressed archive. {advice}", advice=_UNPACK)),
    (b"7z\xbc\xaf", Message("This is a compressed archive. {advice}", advice=_UNPACK)),
    (b"Rar!", Message("This is a compressed archive. {advice}", advice=_UNPACK)),
    (b"SQLite format 3", Message("This is a database, not CSV. Export its table as CSV.")),
    (b"!BDN", Message("This is an Outlook data file (pst). Export the contacts as CSV from Outlook.")),
    (b"PAR1", Message("This is a Parquet file. Export its table as CSV.")),
    (b"{\\rtf", Message("This is a document (RTF), not CSV. {advice}", advice=_SAVE_AS)),
    (b"\x89PNG", Message("This is a picture, not CSV. {advice}", advice=_EXPORT)),
    (b"\xff\xd8\xff", Message("This is a picture, not CSV. {advice}", advice=_EXPORT)),
)
_VCARD = Message(
    "These are contact cards (vCard), not CSV. Export the contacts as CSV: in Google Contacts by Export and "
    "Google CSV, in Outlook by Export to a file."
)
_MARKUP = Message("This is a web page or XML, not CSV. {advice}", advice=_EXPORT)
_DIRECTORY = Message("This is a directory (LDIF), not CSV. {advice}", advice=_EXPORT)
_BY_TEXT = (
    (re.compile(r"<(?:!doctype|html|\?xml|table|workbook)"), _MARKUP),
    (re.compile(r"[\[{]\s*[\[{\"]"), Message("This is JSON, not CSV. {advice}", advice=_EXPORT)),
    (re.compile(r"begin:vcard"), _VCARD),
    (re.compile(r"begin:vcalendar"), Message("This is a calendar, not CSV. {advice}", advice=_EXPORT)),
    (re.compile(r"(?:version: 1\s+)?dn:{1,2} "), _DIRECTORY),
)
_BEGINNING = 200  # bytes
_INVISIBLE = "\ufeff\0 \r\n\t"


def refuse_other_formats(head: bytes) -> None:
    """Raise InvalidValue if a file that begins with these bytes is not CSV; the message says what to do."""
    for magic, message in _BY_BYTES:
        if head.startswith(magic):
            raise InvalidValue(message)
    text = head[:_BEGINNING].decode("utf-8", errors="ignore").replace("\0", "").lstrip(_INVISIBLE).lower()
    for pattern, message in _BY_TEXT:
        if pattern.match(text):
            raise InvalidValue(message)
