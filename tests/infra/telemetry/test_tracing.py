from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from apiflask import APIFlask
from local_servers import free_port
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from app import setting_readers
from app.domain.errors import Unavailable
from app.infra.database.db import Database
from app.infra.telemetry import trace_links, tracing
from app.infra.telemetry.open_telemetry import OpenTelemetryTracer
from app.settings import read
from tools.state import ROOT

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    tracer = OpenTelemetryTracer(SimpleSpanProcessor(exporter), service="test")
    monkeypatch.setattr(tracing, "_tracers", [tracer])
    yield exporter
    exporter.clear()


def trace_of(span: ReadableSpan) -> str:
    assert span.context is not None
    return f"{span.context.trace_id:032x}"


@pytest.mark.release
def test_without_an_endpoint_nothing_is_recorded_and_opentelemetry_is_not_imported() -> None:
    program = (
        "import sys; from app.infra.telemetry import tracing; import app.factory, workers.resolve.waterfall;"
        "tracing.start('', service='x'); assert tracing.span('a') is tracing.span('b');"
        "assert not tracing.is_on() and tracing.traceparent() is None;"
        "assert not {'app.infra.telemetry.open_telemetry', 'opentelemetry.exporter'} & sys.modules.keys()"
    )

    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert ended.returncode == 0, ended.stderr


def test_a_request_continues_the_trace_of_its_caller(app: APIFlask, spans: InMemorySpanExporter) -> None:
    app.test_client().get("/healthz?secret=canary", headers={"traceparent": TRACEPARENT})

    (span,) = spans.get_finished_spans()
    assert (trace_of(span), span.name) == (TRACE, "GET /healthz")
    assert dict(span.attributes or {}) == {
        "http.request.method": "GET",
        "http.route": "/healthz",
        "http.response.status_code": 200,
    }


@pytest.mark.parametrize("header", ["", "nonsense", f"00-{'0' * 32}-00f067aa0ba902b7-01", "ÿ" * 60])
def test_a_request_with_an_invalid_traceparent_begins_a_trace(
    app: APIFlask, spans: InMemorySpanExporter, header: str
) -> None:
    response = app.test_client().get("/healthz", headers={"traceparent": header})

    (span,) = spans.get_finished_spans()
    assert (response.status_code, span.parent) == (200, None)


def test_each_request_has_a_span_of_its_own(app: APIFlask, spans: InMemorySpanExporter) -> None:
    client = app.test_client()
    for path in ("/healthz", "/nothing-here"):
        client.get(path)

    first, second = spans.get_finished_spans()
    assert (first.parent, second.parent, second.name) == (None, None, "GET none")
    assert trace_of(first) != trace_of(second)
    assert tracing.traceparent() is None


def test_the_text_of_an_exception_is_not_recorded(spans: InMemorySpanExporter) -> None:
    with pytest.raises(ValueError, match="canary"), tracing.span("work"):
        raise ValueError("canary")

    (span,) = spans.get_finished_spans()
    assert (span.events, span.status.description) == ((), None)


def test_transactions_are_recorded_below_a_span_only_and_without_statements(
    database: Database, spans: InMemorySpanExporter
) -> None:
    with database.reading() as session:
        session.execute(text("SELECT 'outside'"))
    with tracing.span("job"):
        with database.reading() as session:
            session.execute(text("SELECT 'canary'"))
        with pytest.raises(Unavailable), database.transaction():
            raise OperationalError("canary", {}, Exception("canary"))

    recorded = spans.get_finished_spans()
    assert [span.name for span in recorded] == ["database read", "database transaction", "job"]
    assert {trace_of(span) for span in recorded} == {trace_of(recorded[-1])}
    assert "canary" not in " ".join(span.to_json() for span in recorded)


def test_a_job_is_linked_to_the_request_that_submitted_it(
    redis_url: str, spans: InMemorySpanExporter
) -> None:
    with tracing.span("request", parent=TRACEPARENT):
        trace_links.remember(redis_url, "job_linked")
        expected = tracing.traceparent()

    assert trace_links.parent_of(redis_url, "job_linked") == expected
    assert trace_links.parent_of(redis_url, "job_other") is None
    assert expected is not None
    assert expected.split("-")[1] == TRACE


def test_without_redis_a_job_has_no_link_and_nothing_fails(spans: InMemorySpanExporter) -> None:
    url = f"redis://127.0.0.1:{free_port()}/0"
    with tracing.span("request"):
        trace_links.remember(url, "job_x")

    assert trace_links.parent_of(url, "job_x") is None


def test_outside_of_a_span_nothing_is_linked(redis_url: str, spans: InMemorySpanExporter) -> None:
    trace_links.remember(redis_url, "job_outside")

    assert trace_links.parent_of(redis_url, "job_outside") is None


@pytest.mark.parametrize("value", ["127.0.0.1:4318", "ftp://collector", "http://user:secret@collector"])
def test_the_endpoint_must_be_an_http_address(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", value)

    _settings, faults = read()

    assert "Use an address such as" in faults["OTEL_EXPORTER_OTLP_ENDPOINT"]


def test_an_endpoint_without_the_packages_is_an_error_that_names_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(setting_readers, "find_spec", lambda _name: None)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")

    _settings, faults = read()

    assert "pip install '.[otel]'" in faults["OTEL_EXPORTER_OTLP_ENDPOINT"]
