"""Tests every adapter with every kind of vendor response; the run ends with a table."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from vendor_recording import CASES, CannedResponse, VendorRecording
from werkzeug import Request, Response

from app.domain.kinds import TraceOutcome
from app.settings import ProviderSettings
from workers.providers.base import (
    Pending,
    ProviderRequest,
    ProviderResponse,
    ProviderTimeout,
    UnexpectedResponse,
)
from workers.providers.registry import PROVIDERS
from workers.providers.web import Vendor

FOLDER = Path(__file__).parent / "recordings"
MODULES = [import_module(file.stem) for file in sorted(FOLDER.glob("*_recording.py"))]
"""One module per vendor; `vendor_recording` describes what each has."""
RECORDINGS: tuple[VendorRecording, ...] = tuple(
    chain.from_iterable(getattr(module, "RECORDINGS", ()) for module in MODULES)
)
KEY = "key-that-nobody-may-see"
SECONDS = 3.0
MAX_POLLS = 8
RETRY_AFTER = 7
PAGE = CannedResponse(body="<!doctype html><title>Just a moment</title>", content_type="text/html")


@dataclass(frozen=True)
class Case:
    """One cell of the table: a case of one vendor and field."""

    name: str
    recording: VendorRecording

    @property
    def line(self) -> str:
        return f"{self.recording.vendor.name}/{self.recording.request.field}"


def every_recording(name: str, *, having: str | None = None) -> pytest.MarkDecorator:
    """Parametrize a test with every vendor and field, or those with responses for the case `having`."""
    assert name in CASES
    cases = [
        Case(name, recording)
        for recording in RECORDINGS
        if having is None or getattr(recording, having) is not None
    ]
    return pytest.mark.parametrize("case", [pytest.param(case, id=case.line) for case in cases])


@pytest.fixture(autouse=True)
def _column(request: pytest.FixtureRequest) -> None:
    """Record the test's row and column for the table."""
    if "case" in request.fixturenames:
        case: Case = request.getfixturevalue("case")
        request.node.user_properties.append(("conformance", [case.line, case.name]))


@dataclass(frozen=True)
class FakeVendorApi:
    """A vendor's API on loopback, which sends the responses in order and repeats the last one."""

    server: HTTPServer

    def respond_with(self, answers: Sequence[CannedResponse], *, slowly: float = 0) -> None:
        turns: Iterator[CannedResponse] = chain(answers, iter(lambda: answers[-1], None))

        def answer(request: Request) -> Response:
            request.get_data()  # cache the body for later assertions
            time.sleep(slowly)
            return _response(next(turns))

        self.server.expect_request(re.compile(".*")).respond_with_handler(answer)

    def adapter(self, recording: VendorRecording) -> Vendor:
        return recording.vendor(ProviderSettings(api_key=KEY, base_url=self.server.url_for("/")))

    def reply(self, recording: VendorRecording, answers: Sequence[CannedResponse]) -> ProviderResponse:
        """Call the adapter until it is no longer pending; return its response."""
        self.respond_with(answers)
        return _over(self.adapter(recording), recording.request)

    @property
    def requests(self) -> list[Request]:
        return [request for request, _response in self.server.log]


@pytest.fixture
def vendor_api(httpserver: HTTPServer) -> FakeVendorApi:
    return FakeVendorApi(httpserver)


@every_recording("hit")
def test_a_hit_has_the_value_and_its_cost(case: Case, vendor_api: FakeVendorApi) -> None:
    reply = vendor_api.reply(case.recording, case.recording.hit)

    assert (reply.outcome, _brought(reply), reply.cost) == (
        TraceOutcome.HIT,
        _expected(case.recording),
        case.recording.cost,
    )
    assert reply.cost <= case.recording.vendor.default_terms.price_of(case.recording.request)


@every_recording("sent")
def test_the_request_is_sent_without_the_key_in_the_url(case: Case, vendor_api: FakeVendorApi) -> None:
    vendor_api.reply(case.recording, case.recording.hit)

    first = vendor_api.requests[0]
    assert first.path == case.recording.path
    assert _holds(_sent(first), case.recording.sent)
    assert all(KEY not in request.url for request in vendor_api.requests)
    assert all(KEY in str(request.headers) for request in vendor_api.requests)


