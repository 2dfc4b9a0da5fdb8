"""Logging: events with fields, one line each, and the request id on every line."""

from __future__ import annotations

import logging
import sys
import threading
from typing import TextIO, cast

import structlog
from structlog.typing import FilteringBoundLogger, Processor

from app.infra.log_stream import LossyStream

_TOLD_URLS = ("httpx2", "httpcore2")
"""Libraries that log the URLs they call, at whatever level: people are named in them."""

_OWN_HANDLERS = ("gunicorn.error",)
"""Loggers that write by themselves, past the processors here."""

log: FilteringBoundLogger = structlog.get_logger()


def configure(*, level: str, style: str) -> None:
    """Write structlog's and the standard library's lines to stderr; `style` is logfmt or json.

    Lines that cannot be written are lost.
    """
    stream = cast("TextIO", LossyStream(sys.stderr))
    renderer: Processor = (
        structlog.processors.JSONRenderer()
        if style == "json"
        else structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"])
    )
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, _exception_name, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(_number(level)),
        logger_factory=structlog.PrintLoggerFactory(stream),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                _exception_name,
                renderer,
            ],
        )
    )
    logging.basicConfig(handlers=[handler], level=_number(level), force=True)
    for name in _TOLD_URLS:
        logging.getLogger(name).setLevel(logging.WARNING)
    for name in _OWN_HANDLERS:
        logging.getLogger(name).addFilter(_without_text)
    if threading.excepthook is threading.__excepthook__:
        threading.excepthook = _thread_died


def _number(level: str) -> int:
    return logging.getLevelNamesMapping().get(level.upper(), logging.INFO)


def _without_text(record: logging.LogRecord) -> bool:
    """Write where an exception came from into the message, instead of its text below it."""
    error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
    if error is not None:
        record.msg = f"{record.getMessage()}: {type(error).__name__} at {' < '.join(_places(error))}"
        record.args = record.exc_info = record.exc_text = None
    return True


def _thread_died(died: threading.ExceptHookArgs) -> None:
    """Tell of a thread that an exception ended; Python would print the exception's text."""
    log.error("thread died", thread=died.thread.name if died.thread else None, exc_info=died.exc_value)


def _exception_name(
    _logger: object, _method: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """Keep where an exception came from, never its text: texts quote values, and values are people."""
    error = event.pop("exc_info", None)
    if error is True:
        error = sys.exc_info()
    if isinstance(error, tuple):
        error = error[1]
    if isinstance(error, BaseException):
        event["error"] = type(error).__name__
        event["at"] = " < ".join(_places(error))
    return event


def _places(error: BaseException) -> list[str]:
    places = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        places.append(f"{code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}:{code.co_name}")
        trace = trace.tb_next
    return places[::-1]
