from __future__ import annotations

import gzip
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from email.utils import format_datetime
from types import MappingProxyType
from typing import Any, ClassVar

import pytest
from pytest_httpserver import HTTPServer

from app.domain.kinds import TraceOutcome
from app.domain.providers.rates import Rate
from app.domain.records.subjects import Subject
from app.infra import clock
from app.settings import ProviderSettings
from workers.providers import web
from workers.providers.base import (
    Pending,
    ProviderField,
    ProviderRequest,
    ProviderResponse,
    ProviderTimeout,
    Terms,
    UnexpectedResponse,
)
from workers.providers.web import Vendor, VendorResponse

KEY = "key-that-nobody-may-see"
ASK = ProviderRequest(field=ProviderField.EMAIL, subject=Subject(email="ada@acme.com"))


class Example(Vendor):
    """A minimal vendor."""

    name: ClassVar[str] = "example"
    base_url: ClassVar[str] = "https://api.vendor.example/v1"
    fields: ClassVar[frozenset[ProviderField]] = frozenset({ProviderField.EMAIL})
    default_terms: ClassVar[Terms] = Terms(
        rates=(Rate(10, 1),),
        prices=MappingProxyType({ProviderField.EMAIL: 2}),
        credit_price=0.5,
        poll_timeout=90,
    )

    def credentials(self, key: str) -> dict[str, str]:
        return {"X-Key": key}

    def supports(self, request: ProviderRequest) -> bool:
        return request.subject.email is not None

    def call(self, request: ProviderRequest, *, seconds: float) -> ProviderResponse:
        return self.default_response(
            self.send("GET", "/people", params={"email": request.subject.email}, seconds=seconds)
        )


def at(server: HTTPServer, key: str = KEY) -> Example:
    return Example(ProviderSettings(api_key=key, base_url=server.url_for("/v1/")))


def answer_of(status: int, body: dict[str, Any] | None = None, **headers: str) -> VendorResponse:
    return VendorResponse(status, {name.replace("_", "-"): value for name, value in headers.items()}, body)


@contextmanager
def raw_server(speak: Callable[[socket.socket, threading.Event], None]) -> Iterator[str]:
    """Run a server that handles one connection with `speak`; its event is set when the test ends."""
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _address = listener.accept()
            with connection:
                connection.recv(65536)
                try:
                    speak(connection, over)
                except OSError:  # the adapter has hung up
                    return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        over.set()
        thread.join()


def drip(first: bytes, drop: bytes) -> Callable[[socket.socket, threading.Event], None]:
    def speak(connection: socket.socket, over: threading.Event) -> None:
        connection.sendall(first)
        while not over.wait(0.02):
            connection.sendall(drop)

    return speak


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (200, TraceOutcome.ERROR),
        (302, TraceOutcome.ERROR),
        (400, TraceOutcome.ERROR),
        (401, TraceOutcome.UNCONFIGURED),
        (402, TraceOutcome.NO_CREDITS),
        (403, TraceOutcome.ERROR),
        (404, TraceOutcome.MISS),
        (422, TraceOutcome.ERROR),
        (429, TraceOutcome.RATE_LIMITED),
        (451, TraceOutcome.SUPPRESSED),
        (500, TraceOutcome.ERROR),
        (503, TraceOutcome.ERROR),
    ],
)
def test_a_status_code_has_the_common_outcome_of_vendors(
    httpserver: HTTPServer, status: int, outcome: TraceOutcome
) -> None:
    httpserver.expect_request("/v1/people").respond_with_json({"message": "…"}, status=status)

    reply = at(httpserver).call(ASK, seconds=3)

    assert (reply.outcome, reply.cost) == (outcome, 0)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (401, TraceOutcome.UNCONFIGURED),
        (402, TraceOutcome.ERROR),
        (404, TraceOutcome.ERROR),
        (429, TraceOutcome.RATE_LIMITED),
        (451, TraceOutcome.ERROR),
        (500, TraceOutcome.ERROR),
    ],
)
def test_an_html_page_counts_only_for_a_bad_key_or_a_rate_limit(
    httpserver: HTTPServer, status: int, outcome: TraceOutcome
) -> None:
    httpserver.expect_request("/v1/people").respond_with_data("<html>", status=status)

    assert at(httpserver).call(ASK, seconds=3).outcome is outcome


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7),
        (" 0 ", 0),
        ("999999999", web.MAX_RETRY_AFTER_SECONDS),
        ("9" * 400, web.MAX_RETRY_AFTER_SECONDS),
        ("-5", None),
        ("soon", None),
        ("", None),
        ("Mon, 01 Jan 2001 00:00:00 GMT", 0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", web.MAX_RETRY_AFTER_SECONDS),
    ],
)
def test_retry_after_is_parsed_as_seconds(header: str, seconds: float | None) -> None:
    assert answer_of(429, {}, retry_after=header).retry_after == seconds


