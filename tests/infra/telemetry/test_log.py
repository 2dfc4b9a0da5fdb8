from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from app.infra.telemetry import log as logs
from app.infra.telemetry.log import log


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level, config = list(root.handlers), root.level, structlog.get_config()
    structlog.contextvars.clear_contextvars()
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.configure(**config)
    structlog.contextvars.clear_contextvars()


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def fail() -> None:
    raise LookupError("ada@acme.com is not there")


def test_an_event_is_one_line_with_its_fields(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(level="info", style="json")

    log.info("job settled", job="job_1", ms=4)

    (line,) = lines(capsys)
    assert (line["event"], line["level"], line["job"], line["ms"]) == ("job settled", "info", "job_1", 4)
    assert line["timestamp"].endswith("Z")


def test_the_default_format_is_logfmt(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(level="info", style="logfmt")

    log.info("job settled", job="job_1")

    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("timestamp=")
    assert line.endswith('level=info event="job settled" job=job_1')


def test_records_of_the_standard_library_have_the_same_format(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(level="info", style="json")
    structlog.contextvars.bind_contextvars(job="job_1")

    log.warning("hello")
    logging.getLogger("somebody").warning("hello")

    ours, theirs = lines(capsys)
    assert ours | {"timestamp": ""} == theirs | {"timestamp": ""}


def test_bound_fields_are_on_every_line(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(level="info", style="json")

    with structlog.contextvars.bound_contextvars(request_id="req_1"):
        log.info("within")
    log.info("after")

    within, after = lines(capsys)
    assert within["request_id"] == "req_1"
    assert "request_id" not in after


@pytest.mark.parametrize(("level", "shown"), [("debug", 3), ("info", 2), ("WARNING", 1), ("nonsense", 2)])
def test_events_below_the_level_are_not_shown(
    capsys: pytest.CaptureFixture[str], level: str, shown: int
) -> None:
    logs.configure(level=level, style="json")

    log.debug("one")
    log.info("two")
    log.warning("three")

    assert len(lines(capsys)) == shown


def test_an_exception_is_logged_with_its_origin_but_not_its_text(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(level="info", style="json")

    try:
        fail()
    except LookupError as error:
        log.error("one", exc_info=error)
        log.exception("two")
        logging.getLogger("somebody").exception("three")

    output = capsys.readouterr().err
    assert "ada@acme.com" not in output
    for line in map(json.loads, output.splitlines()):
        assert line["error"] == "LookupError"
        innermost, outermost = line["at"].split(" < ")
        assert (innermost.rpartition(":")[2], outermost.startswith("test_log.py:")) == ("fail", True)


@pytest.mark.parametrize("nothing", [None, True])
def test_no_exception_adds_nothing(capsys: pytest.CaptureFixture[str], nothing: object) -> None:
    logs.configure(level="info", style="json")

    log.info("all is well", exc_info=nothing)

    (line,) = lines(capsys)
    assert "error" not in line
    assert "exc_info" not in line


@pytest.mark.parametrize("name", ["httpx2", "httpcore2.connection"])
def test_loggers_of_urls_are_silent_at_every_level(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(level="debug", style="logfmt")

    logging.getLogger(name).info("GET https://api.example/?email=ada@acme.com")

    assert capsys.readouterr().err == ""


def test_loggers_with_their_own_handlers_do_not_log_exception_texts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    logs.configure(level="info", style="logfmt")
    server = logging.getLogger("gunicorn.error")
    handler = logging.StreamHandler()
    server.addHandler(handler)

    try:
        fail()
    except LookupError:
        server.exception("Error handling %s", "a request")
    server.error("stopped")
    server.removeHandler(handler)

    output = capsys.readouterr().err
    assert "ada@acme.com" not in output
    assert "Error handling a request: LookupError at test_log.py:" in output
    assert "stopped" in output


def test_a_dead_thread_is_logged_without_the_exception_text(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threading, "excepthook", threading.__excepthook__)
    logs.configure(level="info", style="json")

    thread = threading.Thread(target=fail, name="listener")
    thread.start()
    thread.join()

    (line,) = lines(capsys)
    assert (line["event"], line["thread"], line["error"]) == ("thread died", "listener", "LookupError")
    assert "ada@acme.com" not in str(line)


def test_an_existing_hook_for_threads_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def somebody(_died: threading.ExceptHookArgs) -> None: ...

    monkeypatch.setattr(threading, "excepthook", somebody)

    logs.configure(level="info", style="json")

    assert threading.excepthook is somebody
