"""The Prefer header (RFC 7240): how long a request waits for a queued job."""

from __future__ import annotations

import re
from dataclasses import dataclass

from flask import request

DEFAULT_SECONDS = 10
MAX_SECONDS = 25
_WAIT = re.compile(r'wait\s*=\s*"?(\d{1,9})"?', re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class WaitPreference:
    """The wait in seconds, and the value of Preference-Applied; None without a preference."""

    seconds: int
    applied: str | None


def wait_preference(default: int = DEFAULT_SECONDS) -> WaitPreference:
    """Return the preference of this request; an invalid one is ignored, as the RFC requires.

    `respond-async` together with `wait` means a 202 after that time (RFC 7240, 4.3).
    """
    lines = request.headers.getlist("Prefer")
    preferences = [p.partition(";")[0].strip() for line in lines for p in line.split(",")]
    for wait in filter(None, map(_WAIT.fullmatch, preferences)):
        seconds = min(int(wait[1]), MAX_SECONDS)
        return WaitPreference(seconds, f"wait={seconds}")
    if "respond-async" in map(str.lower, preferences):
        return WaitPreference(0, "respond-async")
    return WaitPreference(default, None)