@pytest.mark.parametrize("is_utc", [True, False])
def test_retry_after_may_be_a_date(*, is_utc: bool) -> None:
    header = format_datetime(clock.now() + timedelta(seconds=60), usegmt=True)
    header = header if is_utc else header.replace("GMT", "-0000")

    seconds = answer_of(429, {}, retry_after=header).retry_after

    assert seconds == pytest.approx(60, abs=2)


def test_retry_after_is_optional() -> None:
    assert answer_of(429, {}).retry_after is None


def test_a_rate_limit_and_an_error_both_have_retry_after(httpserver: HTTPServer) -> None:
    vendor = at(httpserver)

    assert vendor.default_response(answer_of(429, {}, retry_after="7")).retry_after == 7
    assert vendor.default_response(answer_of(503, None, retry_after="7")).retry_after == 7


@pytest.mark.parametrize(("headers", "seconds"), [({"retry_after": "90"}, 90), ({}, 5)])
def test_a_refused_poll_is_retried_after_the_given_or_the_default_delay(
    httpserver: HTTPServer, headers: dict[str, str], seconds: float
) -> None:
    pending = at(httpserver).retry_poll("ticket", answer_of(429, {}, **headers), 5)

    assert pending == Pending("ticket", seconds, TraceOutcome.RATE_LIMITED)


