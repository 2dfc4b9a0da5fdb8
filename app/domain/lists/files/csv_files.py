"""Detection of a file's format and encoding."""

from __future__ import annotations

import codecs
import unicodedata
from dataclasses import dataclass
from functools import partial
from typing import IO, cast

from app.domain.errors import InvalidValue
from app.domain.lists.files import encodings
from app.domain.lists.files.delimiters import CountKnown, most_known
from app.domain.lists.files.other_formats import refuse_other_formats
from app.domain.messages import Message

_CHUNK = 1 << 20
_SAMPLE = 1 << 16
_ARCHIVE = b"PK\x03\x04"
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
UNKNOWN_ENCODING = Message(
    "The encoding '{encoding}' is unknown. Use utf-8, cp1252, cp1250, cp1251, cp932 or gb18030."
)
_OF_NO_FILE = frozenset({"idna", "punycode", "raw-unicode-escape", "unicode-escape", "utf-7"})
"""Codecs for other texts than files: some give lone surrogates, which cannot be stored, and punycode takes a
time that grows with the square of the text."""
MIXED = "cp1252_bytes"
"""The error handler that reads the bytes of a UTF-8 file that are not UTF-8 as cp1252."""
MAX_OTHER_LINES = 20
_CONTROLS = bytes(set(range(32)) - {9, 10, 12, 13, 26, 27})
_MAX_CONTROL_SHARE = 0.01
_MIN_CONTROLS = 4
_MIN_ZEROS = 0.05


@dataclass(frozen=True, slots=True)
class ListFormat:
    """The encoding of a file, or `xlsx`; the first lines of a UTF-8 file that are not UTF-8 (from 1).

    `is_guessed` means that the encoding was chosen by the words that it gives; `other_encoding` is the next
    probable one if that is not sure. Of a workbook, the sheet that is read, the other sheets that look like
    lists, and how many formulas have no stored result and so are empty cells.
    """

    encoding: str
    other_lines: tuple[int, ...] = ()
    is_guessed: bool = False
    other_encoding: str | None = None
    sheet: str | None = None
    unread_sheets: tuple[str, ...] = ()
    unsolved_formulas: int = 0

    @property
    def errors(self) -> str:
        """Return the error handler to read the file with."""
        return MIXED if self.encoding.startswith("utf-8") else "replace"


def is_archive(file: IO[bytes]) -> bool:
    """Return whether the file is a ZIP archive, as XLSX workbooks are."""
    file.seek(0)
    return file.read(len(_ARCHIVE)) == _ARCHIVE


def text_format_of(file: IO[bytes], encoding: str | None, count_known: CountKnown) -> ListFormat:
    """Return a file's encoding: as given, by its byte order mark, UTF-16, UTF-8, else by its words.

    A file of which most lines with other letters than ASCII are UTF-8 is UTF-8: programs append lines to
    lists of others without converting them.
    """
    file.seek(0)
    head = file.read(_SAMPLE)
    if not head.strip(b"\x00\t\n\r \xef\xbb\xbf\xff\xfe"):
        raise InvalidValue("The file is empty.")
    refuse_other_formats(head)
    if encoding is not None:
        _require_encoding(encoding, head)
        return _with_other_lines(file, codecs.lookup(encoding).name)
    for mark, marked_encoding in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return _with_other_lines(file, marked_encoding)
    utf_16 = _unmarked_utf16(head)
    return ListFormat(utf_16) if utf_16 else _unmarked(file, head, count_known)


def is_encoding(name: str) -> bool:
    """Return whether an encoding of text files has this name."""
    try:
        "".encode(name)  # fails also for codecs of bytes, such as hex
    except (LookupError, ValueError):  # a ValueError for a null character and the codec `undefined`
        return False
    return codecs.lookup(name).name not in _OF_NO_FILE