@every_recording("miss")
def test_a_vendor_that_finds_nothing_is_a_miss(case: Case, vendor_api: FakeVendorApi) -> None:
    reply = vendor_api.reply(case.recording, case.recording.miss)

    assert (reply.outcome, reply.cost) == (TraceOutcome.MISS, case.recording.miss_cost)
    assert (reply.emails, reply.phones, reply.people) == ((), (), ())


@every_recording("ineligible", having="ineligible")
def test_a_request_without_enough_identifiers_is_ineligible(case: Case, vendor_api: FakeVendorApi) -> None:
    adapter = vendor_api.adapter(case.recording)

    assert adapter.unavailability(case.recording.ineligible) is TraceOutcome.INELIGIBLE  # type: ignore[arg-type]
    assert adapter.unavailability(case.recording.request) is None


@every_recording("unconfigured")
def test_a_provider_without_its_setting_is_unconfigured(case: Case) -> None:
    adapter = case.recording.vendor(ProviderSettings())

    assert adapter.unavailability(case.recording.request) is TraceOutcome.UNCONFIGURED


@every_recording("bad_key")
def test_a_rejected_key_is_unconfigured(case: Case, vendor_api: FakeVendorApi) -> None:
    reply = vendor_api.reply(case.recording, case.recording.bad_key)

    assert (reply.outcome, reply.cost) == (TraceOutcome.UNCONFIGURED, 0)


@every_recording("no_credits", having="no_credits")
def test_exhausted_credits_differ_from_a_rate_limit(case: Case, vendor_api: FakeVendorApi) -> None:
    reply = vendor_api.reply(case.recording, case.recording.no_credits or ())

    assert (reply.outcome, reply.cost) == (TraceOutcome.NO_CREDITS, 0)


@every_recording("rate_limited")
def test_too_many_requests_are_a_rate_limit(case: Case, vendor_api: FakeVendorApi) -> None:
    reply = vendor_api.reply(case.recording, case.recording.rate_limited)

    assert (reply.outcome, reply.cost) == (TraceOutcome.RATE_LIMITED, 0)


@every_recording("retry_after")
def test_a_rate_limit_has_a_retry_delay(case: Case, vendor_api: FakeVendorApi) -> None:
    *before, limited = case.recording.rate_limited
    with_delay = replace(limited, headers={**limited.headers, "Retry-After": str(RETRY_AFTER)})

    reply = vendor_api.reply(case.recording, [*before, with_delay])

    assert (reply.outcome, reply.retry_after) == (TraceOutcome.RATE_LIMITED, RETRY_AFTER)


@every_recording("suppressed", having="suppressed")
def test_a_person_who_opted_out_is_suppressed(case: Case, vendor_api: FakeVendorApi) -> None:
    reply = vendor_api.reply(case.recording, case.recording.suppressed or ())

    assert reply.outcome is TraceOutcome.SUPPRESSED
    assert (reply.emails, reply.phones, reply.people) == ((), (), ())
    assert (reply.contact, reply.company) == (None, None)


@every_recording("slow")
def test_a_slow_response_within_the_timeout_is_a_hit(case: Case, vendor_api: FakeVendorApi) -> None:
    vendor_api.respond_with(case.recording.hit, slowly=0.05)

    reply = _over(vendor_api.adapter(case.recording), case.recording.request)

    assert reply.outcome is TraceOutcome.HIT


@every_recording("hanging")
def test_a_vendor_that_hangs_is_limited_by_the_timeout(case: Case) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        base_url = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        adapter = case.recording.vendor(ProviderSettings(api_key=KEY, base_url=base_url))
        started = time.monotonic()

        with pytest.raises(ProviderTimeout):
            adapter.call(case.recording.request, seconds=0.05)

    assert time.monotonic() - started < 10


@every_recording("html_200")
def test_an_html_page_with_status_200_is_an_error_without_cost(case: Case, vendor_api: FakeVendorApi) -> None:
    reply = vendor_api.reply(case.recording, [PAGE])

    assert (reply.outcome, reply.cost) == (TraceOutcome.ERROR, 0)


@every_recording("html_500")
def test_an_html_page_with_status_500_is_an_error_without_cost(case: Case, vendor_api: FakeVendorApi) -> None:
    reply = vendor_api.reply(case.recording, [replace(PAGE, status=500)])

    assert (reply.outcome, reply.cost) == (TraceOutcome.ERROR, 0)