def test_unknown_parameters_are_not_sent(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/v1/people").respond_with_json({})

    at(httpserver, key=f" {KEY}\n").send(
        "POST", "/people", params={"a": 1, "b": None}, body={"c": 2, "d": None, "e": False}, seconds=3
    )

    ((request, _response),) = httpserver.log
    assert (request.query_string, request.get_json()) == (b"a=1", {"c": 2, "e": False})
    assert (request.headers["X-Key"], request.headers["Accept"]) == (KEY, "application/json")


@pytest.mark.parametrize("ending", ["", "/", "//"])
def test_a_base_url_may_end_with_a_slash(httpserver: HTTPServer, ending: str) -> None:
    httpserver.expect_request("/v1/people").respond_with_json({"found": True})
    vendor = Example(ProviderSettings(api_key=KEY, base_url=httpserver.url_for("/v1") + ending))

    assert vendor.send("GET", "/people", seconds=3).object == {"found": True}


def test_a_redirect_is_not_followed_with_the_key(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/elsewhere").respond_with_json({"found": True})
    httpserver.expect_request("/v1/people").respond_with_data(
        status=302, headers={"Location": httpserver.url_for("/elsewhere")}
    )

    reply = at(httpserver).call(ASK, seconds=3)

    assert reply.outcome is TraceOutcome.ERROR
    assert [request.path for request, _response in httpserver.log] == ["/v1/people"]


@pytest.mark.parametrize(
    "content",
    [b"<html>", b"", b"[1]", b'"text"', b"null", b"\xff\xfe", b'{"half": ', b"[" * 100_000, b"9" * 5_000],
)
def test_a_body_that_is_not_a_json_object_is_an_unexpected_response(
    httpserver: HTTPServer, content: bytes
) -> None:
    httpserver.expect_request("/v1/people").respond_with_data(content, content_type="application/json")

    answer = at(httpserver).send("GET", "/people", seconds=3)

    assert answer.body is None
    with pytest.raises(UnexpectedResponse):
        _ = answer.object


@pytest.mark.parametrize("packed", [False, True])
def test_a_response_that_is_too_large_is_not_read_completely(
    monkeypatch: pytest.MonkeyPatch, httpserver: HTTPServer, *, packed: bool
) -> None:
    monkeypatch.setattr(web, "MAX_RESPONSE_BYTES", 1000)
    content = b'{"a": "' + b"a" * 2000 + b'"}'
    httpserver.expect_request("/v1/people").respond_with_data(
        gzip.compress(content) if packed else content, headers={"Content-Encoding": "gzip"} if packed else {}
    )

    with pytest.raises(UnexpectedResponse, match="too long"):
        at(httpserver).send("GET", "/people", seconds=3)


@pytest.mark.parametrize(
    ("first", "drop"),
    [
        (b"", b""),
        (b"HTTP/1.1 200 OK\r\n", b"X-Drip: 1\r\n"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b" "),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b""),
    ],
    ids=["nothing", "headers", "body", "headers, then nothing"],
)
def test_a_dripping_response_is_limited_by_the_timeout(first: bytes, drop: bytes) -> None:
    with raw_server(drip(first, drop)) as base_url:
        vendor = Example(ProviderSettings(api_key=KEY, base_url=base_url))
        started = time.monotonic()

        with pytest.raises(ProviderTimeout):
            vendor.call(ASK, seconds=0.3)

        assert time.monotonic() - started < 10


def test_a_dripping_response_within_the_timeout_is_read() -> None:
    def speak(connection: socket.socket, over: threading.Event) -> None:
        for byte in b'HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n{"a": 1}':
            connection.sendall(bytes([byte]))
            over.wait(0.005)

    with raw_server(speak) as base_url:
        answer = Example(ProviderSettings(api_key=KEY, base_url=base_url)).send("GET", "/people", seconds=3)

    assert answer.object == {"a": 1}


@pytest.mark.parametrize("seconds", [0, -1])
def test_nothing_is_sent_without_time_left(httpserver: HTTPServer, seconds: float) -> None:
    with pytest.raises(ProviderTimeout):
        at(httpserver).call(ASK, seconds=seconds)

    assert httpserver.log == []


def test_a_refused_connection_is_an_unexpected_response() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    with pytest.raises(UnexpectedResponse, match="ConnectError"):
        Example(ProviderSettings(api_key=KEY, base_url=f"http://127.0.0.1:{port}")).call(ASK, seconds=3)


def test_a_closed_connection_is_an_unexpected_response() -> None:
    with (
        raw_server(lambda connection, _over: connection.close()) as base_url,
        pytest.raises(UnexpectedResponse),
    ):
        Example(ProviderSettings(api_key=KEY, base_url=base_url)).call(ASK, seconds=3)


@pytest.mark.parametrize(
    ("key", "base_url"),
    [
        (KEY, "http://127.0.0.1:1"),
        (KEY, "http://[nowhere"),
        (KEY, "127.0.0.1:8080"),
        (f"{KEY}\nX-Other: 1", "http://127.0.0.1:1"),
        (f"{KEY}é", "http://127.0.0.1:1"),
    ],
)
def test_no_error_message_contains_the_key_or_the_person(key: str, base_url: str) -> None:
    with pytest.raises(UnexpectedResponse) as caught:
        Example(ProviderSettings(api_key=key, base_url=base_url)).call(ASK, seconds=3)

    message = f"{caught.value!r} {caught.value.__cause__!r}"
    assert caught.value.__suppress_context__
    assert KEY not in message
    assert "ada" not in message


def test_no_timeout_message_contains_the_key_or_the_person() -> None:
    with raw_server(drip(b"", b"")) as base_url, pytest.raises(ProviderTimeout) as caught:
        Example(ProviderSettings(api_key=KEY, base_url=base_url)).call(ASK, seconds=0.1)

    assert (str(caught.value), caught.value.__cause__, caught.value.__suppress_context__) == ("", None, True)


@pytest.mark.parametrize(
    ("key", "subject", "refusal"),
    [
        ("", ASK.subject, TraceOutcome.UNCONFIGURED),
        ("  ", ASK.subject, TraceOutcome.UNCONFIGURED),
        (KEY, Subject(phone="+12025550143"), TraceOutcome.INELIGIBLE),
        (KEY, ASK.subject, None),
    ],
)
def test_a_vendor_request_needs_a_key_and_enough_identifiers(
    key: str, subject: Subject, refusal: TraceOutcome | None
) -> None:
    vendor = Example(ProviderSettings(api_key=key))

    assert vendor.unavailability(ProviderRequest(field=ProviderField.EMAIL, subject=subject)) is refusal


def test_the_default_terms_apply() -> None:
    assert Example(ProviderSettings(api_key=KEY)).terms == Example.default_terms


def test_configured_terms_override_the_default_terms() -> None:
    access = ProviderSettings(
        api_key=KEY, rates=(Rate(1, 60),), credit_price=0.0, daily_budget=25.0, miss_days=0.0
    )

    assert Example(access).terms == Terms(
        rates=(Rate(1, 60),),
        prices=Example.default_terms.prices,
        credit_price=0.0,
        daily_budget=25.0,
        miss_days=0.0,
        poll_timeout=90,
    )


def test_an_empty_rate_is_no_limit() -> None:
    assert Example(ProviderSettings(api_key=KEY, rates=())).terms.rates == ()


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (200, {}, TraceOutcome.HIT),
        (200, None, TraceOutcome.ERROR),
        (401, None, TraceOutcome.UNCONFIGURED),
        (402, {}, TraceOutcome.NO_CREDITS),
        (404, {}, TraceOutcome.ERROR),
        (429, {}, TraceOutcome.RATE_LIMITED),
        (500, {}, TraceOutcome.ERROR),
    ],
)
def test_a_check_reports_whether_the_key_works(
    httpserver: HTTPServer, status: int, body: dict[str, Any] | None, outcome: TraceOutcome
) -> None:
    check = at(httpserver).checked(answer_of(status, body), {"credits": 5})

    assert (check.outcome, dict(check.remaining)) == (
        outcome,
        {"credits": 5} if outcome is TraceOutcome.HIT else {},
    )