def _require_encoding(encoding: str, head: bytes) -> None:
    if not is_encoding(encoding):
        raise InvalidValue(UNKNOWN_ENCODING.format(encoding=encoding))
    try:
        codecs.getincrementaldecoder(encoding)("replace").decode(head)
    except UnicodeError:  # of UTF-16 and UTF-32 without a byte order mark
        raise InvalidValue(
            Message(
                "The file does not have the encoding '{encoding}'. Leave it out, so that it is detected.",
                encoding=encoding,
            )
        ) from None


def _unmarked_utf16(head: bytes) -> str | None:
    """Detect UTF-16 without a byte order mark: of each separator and line break, one byte is zero.

    In Latin text, every second byte is. In other scripts the bytes must also be UTF-16, with several lines.
    """
    even, odd = head[::2], head[1::2]
    for encoding, zeros, letters in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if zeros.count(0) > len(zeros) * 0.4 and letters.count(0) < len(letters) * _MAX_CONTROL_SHARE:
            return encoding
        if zeros.count(0) > len(zeros) * _MIN_ZEROS and not letters.count(0):
            text = head[: len(head) // 2 * 2].decode(encoding, errors="ignore")
            if "\n" in text and len(text) > len(head) * 0.49 and not any(map(_is_unassigned, set(text))):
                return encoding
    return None


def _is_unassigned(character: str) -> bool:
    return unicodedata.category(character) in {"Cn", "Co"}


def _unmarked(file: IO[bytes], head: bytes, count_known: CountKnown) -> ListFormat:
    """Return UTF-8 if the whole file decodes as UTF-8 or most of its lines do, else what fits its words."""
    if sum(head.count(byte) for byte in _CONTROLS) > _MIN_CONTROLS + len(head) * _MAX_CONTROL_SHARE:
        raise InvalidValue("This is not a text file. Export the list as CSV from its source.")
    if any(escape in head for escape in encodings.ESCAPES_OF_JAPANESE):
        return ListFormat("iso2022_jp")
    if _is_utf_8(file):
        return ListFormat("utf-8")
    other_lines, is_mostly_utf_8 = _other_lines(file)
    if is_mostly_utf_8:
        return ListFormat("utf-8", other_lines)
    file.seek(0)
    lines = iter(partial(file.readline, _CHUNK), b"")
    found = encodings.detect(encodings.sample_of(lines), lambda text: most_known(text, count_known))
    return ListFormat(found.encoding, is_guessed=True, other_encoding=found.other)


def _with_other_lines(file: IO[bytes], encoding: str) -> ListFormat:
    """Return the format of a file in this encoding, for UTF-8 with the lines that are not UTF-8."""
    has_others = encoding.startswith("utf-8") and not _is_utf_8(file)
    return ListFormat(encoding, _other_lines(file)[0] if has_others else ())


def _is_utf_8(file: IO[bytes]) -> bool:
    """Return whether the whole file decodes as UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    file.seek(0)
    try:
        while chunk := file.read(_CHUNK):
            decoder.decode(chunk)
    except UnicodeDecodeError:
        return False
    return True


def _other_lines(file: IO[bytes]) -> tuple[tuple[int, ...], bool]:
    """Return the first lines that are not UTF-8, and whether most lines with non-ASCII bytes are UTF-8."""
    file.seek(0)
    other_lines, utf_8, others = [], 0, 0
    for number, line in enumerate(iter(partial(file.readline, _CHUNK), b""), 1):
        if line.isascii():
            continue
        try:
            line.decode()
        except UnicodeDecodeError:
            others += 1
            if others <= MAX_OTHER_LINES:
                other_lines.append(number)
        else:
            utf_8 += 1
    return tuple(other_lines), utf_8 > others


def _read_as_cp1252(error: UnicodeError) -> tuple[str, int]:
    """Decode the bytes that are not UTF-8 (see `codecs.register_error`)."""
    failed = cast("UnicodeDecodeError", error)
    return failed.object[failed.start : failed.end].decode("cp1252", errors="replace"), failed.end


codecs.register_error(MIXED, _read_as_cp1252)
