"""The faults: what is broken, and which alert says so."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import redis

from chaos.alerts.bench import ENRICHMENT, Bench
from chaos.system.proxy import Mode
from chaos.system.service import BEAT, INTERACTIVE, PREFORK_WORKER, UPKEEP, WEB
from chaos.system.vendor import Call, CannedResponse
from tools.services.ports import LOOPBACK
from tools.services.processes import ServiceError

FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")
SKEW = "-60s"
BURST = 150


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault; one of `alerts` is expected. If `every` is set, it is injected again after so many seconds."""

    title: str
    alerts: tuple[str, ...]
    inject: Callable[[Bench], object]
    repair: Callable[[Bench], object] = lambda _bench: None
    every: float | None = None


def _respond(response: CannedResponse) -> Callable[[Bench], None]:
    def inject(bench: Bench) -> None:
        bench.vendor.behaviour = lambda _call: response

    return inject


def _stop(*names: str) -> Callable[[Bench], object]:
    return lambda bench: bench.service.processes.stop(names, grace=0.0)


def _disturb(mode: Mode, latency: float = 0.0) -> Callable[[Bench], None]:
    def inject(bench: Bench) -> None:
        assert bench.service.database_proxy is not None  # noqa: S101 - for the types: it runs on PostgreSQL
        bench.service.database_proxy.set(mode, latency=latency)

    return inject


def _max_memory(value: str) -> Callable[[Bench], None]:
    def inject(bench: Bench) -> None:
        with redis.Redis(LOOPBACK, bench.service.redis.port) as client:
            client.config_set("maxmemory", value)

    return inject


def _restart_redis(bench: Bench) -> None:
    bench.service.redis.kill()
    time.sleep(0.3)
    bench.service.redis.start()


def _crash_database(bench: Bench) -> None:
    assert bench.service.database is not None  # noqa: S101 - see above
    bench.service.database.crash()


def _start_database(bench: Bench) -> None:
    assert bench.service.database is not None  # noqa: S101 - see above
    bench.service.database.start()


def _restart_database(bench: Bench) -> None:
    _crash_database(bench)
    _start_database(bench)


def _kill_api_process(bench: Bench) -> None:
    bench.service.processes.kill_child(WEB, index=next(_index))


def _kill_pool_child(bench: Bench) -> None:
    bench.vendor.behaviour = lambda _call: CannedResponse(delay=1.0)
    bench.service.processes.kill_child(PREFORK_WORKER, index=next(_index))


def _poison(bench: Bench) -> None:
    """Kill the process that calls the provider, once."""
    calls = itertools.count()

    def behaviour(call: Call) -> CannedResponse:
        if next(calls) == 0:
            any(bench.service.processes.kill_connection_owner(name, call.port) for name in INTERACTIVE)
            time.sleep(1.0)
        return CannedResponse()

    bench.vendor.behaviour = behaviour


def _skew(bench: Bench) -> None:
    """Restart the worker of the upkeep with a clock that is a minute behind.

    Raises:
        ServiceError: the library that changes the clock is not installed.

    """
    if not FAKETIME.exists():
        raise ServiceError("The clock cannot be changed: apt-get install libfaketime")
    bench.service.processes.stop([UPKEEP])
    fake = {"LD_PRELOAD": str(FAKETIME), "FAKETIME": SKEW, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    command = re.sub(r"-n \S+", "-n upkeep@%h", bench.service.commands()[UPKEEP])
    bench.service.processes.start(UPKEEP, command, bench.service.env | bench.service.settings | fake)


def _overload(bench: Bench) -> None:
    bench.vendor.behaviour = lambda _call: CannedResponse(delay=4.0)
    bench.reveal(BURST)


def _fail_webhooks(bench: Bench) -> None:
    bench.receiver.status = 500


_index = itertools.count()
FAULTS = (
    Fault("a worker is killed", ("WorkerLost",), lambda bench: bench.service.processes.kill(INTERACTIVE[0])),
    Fault("all workers of a queue are gone", ("QueueWithoutWorkers",), _stop(*INTERACTIVE)),
    Fault("the worker of the upkeep is gone", ("QueueWithoutWorkers",), _stop(UPKEEP)),
    Fault("the worker of enrichments is gone", ("QueueWithoutWorkers",), _stop(ENRICHMENT)),
    Fault("beat is gone", ("BeatDown",), _stop(BEAT)),
    Fault("a reveal kills the process that works on it", ("WorkerLost", "JobsCrash"), _poison),
    Fault("pool children are killed every five seconds", ("JobsCrash",), _kill_pool_child, every=5.0),
    Fault(
        "Redis is stopped",
        ("RedisDown",),
        lambda bench: bench.service.redis.kill(),
        lambda bench: bench.service.redis.start(),
    ),
    Fault(
        "Redis is frozen",
        ("RedisDown",),
        lambda bench: bench.service.redis.freeze(),
        lambda bench: bench.service.redis.resume(),
    ),
    Fault("Redis has no memory left", ("RedisDown",), _max_memory("1"), _max_memory("0")),
    Fault("Redis is killed every five seconds", ("ServerRestarts",), _restart_redis, every=5.0),
    Fault("PostgreSQL is stopped", ("DatabaseDown",), _crash_database, _start_database),
    Fault("the network to PostgreSQL blocks", ("DatabaseDown",), _disturb(Mode.BLACKHOLE)),
    Fault("the network to PostgreSQL resets", ("DatabaseDown",), _disturb(Mode.RESET)),
    Fault(
        "the network to PostgreSQL is slow",
        ("ServerSlow", "DatabaseDown"),
        _disturb(Mode.LATENCY, latency=0.03),
    ),
    Fault("PostgreSQL crashes every eight seconds", ("ServerRestarts",), _restart_database, every=8.0),
    Fault("an API process is killed every eight seconds", ("ServerRestarts",), _kill_api_process, every=8.0),
    Fault("the API is gone", ("ApiDown",), _stop(WEB)),
    Fault("a provider fails", ("ProviderDown", "ProviderErrors"), _respond(CannedResponse(503))),
    Fault("a provider hangs", ("ProviderDown", "ProviderErrors"), _respond(CannedResponse(delay=15.0))),
    Fault("a provider is slow", ("ProviderSlow",), _respond(CannedResponse(delay=8.0))),
    Fault("a provider has no credits left", ("ProviderDown",), _respond(CannedResponse(402))),
    Fault("the receiver of webhooks fails", ("WebhooksFail",), _fail_webhooks),
    Fault("a burst of reveals meets a slow provider", ("QueueBacklog",), _overload),
    Fault("the clock of a worker is a minute behind", ("ClocksDiffer",), _skew, _stop(UPKEEP)),
)
