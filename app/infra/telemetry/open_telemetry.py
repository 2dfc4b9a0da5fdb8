"""Spans with OpenTelemetry, sent over OTLP and HTTP; imported only if an endpoint is set.

The instrumentations of Flask, Celery and SQLAlchemy are not used: they record URLs, addresses of clients and
statements, which may contain personal data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_HEADER = "traceparent"
_propagator = TraceContextTextMapPropagator()


def connect(endpoint: str, *, service: str) -> OpenTelemetryTracer:
    """Return a tracer that sends its spans in the background."""
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
    return OpenTelemetryTracer(BatchSpanProcessor(exporter), service=service)


class OpenTelemetryTracer:
    """Records spans with a processor; which traces are sampled, the variables `OTEL_TRACES_SAMPLER…` say."""

    def __init__(self, processor: SpanProcessor, *, service: str) -> None:
        provider = TracerProvider(resource=Resource.create({SERVICE_NAME: service}))
        provider.add_span_processor(processor)
        self._tracer = provider.get_tracer("contact-lookup")

    @contextmanager
    def span(
        self,
        name: str,
        attributes: Mapping[str, str | int],
        *,
        parent: str | None,
        started: int | None,
        serves: bool,
    ) -> Iterator[Span]:
        """Record a span; an exception is not recorded, because its text may contain personal data."""
        context = None if parent is None else _propagator.extract({_HEADER: parent})
        kind = SpanKind.SERVER if serves else SpanKind.INTERNAL
        with self._tracer.start_as_current_span(
            name,
            context,
            kind,
            dict(attributes),
            start_time=started,
            record_exception=False,
            set_status_on_exception=False,
        ) as recorded:
            yield recorded

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Record a span below the current one; do nothing without one, as in the sweeps between jobs."""
        if not trace.get_current_span().is_recording():
            yield
            return
        with self.span(name, {}, parent=None, started=None, serves=False):
            yield

    def traceparent(self) -> str | None:
        """Return the current span as a traceparent."""
        carrier: dict[str, str] = {}
        _propagator.inject(carrier)
        return carrier.get(_HEADER)
