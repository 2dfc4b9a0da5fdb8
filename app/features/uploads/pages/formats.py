"""How an uploaded file is read: the choices of the form, and what the page says about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.domain.messages import Message

ENCODINGS = [
    ("", Message("Detect it")),
    ("utf-8", "Unicode (UTF-8)"),
    ("cp1252", "Western European (Windows-1252)"),
    ("cp1250", "Central European (Windows-1250)"),
    ("cp1251", "Cyrillic (Windows-1251)"),
    ("koi8_u", "Cyrillic (KOI8-U)"),
    ("cp1253", "Greek (Windows-1253)"),
    ("cp1254", "Turkish (Windows-1254)"),
    ("cp1255", "Hebrew (Windows-1255)"),
    ("cp1256", "Arabic (Windows-1256)"),
    ("cp1257", "Baltic (Windows-1257)"),
    ("cp874", "Thai (Windows-874)"),
    ("cp932", "Japanese (Shift JIS)"),
    ("euc_jp", "Japanese (EUC)"),
    ("gb18030", "Chinese, simplified (GB18030)"),
    ("big5hkscs", "Chinese, traditional (Big5)"),
    ("cp949", "Korean (Windows-949)"),
    ("iso8859_2", "Central European (ISO 8859-2)"),
    ("iso8859_5", "Cyrillic (ISO 8859-5)"),
    ("mac_roman", "Western European (Mac)"),
    ("cp850", "Western European (DOS)"),
    ("cp852", "Central European (DOS)"),
    ("cp866", "Cyrillic (DOS)"),
    ("utf-16", "Unicode (UTF-16)"),
    ("iso2022_jp", "Japanese (ISO 2022)"),
]
SEPARATORS = [
    ("", Message("Detect it")),
    (",", Message("Comma")),
    (";", Message("Semicolon")),
    ("tab", Message("Tab")),
    ("|", Message("Bar")),
]
HEADERS = [
    ("", Message("Detect it")),
    ("true", Message("The list has a header")),
    ("false", Message("The list has no header")),
]


_BETWEEN = {
    ",": Message("commas"),
    ";": Message("semicolons"),
    "\t": Message("tabs"),
    "|": Message("bars"),
}
_UNSOLVED = Message(
    "The results of some formulas are not stored in the workbook, so their cells were read as empty. Open it "
    "in a spreadsheet program, save it, and upload it again."
)
_AGAIN = Message("Delete this upload and upload the file again if that is wrong; say how to read it there.")


def notes(table_format: Mapping[str, Any] | None) -> list[Message]:
    """Return the sentences about how a file was read; none before it is read, and for a workbook's header."""
    if not table_format:
        return []
    sentences = []
    if between := _BETWEEN.get(table_format["delimiter"] or ""):
        sentences.append(
            Message(
                "The file was read as {encoding}, with {separators} between the cells.",
                encoding=_named(table_format["encoding"]),
                separators=between,
            )
        )
    if sheet := table_format.get("sheet"):
        sentences += [Message("The sheet “{sheet}” was read.", sheet=sheet)]
        sentences += _unread(table_format["unread_sheets"])
    if table_format.get("unsolved_formulas"):
        sentences.append(_UNSOLVED)
    if table_format["is_guessed"]:
        sentences.append(Message("The encoding was chosen by the words that the file contains."))
        if other := table_format["other_encoding"]:
            sentences.append(Message("It may be {encoding} instead.", encoding=_named(other)))
    if not table_format["has_header"]:
        sentences.append(Message("The list was read without a header; what the columns contain is guessed."))
    if table_format["is_guessed"] or not table_format["has_header"]:
        sentences.append(_AGAIN)
    if country := table_format.get("phones_read_as"):
        sentences.append(
            Message(
                "Phone numbers without a country code were read as numbers of {country}, as most of the "
                "list, unless their row names another country. Name the country below if that is wrong.",
                country=country,
            )
        )
    return sentences


def _unread(sheets: Sequence[str]) -> list[Message]:
    """Return which other sheets look like lists: nobody would miss their rows before the result."""
    names = ", ".join(f"“{name}”" for name in sheets)
    sentence = Message(
        "These look like lists, too, and were not read: {names}. Upload each as a file of its own.",
        names=names,
    )
    return [sentence] if sheets else []


def _named(encoding: str) -> str:
    """Return the name of an encoding for people."""
    return dict(ENCODINGS).get(encoding.removesuffix("-sig"), encoding)
