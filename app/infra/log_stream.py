"""The stream that log lines are written to: a line that cannot be written is lost, and nothing fails."""

from __future__ import annotations

from typing import TextIO

from app.infra import metrics


class LossyStream:
    """A text stream whose writes never raise: its disk may be full, or its reader gone.

    Answers, jobs and settlements must not depend on whether they can be logged.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write the text, or count it as lost."""
        try:
            return self._stream.write(text)
        except (OSError, ValueError):  # ValueError: the stream is closed
            metrics.LOG_FAILURES.inc()
            return len(text)

    def flush(self) -> None:
        """Hand on what was written, or count it as lost."""
        try:
            self._stream.flush()
        except (OSError, ValueError):
            metrics.LOG_FAILURES.inc()
