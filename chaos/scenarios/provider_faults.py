"""R10: a provider that fails, hangs, says it is asked too often, and then is down altogether."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime

from sqlalchemy import text

from chaos.context import ScenarioContext
from chaos.generator import Operation
from chaos.load import Load
from chaos.service import SeedData
from chaos.vendor import NAME, PROFILE, Behaviour, Call, CannedResponse, Vendor

RATE, BURST = 5, 1
WINDOW = 5.0
JITTER = 0.5  # of the network and of threads that wake up late
REVEALS = 100
FAULTY_SECONDS = 25.0
HANG_SECONDS = 15.0  # longer than anybody waits for a provider
RETRY_AFTER = 6
CALLS_PER_429 = 37  # calls from one 429 to the next
PERMIT_WAIT_SECONDS = 1.5  # for so long a call that was let out may wait for its turn
PROBE_SECONDS = 3.0
JUST_OPENED = 28.0  # of its 30 seconds
THROTTLE = text("SELECT state, open_until FROM provider_gates WHERE provider = :name")
DRAIN = 120.0
FAILING, HANGING = 0.3, 0.1  # shares of the calls


def provider_faults(stage: ScenarioContext) -> None:
    """Ask a bad provider, then one that is down, and see when it is asked again."""
    vendor = Vendor(_faulty(stage.seed))
    settings = vendor.start(stage.service.folder, rates=f"{RATE}/second")
    try:
        cast = stage.start(contacts=0, **settings)
        load = Load(stage.service.base_url, _reveals(cast), pace=10, target=REVEALS)
        load.start()
        stage.run_load(load, {}, "the provider fails, hangs and refuses")
        time.sleep(FAULTY_SECONDS)
        _expect_rates(stage, vendor)
        more = _outage(stage, vendor, cast)
        load.book.accepted |= more.book.accepted
        load.book.operations |= more.book.operations
        drained = stage.drain(cast, load.book, DRAIN)
        found = stage.check(cast, load.book, drained, limit=DRAIN)
        stage.record(
            "calls to the provider", f"{len(vendor.calls):,} for {len(load.book.job_ids()):,} reveals"
        )
        stage.report_responses(load.book, found, {})
    finally:
        vendor.stop()


def _outage(stage: ScenarioContext, vendor: Vendor, cast: SeedData) -> Load:
    """Let everything fail until the breaker opens, then see who asks first."""
    vendor.behaviour = lambda _call: CannedResponse(503)
    load = Load(stage.service.base_url, _reveals(cast), pace=5, target=20)
    load.start()
    stage.show("the provider is down")
    opened, until = _wait_for_open(stage)
    stage.expect("the breaker", "open" if opened else "closed", "open", holds=opened)
    time.sleep(PERMIT_WAIT_SECONDS)  # for those who were let out before
    begun = time.monotonic()
    vendor.behaviour = lambda _call: CannedResponse(delay=PROBE_SECONDS)  # it is well again, and slow
    calls: list[float] = []
    patience = _monotonic(until) + 60.0
    while not calls and time.monotonic() < patience:
        time.sleep(0.1)
        calls = [call.received_at for call in vendor.calls if call.received_at > begun]
    time.sleep(PROBE_SECONDS * 0.8)  # until shortly before it is answered
    calls = [call.received_at for call in vendor.calls if call.received_at > begun]
    probes = len(calls)
    early = sum(at < _monotonic(until) - JITTER for at in calls)
    stage.expect("calls while it is open", f"{early}", "0", holds=early == 0)
    stage.expect("probes until one has answered", f"{probes}", "1", holds=probes == 1)
    vendor.behaviour = lambda _call: CannedResponse()
    load.wait(60.0)
    return load


def _expect_rates(stage: ScenarioContext, vendor: Vendor) -> None:
    times = sorted(call.received_at for call in vendor.calls)
    most = max((sum(0 <= other - at < WINDOW for other in times) for at in times), default=0)
    limit = RATE * (WINDOW + JITTER) + BURST
    stage.expect(
        f"most calls in any {WINDOW:.0f} s at {RATE}/s", f"{most}", f"{limit:.0f}", holds=most <= limit
    )
    refused = [at for at, says in vendor.responses if says.status == 429]  # noqa: PLR2004 - HTTP's
    slack = PERMIT_WAIT_SECONDS * stage.service.slowness
    early = sum(at + slack < other < at + RETRY_AFTER for at in refused for other in times)
    what = f"calls before Retry-After was over ({len(refused)} x 429)"
    stage.expect(what, f"{early}", "0", holds=early == 0)


def _wait_for_open(stage: ScenarioContext) -> tuple[bool, datetime]:
    deadline = time.monotonic() + 60.0
    while time.monotonic() < deadline:
        with stage.service.engine.connect() as connection:
            row = connection.execute(THROTTLE, {"name": NAME}).one_or_none()
        if row is not None and row.state == "open":
            until = (
                datetime.fromisoformat(row.open_until) if isinstance(row.open_until, str) else row.open_until
            )
            until = until if until.tzinfo else until.replace(tzinfo=UTC)
            if (until - datetime.now(UTC)).total_seconds() > JUST_OPENED:  # not long ago, by the mischief
                return True, until
        time.sleep(0.1)
    return False, datetime.now(UTC)


def _monotonic(moment: datetime) -> float:
    return time.monotonic() + (moment - datetime.now(UTC)).total_seconds()


def _faulty(seed: int) -> Behaviour:
    dice = random.Random(seed)  # noqa: S311 - a run can be repeated
    count = 0

    def manner(_call: Call) -> CannedResponse:
        nonlocal count
        count += 1
        if count % CALLS_PER_429 == 0:
            return CannedResponse(429, retry_after=RETRY_AFTER)
        luck = dice.random()
        if luck < FAILING:
            return CannedResponse(503)
        return CannedResponse(delay=HANG_SECONDS) if luck < FAILING + HANGING else CannedResponse()

    return manner


def _reveals(cast: SeedData) -> Iterator[Operation]:
    while True:
        for member in cast.tenants:
            key = str(uuid.uuid4())
            who = "nobody" if key[0] in "0123" else "someone"
            body = {"subject": {"linkedin_url": f"{PROFILE}{who}-{key}"}}
            yield Operation(member, "/api/ext/reveal/email", body, key, must_succeed=False)
