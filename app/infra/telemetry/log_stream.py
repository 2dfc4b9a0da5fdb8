"""The output stream of the log; lines that cannot be written are dropped and counted."""

from __future__ import annotations

from typing import TextIO

from app.infra.telemetry import metrics


class LossyStream:
    """A text stream whose writes never raise, even with a full disk or a closed pipe.

    Responses, jobs and settlements must not depend on the log.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write the text; count a failure."""
        try:
            return self._stream.write(text)
        except (OSError, ValueError):  # ValueError: the stream is closed
            metrics.LOG_FAILURES.inc()
            return len(text)

    def flush(self) -> None:
        """Flush the stream; count a failure."""
        try:
            self._stream.flush()
        except (OSError, ValueError):
            metrics.LOG_FAILURES.inc()
