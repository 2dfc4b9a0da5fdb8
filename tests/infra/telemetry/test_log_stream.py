from __future__ import annotations

import errno
import io
import logging
import sys
from collections.abc import Iterator

import pytest
import structlog

from app.infra.telemetry import log as logs
from app.infra.telemetry import metrics
from app.infra.telemetry.log import log


class BrokenStream(io.StringIO):
    """A stream that raises this error on every write and flush."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def write(self, _text: str) -> int:
        raise self.error

    def flush(self) -> None:
        raise self.error


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level, config = list(root.handlers), root.level, structlog.get_config()
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.configure(**config)


def failures() -> float:
    [family] = metrics.LOG_FAILURES.collect()
    return next(sample.value for sample in family.samples if sample.name == "ext_log_failures_total")


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, ""), BrokenPipeError(), BlockingIOError(), ValueError("closed")]
)
def test_a_line_that_cannot_be_written_is_lost_and_counted(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(sys, "stderr", BrokenStream(error))
    logs.configure(level="info", style="json")
    before = failures()

    log.info("job settled", job="job_1")
    ours = failures()
    logging.getLogger("somebody").warning("hello")

    assert before < ours < failures()


def test_lines_are_written_again_once_the_disk_has_space(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    full = [True]

    def write(text: str) -> int:
        if full[0]:
            raise OSError(errno.ENOSPC, "")
        return io.StringIO.write(stream, text)

    monkeypatch.setattr(stream, "write", write)
    monkeypatch.setattr(sys, "stderr", stream)
    logs.configure(level="info", style="logfmt")
    log.info("lost")
    full[0] = False

    log.info("kept")

    assert [line.partition("event=")[2] for line in stream.getvalue().splitlines()] == ["kept"]
