"""Logging: one line per event, with fields and the request id."""

from __future__ import annotations

import logging
import sys
import threading
from typing import TextIO, cast

import structlog
from structlog.typing import FilteringBoundLogger, Processor

from app.infra.telemetry.log_stream import LossyStream

_URL_LOGGERS = ("httpx2", "httpcore2")
"""Loggers of libraries that log URLs, which may contain personal data."""

_CHATTY_LOGGERS = ("alembic.runtime.plugins",)
"""Loggers of libraries whose lines do not help an operator."""

_OWN_HANDLER_LOGGERS = ("gunicorn.error",)
"""Loggers with handlers of their own, which bypass the processors here."""

_SHARED_PROCESSORS: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]

log: FilteringBoundLogger = structlog.get_logger()


def configure(*, level: str, style: str) -> None:
    """Send the lines of structlog and the standard library to stderr; `style` is logfmt or json.

    Lines that cannot be written are dropped.
    """
    stream = cast("TextIO", LossyStream(sys.stderr))
    renderer: Processor = (
        structlog.processors.JSONRenderer()
        if style == "json"
        else structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"])
    )
    structlog.configure(
        processors=[*_SHARED_PROCESSORS, _exception_name, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(_number(level)),
        logger_factory=structlog.PrintLoggerFactory(stream),
        cache_logger_on_first_use=False,
    )
    _configure_standard_library(stream, renderer, _number(level))
    if threading.excepthook is threading.__excepthook__:
        threading.excepthook = _log_thread_failure


def _configure_standard_library(stream: TextIO, renderer: Processor, level: int) -> None:
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_SHARED_PROCESSORS,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                _exception_name,
                renderer,
            ],
        )
    )
    logging.basicConfig(handlers=[handler], level=level, force=True)
    for name in (*_URL_LOGGERS, *_CHATTY_LOGGERS):
        logging.getLogger(name).setLevel(logging.WARNING)
    for name in _OWN_HANDLER_LOGGERS:
        logging.getLogger(name).addFilter(_without_text)


def _number(level: str) -> int:
    return logging.getLevelNamesMapping().get(level.upper(), logging.INFO)


def _without_text(record: logging.LogRecord) -> bool:
    """Replace an exception's text by its origin in the message; return True."""
    error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
    if error is not None:
        record.msg = f"{record.getMessage()}: {type(error).__name__} at {' < '.join(_frames(error))}"
        record.args = record.exc_info = record.exc_text = None
    return True


def _log_thread_failure(failure: threading.ExceptHookArgs) -> None:
    """Log the exception that ended a thread; Python would print the exception's text."""
    log.error(
        "thread died", thread=failure.thread.name if failure.thread else None, exc_info=failure.exc_value
    )


def _exception_name(
    _logger: object, _method: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """Replace an exception by its type and origin: its text may quote personal data."""
    error = event.pop("exc_info", None)
    if error is True:
        error = sys.exc_info()
    if isinstance(error, tuple):
        error = error[1]
    if isinstance(error, BaseException):
        event["error"] = type(error).__name__
        event["at"] = " < ".join(_frames(error))
    return event


def _frames(error: BaseException) -> list[str]:
    frames = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.append(f"{code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}:{code.co_name}")
        trace = trace.tb_next
    return frames[::-1]
