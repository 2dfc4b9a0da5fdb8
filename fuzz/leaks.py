"""Internals of the service in a response: tracebacks, libraries and paths of its source files."""

from __future__ import annotations

import re

LEAK = re.compile(
    r"Traceback \(most recent call last\)"
    r'|File \\?"/[^"\\]+\\?", line \d+'  # as in a traceback; in JSON the quotation marks are escaped
    r"|\b(?:sqlalchemy|psycopg)\b|/site-packages/"
)


def find_leaks(response: str, request: str) -> set[str]:
    """Return the internals in a response that its request did not contain.

    A refusal may name what was sent, and Hypothesis also generates strings that it finds in the source code
    of the project, such as those of LEAK.
    """
    return set(LEAK.findall(response)) - set(LEAK.findall(request))
