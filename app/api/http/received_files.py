"""Files in request bodies: as the whole body, or as one part of a form."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import dataclass

from flask import request
from gunicorn.http.errors import ParseException

from app.api.http import admission
from app.domain.errors import (
    FieldError,
    MalformedJson,
    PayloadTooLarge,
    UnsupportedMediaType,
    ValidationFailed,
)

PART = "file"
FORM = "multipart/form-data"
CSV = "text/csv"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
OTHER_TYPES = frozenset({"application/octet-stream", "application/vnd.ms-excel", "text/plain"})
"""What programs also send for CSV files; the content decides how a file is read."""
MAX_NAME = 200
_FORM_BYTES = 16 * 1024
"""What a form adds to the size of its file."""
_HIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    """A file and the name that its sender gave it."""

    name: str
    content: bytes


def receive_file(max_mb: int) -> ReceivedFile:
    """Return the file of this request. Other requests run while it is received.

    Raises:
        PayloadTooLarge: it is larger than allowed.
        UnsupportedMediaType: the body is neither a form nor a file.
        ValidationFailed: the form has no file, or the file is empty.
        MalformedJson: the body is truncated.

    """
    max_bytes = max_mb << 20
    too_large = PayloadTooLarge(f"Send a file of at most {max_mb} MB; split a longer list into several.")
    request.max_content_length = max_bytes + _FORM_BYTES
    if (request.content_length or 0) > request.max_content_length:
        raise too_large
    try:
        with admission.suspended():
            file = _of_form() if request.mimetype == FORM else _of_body()
    except (ParseException, OSError) as error:
        raise MalformedJson("The body is truncated. Send the file again.") from error
    if len(file.content) > max_bytes:
        raise too_large
    if not file.content:
        detail = f"Choose a CSV file or an Excel workbook; it is the part '{PART}' of the form."
        raise ValidationFailed(detail, errors=(FieldError(f"/{PART}", detail),))
    return file


def _of_form() -> ReceivedFile:
    part = request.files.get(PART)
    if part is None:
        return ReceivedFile("", b"")
    with closing(part):
        return ReceivedFile(_name(part.filename or ""), part.read())


def _of_body() -> ReceivedFile:
    if request.mimetype not in {CSV, XLSX, *OTHER_TYPES}:
        raise UnsupportedMediaType(f"Send the file as {CSV} or {XLSX}, or as the part '{PART}' of a form.")
    content = request.get_data(cache=True)
    if request.content_length not in {None, len(content)}:
        raise OSError
    return ReceivedFile(_name(request.args.get("name", "")), content)


def _name(text: str) -> str:
    """Return the last part of a path without control characters, or a name for a file without one."""
    return _HIDDEN.sub("", text.replace("\\", "/").rpartition("/")[2]).strip()[:MAX_NAME] or "list"
