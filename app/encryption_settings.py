"""The settings of the keys that encrypt stored values: their text, or a file with it."""

from __future__ import annotations

import base64
import binascii
from pathlib import Path

from app.provider_settings import SettingsError
from app.setting_readers import Environment, collect_errors

KEY_BYTES = 32
MAX_KEY_ID = 255
Keys = tuple[tuple[int, bytes], ...]
"""Keys with their ids, from 1 to MAX_KEY_ID; the first one encrypts."""


@collect_errors
def keys(env: Environment, name: str, file_name: str) -> Keys:
    """Return the keys of the setting `name`, or of the file that `file_name` names; none by default."""
    text, path = env.str(name, "").strip(), env.str(file_name, "").strip()
    if text and path:
        message = f"{name} and {file_name} are both set. Remove one of them."
        raise SettingsError(message)
    return _of_file(file_name, path) if path else parse(text, name)


def parse(text: str, name: str) -> Keys:
    """Return the keys of a list such as `2:…,1:…`, separated by commas or lines; `#` begins a comment.

    Raises:
        SettingsError: a part is not an id, a colon and 32 bytes in base64, or an id repeats. The message
            names the part and does not quote it.

    """
    lines = (line.partition("#")[0] for line in text.splitlines())
    parts = [part.strip() for line in lines for part in line.split(",") if part.strip()]
    found = tuple(_key(part, number, name) for number, part in enumerate(parts, 1))
    if len({key_id for key_id, _ in found}) < len(found):
        message = f"{name} has two keys with the same id. Give each key its own id."
        raise SettingsError(message)
    return found


def _of_file(name: str, path: str) -> Keys:
    """Return the keys of a file, which has at least one: without it, values would get the derived key."""
    try:
        found = parse(Path(path).read_text(encoding="ascii"), name)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not ASCII text"
        message = (
            f"{name} is {path!r}, which cannot be read: {reason}. Put the file there with the keys that the"
            " stored values were encrypted with, readable by this user; for a first key, unset it and run:"
            " flask keys create"
        )
        raise SettingsError(message) from error
    if not found:
        message = (
            f"{name} is {path!r}, which has no key. Put the keys there that the stored values were encrypted"
            " with; for a first key, unset it and run: flask keys create"
        )
        raise SettingsError(message)
    return found


def _key(part: str, number: int, name: str) -> tuple[int, bytes]:
    key_id, _, encoded = part.partition(":")
    try:
        key = base64.b64decode(encoded.strip(), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    is_id = key_id.isascii() and key_id.isdigit() and 0 < int(key_id) <= MAX_KEY_ID
    if not is_id or len(key) != KEY_BYTES:
        message = (
            f"{name} has no valid key in part {number}. Write an id from 1 to {MAX_KEY_ID}, a colon and "
            "32 bytes in base64, as `flask keys create` prints them."
        )
        raise SettingsError(message)
    return int(key_id), key
