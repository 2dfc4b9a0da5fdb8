"""Files in request bodies: as the whole body, or as one part of a form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import IO

from flask import Request, request
from gunicorn.http.errors import ParseException

from app.domain.errors import (
    FieldError,
    MalformedJson,
    PayloadTooLarge,
    UnsupportedMediaType,
    ValidationFailed,
)
from app.domain.messages import Message
from app.domain.single_lines import UNSHOWN
from app.web import admission
from app.web.bodies import body
from app.web.services import services
from app.web.sign_in.auth import caller

PART = "file"
FORM = "multipart/form-data"
CSV = "text/csv"
JSON = "application/json"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
OTHER_TYPES = frozenset({"application/octet-stream", "application/vnd.ms-excel", "text/plain"})
"""What programs also send for CSV files; the content decides how a file is read."""
MAX_NAME = 200
TRUNCATED = Message("The body is truncated. Send the file again.")
_FORM_BYTES = 16 * 1024
"""What a form adds to the size of its file."""
_HIDDEN = re.compile(rf"[{UNSHOWN}\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    """A file and the name that its sender gave it."""

    name: str
    content: bytes


class FileRequest(Request):
    """A request whose files are parsed in memory: in a folder, they would not be encrypted."""

    def _get_file_stream(
        self,
        total_content_length: int | None,  # noqa: ARG002 -- werkzeug's signature
        content_type: str | None,  # noqa: ARG002 -- likewise
        filename: str | None = None,  # noqa: ARG002 -- likewise
        content_length: int | None = None,  # noqa: ARG002 -- likewise
    ) -> IO[bytes]:
        return BytesIO()


@dataclass(frozen=True, slots=True)
class FileKind:
    """What files an endpoint takes: their content types, and what a reader calls them."""

    types: tuple[str, ...]
    title: str


LISTS = FileKind((CSV, XLSX), Message("a CSV file or an Excel workbook"))


@contextmanager
def received_file(max_mb: int, kind: FileKind = LISTS) -> Iterator[ReceivedFile]:
    """Yield the file of this request for the block, while no other file is in the memory of the process.

    Other requests run while it is received. One that is longer than other bodies is received on disk.

    Raises:
        PayloadTooLarge: it is larger than allowed.
        ValidationFailed: the form has no file, or the file is empty.
        RateLimited, Unavailable: the workspace, or the server, has no room for the file now.

    """
    max_bytes = max_mb << 20
    too_large = PayloadTooLarge(
        Message("Send a file of at most {max} MB; split a longer list into several.", max=max_mb)
    )
    request.max_content_length = max_bytes + _FORM_BYTES
    if (request.content_length or 0) > request.max_content_length:
        raise too_large
    if request.mimetype not in {FORM, *kind.types, *OTHER_TYPES}:
        types = ", ".join(kind.types)
        raise UnsupportedMediaType(
            Message("Send the file as {types}, or as the part '{part}' of a form.", types=types, part=PART)
        )
    with ExitStack() as until_stored:
        with admission.suspended():
            _receive(request.content_length or 0, until_stored)
            until_stored.enter_context(services().bulkhead.file_slot(caller().workspace_id))
        file = _of_form() if request.mimetype == FORM else _of_body()
        if len(file.content) > max_bytes:
            raise too_large
        if not file.content:
            detail = (
                Message("This file is empty. Choose another one.")
                if file.name and request.mimetype == FORM
                else Message(
                    "Choose {title}; it is the part '{part}' of the form.", title=kind.title, part=PART
                )
            )
            raise ValidationFailed(detail, errors=(FieldError(f"/{PART}", detail),))
        yield file


def _receive(length: int, until_stored: ExitStack) -> None:
    """Receive a body on disk, where the request is read from then on; a short one was received before."""
    if length <= body.MAX_BYTES:
        return
    source = request.environ["wsgi.input"]
    try:
        spooled = until_stored.enter_context(services().spool.receive(source, length, caller().workspace_id))
    except (ParseException, OSError) as error:
        raise MalformedJson(TRUNCATED) from error
    if spooled.length < length:
        raise MalformedJson(TRUNCATED)
    request.environ["wsgi.input"] = spooled


def _of_form() -> ReceivedFile:
    part = request.files.get(PART)
    if part is None or not part.filename:  # a browser sends the part without a name if none is chosen
        return ReceivedFile("", b"")
    with closing(part):
        return ReceivedFile(_name(part.filename), part.read())


def _of_body() -> ReceivedFile:
    return ReceivedFile(_name(request.args.get("name", "")), request.get_data())


def _name(text: str) -> str:
    """Return the last part of a path as a part of one line, or a name for a file without one."""
    return _HIDDEN.sub("", text.replace("\\", "/").rpartition("/")[2]).strip()[:MAX_NAME] or "list"
