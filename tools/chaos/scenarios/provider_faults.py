"""R10: a provider that fails, hangs, says it is asked too often, and then is down altogether."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime

from sqlalchemy import text

from tools.chaos.deck import Asked
from tools.chaos.load import Load
from tools.chaos.stack import Cast
from tools.chaos.stage import Stage
from tools.chaos.vendor import NAME, PROFILE, Call, Manner, Says, Vendor

RATE, BURST = 5, 1
WINDOW = 5.0
JITTER = 0.5  # of the network and of threads that wake up late
REVEALS = 100
MISCHIEF_SECONDS = 25.0
HANG_SECONDS = 15.0  # longer than anybody waits for a provider
RETRY_AFTER = 6
EVERY = 37  # calls from one 429 to the next
ITS_TURN = 1.5  # for so long a call that was let out may wait for its turn
PROBE_SECONDS = 3.0
JUST_OPENED = 28.0  # of its 30 seconds
GATE = text("SELECT state, open_until FROM provider_gates WHERE provider = :name")
DRAIN = 120.0
FAILING, HANGING = 0.3, 0.1  # shares of the calls


def provider_faults(stage: Stage) -> None:
    """Ask a bad provider, then one that is down, and see when it is asked again."""
    vendor = Vendor(_mischief(stage.seed))
    settings = vendor.start(stage.stack.folder, rates=f"{RATE}/second")
    try:
        cast = stage.begin(contacts=0, **settings)
        load = Load(stage.stack.base_url, _people(cast), pace=10, target=REVEALS)
        load.start()
        stage.watch(load, {}, "the provider fails, hangs and refuses")
        time.sleep(MISCHIEF_SECONDS)
        _promise_rates(stage, vendor)
        more = _outage(stage, vendor, cast)
        load.book.accepted |= more.book.accepted
        load.book.asked |= more.book.asked
        drained = stage.drain(cast, load.book, DRAIN)
        found = stage.judge(cast, load.book, drained, limit=DRAIN)
        stage.figure(
            "calls to the provider", f"{len(vendor.calls):,} for {len(load.book.job_ids()):,} reveals"
        )
        stage.answers(load.book, found, {})
    finally:
        vendor.stop()


def _outage(stage: Stage, vendor: Vendor, cast: Cast) -> Load:
    """Let everything fail until the breaker opens, then see who asks first."""
    vendor.manner = lambda _call: Says(503)
    load = Load(stage.stack.base_url, _people(cast), pace=5, target=20)
    load.start()
    stage.say("the provider is down")
    opened, until = _wait_for_open(stage)
    stage.promise("the breaker", "open" if opened else "closed", "open", holds=opened)
    time.sleep(ITS_TURN)  # for those who were let out before
    begun = time.monotonic()
    vendor.manner = lambda _call: Says(after=PROBE_SECONDS)  # it is well again, and slow
    calls: list[float] = []
    patience = _monotonic(until) + 60.0
    while not calls and time.monotonic() < patience:
        time.sleep(0.1)
        calls = [call.at for call in vendor.calls if call.at > begun]
    time.sleep(PROBE_SECONDS * 0.8)  # until shortly before it is answered
    calls = [call.at for call in vendor.calls if call.at > begun]
    probes = len(calls)
    early = sum(at < _monotonic(until) - JITTER for at in calls)
    stage.promise("calls while it is open", f"{early}", "0", holds=early == 0)
    stage.promise("probes until one has answered", f"{probes}", "1", holds=probes == 1)
    vendor.manner = lambda _call: Says()
    load.wait(60.0)
    return load


def _promise_rates(stage: Stage, vendor: Vendor) -> None:
    times = sorted(call.at for call in vendor.calls)
    most = max((sum(0 <= other - at < WINDOW for other in times) for at in times), default=0)
    limit = RATE * (WINDOW + JITTER) + BURST
    stage.promise(
        f"most calls in any {WINDOW:.0f} s at {RATE}/s", f"{most}", f"{limit:.0f}", holds=most <= limit
    )
    refused = [at for at, says in vendor.said if says.status == 429]  # noqa: PLR2004 - HTTP's
    slack = ITS_TURN * stage.stack.slowness
    early = sum(at + slack < other < at + RETRY_AFTER for at in refused for other in times)
    what = f"calls before Retry-After was over ({len(refused)} x 429)"
    stage.promise(what, f"{early}", "0", holds=early == 0)


def _wait_for_open(stage: Stage) -> tuple[bool, datetime]:
    deadline = time.monotonic() + 60.0
    while time.monotonic() < deadline:
        with stage.stack.engine.connect() as connection:
            row = connection.execute(GATE, {"name": NAME}).one_or_none()
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


def _mischief(seed: int) -> Manner:
    dice = random.Random(seed)  # noqa: S311 - a run can be repeated
    count = 0

    def manner(_call: Call) -> Says:
        nonlocal count
        count += 1
        if count % EVERY == 0:
            return Says(429, retry_after=RETRY_AFTER)
        luck = dice.random()
        if luck < FAILING:
            return Says(503)
        return Says(after=HANG_SECONDS) if luck < FAILING + HANGING else Says()

    return manner


def _people(cast: Cast) -> Iterator[Asked]:
    while True:
        for member in cast.members:
            key = str(uuid.uuid4())
            who = "nobody" if key[0] in "0123" else "someone"
            body = {"subject": {"linkedin_url": f"{PROFILE}{who}-{key}"}}
            yield Asked(member, "/api/ext/reveal/email", body, key, innocent=False)
