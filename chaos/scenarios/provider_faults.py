"""R10: a provider that fails, hangs and refuses some calls, and is then down altogether."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime

from sqlalchemy import text

from chaos.context import ScenarioContext
from chaos.system.service import SeedData
from chaos.system.vendor import NAME, PROFILE, UNKNOWN, Behaviour, Call, CannedResponse, Vendor
from chaos.workload.generator import Operation
from chaos.workload.load import Load

RATE, BURST = 5, 1
WINDOW_SECONDS = 5.0
JITTER_SECONDS = 0.5  # of the network, and of threads that wake up late
REVEALS = 100
FAULTY_SECONDS = 25.0
FAILURE_SHARE, HANG_SHARE = 0.3, 0.1  # of the calls
HANG_SECONDS = 15.0  # longer than the service waits for a provider
CALLS_PER_429 = 37
RETRY_AFTER = 6
PERMIT_WAIT_SECONDS = 1.5  # the longest time between the permit for a call and the call
PROBE_SECONDS = 3.0
JUST_OPENED = 28.0  # seconds left of the breaker's 30
DRAIN_SECONDS = 120.0
BREAKER = text("SELECT state, open_until FROM provider_gates WHERE provider = :name")


def provider_faults(context: ScenarioContext) -> None:
    """Query a faulty provider, then one that is down, and measure when it is queried again."""
    vendor = Vendor(_faulty(context.seed))
    settings = vendor.start(context.service.folder, rates=f"{RATE}/second")
    try:
        data = context.start(contacts=0, **settings)
        load = Load(context.service.base_url, _reveals(data), pace=10, target=REVEALS)
        load.start()
        context.wait_for(load, {}, "the provider fails, hangs and refuses")
        time.sleep(FAULTY_SECONDS)
        _expect_rates(context, vendor)
        history, outage = load.history, _outage(context, vendor, data).history
        history.accepted |= outage.accepted
        history.operations |= outage.operations
        drained = context.drain(data, history, DRAIN_SECONDS)
        findings = context.check(data, history, drained, limit=DRAIN_SECONDS)
        reveals = len(set(history.accepted.values()))
        context.record("calls to the provider", f"{len(vendor.calls):,} for {reveals:,} reveals")
        context.report_responses(history, findings, {})
    finally:
        vendor.stop()


def _outage(context: ScenarioContext, vendor: Vendor, data: SeedData) -> Load:
    """Make every call fail until the circuit breaker opens; expect one probe after it may close."""
    vendor.behaviour = lambda _call: CannedResponse(503)
    load = Load(context.service.base_url, _reveals(data), pace=5, target=20)
    load.start()
    context.show("the provider is down")
    opened, open_until = _wait_for_open(context)
    context.expect("the breaker", "open" if opened else "closed", "open", holds=opened)
    time.sleep(PERMIT_WAIT_SECONDS)  # for calls that were permitted before it opened
    started = time.monotonic()
    vendor.behaviour = lambda _call: CannedResponse(delay=PROBE_SECONDS)  # it works again, slowly
    deadline = _monotonic(open_until) + 60.0
    while not _calls_since(vendor, started) and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(PROBE_SECONDS * 0.8)  # until shortly before the response to the probe
    calls = _calls_since(vendor, started)
    early = sum(call < _monotonic(open_until) - JITTER_SECONDS for call in calls)
    context.expect("calls while the breaker is open", f"{early}", "0", holds=early == 0)
    context.expect("probes until one has succeeded", f"{len(calls)}", "1", holds=len(calls) == 1)
    vendor.behaviour = lambda _call: CannedResponse()
    load.wait(60.0)
    return load


def _calls_since(vendor: Vendor, started: float) -> list[float]:
    return [call.received_at for call in vendor.calls if call.received_at > started]


def _expect_rates(context: ScenarioContext, vendor: Vendor) -> None:
    """Report whether the service kept to the configured rate and to Retry-After."""
    calls = sorted(call.received_at for call in vendor.calls)
    most = max((sum(0 <= call - first < WINDOW_SECONDS for call in calls) for first in calls), default=0)
    limit = RATE * (WINDOW_SECONDS + JITTER_SECONDS) + BURST
    title = f"most calls in any {WINDOW_SECONDS:.0f} s at {RATE}/s"
    context.expect(title, f"{most}", f"{limit:.0f}", holds=most <= limit)
    refusals = [sent_at for sent_at, response in vendor.responses if response.status == 429]  # noqa: PLR2004 - HTTP's
    slack = PERMIT_WAIT_SECONDS * context.service.slowness
    early = sum(refusal + slack < call < refusal + RETRY_AFTER for refusal in refusals for call in calls)
    title = f"calls before Retry-After was over ({len(refusals)} x 429)"
    context.expect(title, f"{early}", "0", holds=early == 0)


def _wait_for_open(context: ScenarioContext) -> tuple[bool, datetime]:
    """Return whether the outage (not an earlier fault) opened the breaker, and until when it is open."""
    deadline = time.monotonic() + 60.0
    while time.monotonic() < deadline:
        with context.service.engine.connect() as connection:
            row = connection.execute(BREAKER, {"name": NAME}).one_or_none()
        if row is not None and row.state == "open":
            stored = row.open_until
            open_until = datetime.fromisoformat(stored) if isinstance(stored, str) else stored
            open_until = open_until if open_until.tzinfo else open_until.replace(tzinfo=UTC)
            if (open_until - datetime.now(UTC)).total_seconds() > JUST_OPENED:
                return True, open_until
        time.sleep(0.1)
    return False, datetime.now(UTC)


def _monotonic(moment: datetime) -> float:
    return time.monotonic() + (moment - datetime.now(UTC)).total_seconds()


def _faulty(seed: int) -> Behaviour:
    """Return a behaviour that refuses, fails and hangs; the same seed gives the same sequence."""
    rng = random.Random(seed)  # noqa: S311 - so that a run can be repeated
    count = 0

    def behaviour(_call: Call) -> CannedResponse:
        nonlocal count
        count += 1
        if count % CALLS_PER_429 == 0:
            return CannedResponse(429, retry_after=RETRY_AFTER)
        number = rng.random()
        if number < FAILURE_SHARE:
            return CannedResponse(503)
        return CannedResponse(delay=HANG_SECONDS) if number < FAILURE_SHARE + HANG_SHARE else CannedResponse()

    return behaviour


def _reveals(data: SeedData) -> Iterator[Operation]:
    """Yield reveals of people without end, a quarter of whom the vendor does not know."""
    while True:
        for tenant in data.tenants:
            key = str(uuid.uuid4())
            person = UNKNOWN if key[0] in "0123" else "known"
            body = {"subject": {"linkedin_url": f"{PROFILE}{person}-{key}"}}
            yield Operation(tenant, "/api/ext/reveal/email", body, key, must_succeed=False)
