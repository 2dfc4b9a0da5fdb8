"""JSON with sentences that keep their templates, so that everybody reads them in their own language later."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from app.domain.messages import Day, Figure, Message

_MESSAGE, _DAY, _FIGURE = "$message", "$day", "$figure"


def dumps(value: object) -> str:
    """Return JSON in which each `Message` is an object with its template, its plural and its values."""
    return json.dumps(_encoded(value), separators=(",", ":"), ensure_ascii=False, default=str)


def loads(text: str) -> Any:  # noqa: ANN401 -- any JSON value
    """Return the value of such JSON; a sentence that was stored as a text stays one."""
    return json.loads(text, object_hook=_decoded)


def _encoded(value: object) -> object:
    match value:
        case Message():
            return {_MESSAGE: [value.template, value.plural, _encoded(value.values)]}
        case Day():
            return {_DAY: value.at.isoformat()}
        case Figure():
            return {_FIGURE: int(value)}
        case dict():
            return {name: _encoded(inner) for name, inner in value.items()}
        case list() | tuple():
            return list(map(_encoded, value))
    return value


def _decoded(value: dict[str, Any]) -> object:
    match value:
        case {"$message": [template, plural, values]}:
            return Message(template, plural, **values)
        case {"$day": at}:
            return Day(datetime.fromisoformat(at))
        case {"$figure": number}:
            return Figure(number)
    return value