@every_recording("unexpected")
def test_undocumented_json_is_an_error(case: Case, vendor_api: FakeVendorApi) -> None:
    reply = vendor_api.reply(case.recording, case.recording.unexpected)

    assert (reply.outcome, reply.cost) == (TraceOutcome.ERROR, 0)


@every_recording("masked", having="masked")
def test_a_masked_value_is_dropped(case: Case, vendor_api: FakeVendorApi) -> None:
    reply = vendor_api.reply(case.recording, case.recording.masked or ())

    assert reply.outcome is TraceOutcome.MISS
    assert (reply.emails, reply.phones, reply.people) == ((), (), ())
    assert (reply.contact, reply.company) == (None, None)


@every_recording("never_ready", having="never_ready")
def test_a_result_that_is_never_ready_stays_pending_with_a_delay(
    case: Case, vendor_api: FakeVendorApi
) -> None:
    vendor_api.respond_with(case.recording.never_ready or ())

    waits = list(_waits(vendor_api.adapter(case.recording), case.recording.request))

    assert len(waits) == MAX_POLLS
    assert all(0 < pending.after <= case.recording.vendor.default_terms.poll_timeout for pending in waits)
    assert all(
        str(value) not in pending.poll_token
        for pending in waits
        for value in _personal(case.recording.request)
    )


def test_the_suite_covers_every_field_of_every_vendor() -> None:
    vendors = {vendor for vendor in PROVIDERS if isinstance(vendor, type) and issubclass(vendor, Vendor)}
    vendors |= {recording.vendor for recording in RECORDINGS}

    expected = {(vendor.name, field) for vendor in vendors for field in vendor.fields}

    assert {(recording.vendor.name, recording.request.field) for recording in RECORDINGS} == expected


def _response(canned: CannedResponse) -> Response:
    if isinstance(canned.body, str):
        return Response(canned.body, canned.status, canned.headers, content_type=canned.content_type)
    body = b"" if canned.body is None else _json(canned.body)
    return Response(body, canned.status, canned.headers, content_type=canned.content_type)


def _json(body: Any) -> bytes:
    return json.dumps(body).encode()


def _over(adapter: Vendor, request: ProviderRequest) -> ProviderResponse:
    """Call the adapter until it is no longer pending; map exceptions to outcomes as the waterfall does."""
    for _turn in range(MAX_POLLS):
        try:
            reply = adapter.call(request, seconds=SECONDS)
        except UnexpectedResponse:
            return ProviderResponse(outcome=TraceOutcome.ERROR)
        if isinstance(reply, ProviderResponse):
            return reply
        request = replace(request, poll_token=reply.poll_token)
    raise AssertionError("It is still pending.")


def _waits(adapter: Vendor, request: ProviderRequest) -> Iterator[Pending]:
    for _turn in range(MAX_POLLS):
        reply = adapter.call(request, seconds=SECONDS)
        assert isinstance(reply, Pending)
        yield reply
        request = replace(request, poll_token=reply.poll_token)


def _brought(reply: ProviderResponse) -> tuple[str | None, ...]:
    """Return the value of a hit, its provider and, for an address, its status."""
    for found in (*reply.emails, *reply.phones):
        value = getattr(found, "email", None) or getattr(found, "e164", None)
        return (value, found.source.provider, found.status)
    if reply.company:
        return (reply.company.domain, reply.company.source.provider, None)
    for person in reply.people:
        return (person.full_name, person.source.provider, None)
    if reply.contact:
        return (reply.contact.full_name, reply.contact.source.provider, None)
    return ()


def _expected(recording: VendorRecording) -> tuple[str | None, ...]:
    status = recording.status
    return (recording.value, recording.vendor.name, status)


def _sent(request: Request) -> dict[str, Any]:
    """Return the parameters of a request, from its query and its body."""
    return {**request.args.to_dict(), **(json.loads(request.get_data() or b"{}"))}


def _holds(sent: Any, expected: Any) -> bool:
    """Return whether all expected values were sent, at any depth."""
    if isinstance(expected, Mapping):
        return isinstance(sent, Mapping) and all(
            name in sent and _holds(sent[name], value) for name, value in expected.items()
        )
    if isinstance(expected, list):
        return isinstance(sent, list) and all(map(_holds, sent, expected)) and len(sent) == len(expected)
    return bool(sent == expected)


def _personal(request: ProviderRequest) -> list[str]:
    return list(request.subject.as_dict().values())
