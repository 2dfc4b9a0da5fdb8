"""One trace leads from the caller's request over the API and the worker to the call of the provider."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from e2e_stack import Stack, running
from local_servers import empty_database
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans
from polling import wait_until

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
CANARIES = ("Zenobia", "Kanarienvogel", "sandbox-found", "canary.example")


@dataclass
class Collector:
    """A receiver of OTLP over HTTP on loopback."""

    bodies: list[bytes] = field(default_factory=list)
    url: str = ""

    def spans(self) -> list[tuple[str, str, str]]:
        """Return service, name and trace id of each span."""
        return [
            (_service(resource), span.name, span.trace_id.hex())
            for body in list(self.bodies)
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


def _service(spans: ResourceSpans) -> str:
    attributes = {one.key: one.value.string_value for one in spans.resource.attributes}
    return attributes["service.name"]


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collector.bodies.append(body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_arguments: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        collector.url = f"http://127.0.0.1:{server.server_port}"
        yield collector
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def traced(collector: Collector, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    folder: Path = tmp_path_factory.mktemp("traced")
    settings = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "200"}
    with ExitStack() as stop:
        url = stop.enter_context(empty_database(folder, "traced"))
        yield stop.enter_context(running(folder, url, PROVIDERS_EMAIL="sandbox", **settings))


def test_one_trace_leads_from_the_caller_to_the_provider(traced: Stack, collector: Collector) -> None:
    _workspace, token = traced.create_workspace()
    subject = {
        "linkedin_url": "https://www.linkedin.com/in/sandbox-found",
        "full_name": "Zenobia Kanarienvogel",
        "company_domain": "canary.example",
    }

    response = traced.call(
        "POST",
        "/api/ext/reveal/email",
        {"subject": subject, "min_status": "any"},
        Authorization=token,
        traceparent=f"00-{TRACE}-00f067aa0ba902b7-01",
        Prefer="wait=20",
    )

    def names() -> set[tuple[str, str]]:
        return {(service, name) for service, name, trace in collector.spans() if trace == TRACE}

    expected = {
        ("contact-lookup-api", "POST /api/ext/reveal/email"),
        ("contact-lookup-worker", "job reveal.email"),
        ("contact-lookup-worker", "call sandbox"),
        ("contact-lookup-api", "database transaction"),
        ("contact-lookup-worker", "database transaction"),
    }
    assert response.status == 200
    wait_until(lambda: expected <= names(), seconds=20)
    sent = b" ".join(collector.bodies)
    assert [canary for canary in CANARIES if canary.encode() in sent] == []
    assert token.removeprefix("Bearer ").encode() not in sent
