"""When an operation is deprecated and when it ends, declared with `Operation(deprecation=…)` on its view."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from wsgiref.handlers import format_date_time

EXPLAINED = "/manual/api.html#deprecations"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deprecation:
    """When an operation is deprecated (RFC 9745) and when it ends (RFC 8594), by UTC days.

    `instead` names what to call, such as `POST /api/people-searches`. `link` is a page for the developers of
    callers; a path is one of this server.
    """

    since: date
    instead: str
    sunset: date | None = None
    link: str = EXPLAINED

    def __post_init__(self) -> None:
        """Refuse an operation that ends before it is deprecated (RFC 9745, 4)."""
        if self.sunset is not None and self.sunset < self.since:
            raise ValueError(f"The sunset {self.sunset} is before {self.since}.")

    @property
    def sentence(self) -> str:
        """Return what the documentation and the clients say."""
        end = f" It is removed after {self.sunset}." if self.sunset else ""
        return f"Deprecated since {self.since}.{end} Use {self.instead} instead."

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers of every response of the operation, errors included."""
        found = {"Deprecation": f"@{_timestamp(self.since)}"}
        links = [f'<{self.link}>; rel="deprecation"; type="text/html"']
        if self.sunset:
            found["Sunset"] = format_date_time(_timestamp(self.sunset))
            links.append(f'<{self.link}>; rel="sunset"; type="text/html"')
        return found | {"Link": ", ".join(links)}


def _timestamp(day: date) -> int:
    return int(datetime.combine(day, time.min, UTC).timestamp())
