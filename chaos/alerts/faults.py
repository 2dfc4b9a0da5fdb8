"""The faults: what is broken, and which alert says so."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import redis

from chaos.alerts.testbed import ENRICHMENT, Testbed
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
    inject: Callable[[Testbed], object]
    repair: Callable[[Testbed], object] = lambda _testbed: None
    every: float | None = None


def _respond(response: CannedResponse) -> Callable[[Testbed], None]:
    def inject(testbed: Testbed) -> None:
        testbed.vendor.behaviour = lambda _call: response

    return inject


def _stop(*names: str) -> Callable[[Testbed], object]:
    return lambda testbed: testbed.service.processes.stop(names, grace=0.0)


def _disturb(mode: Mode, latency: float = 0.0) -> Callable[[Testbed], None]:
    def inject(testbed: Testbed) -> None:
        assert testbed.service.database_proxy is not None  # noqa: S101 - for the types: it runs on PostgreSQL
        testbed.service.database_proxy.set(mode, latency=latency)

    return inject


def _max_memory(value: str) -> Callable[[Testbed], None]:
    def inject(testbed: Testbed) -> None:
        with redis.Redis(LOOPBACK, testbed.service.redis.port) as client:
            client.config_set("maxmemory", value)

    return inject


def _empty_redis(testbed: Testbed) -> None:
    with redis.Redis(LOOPBACK, testbed.service.redis.port) as client:
        client.flushall()


def _restart_redis(testbed: Testbed) -> None:
    testbed.service.redis.kill()
    time.sleep(0.3)
    testbed.service.redis.start()


def _crash_database(testbed: Testbed) -> None:
    assert testbed.service.database is not None  # noqa: S101 - see above
    testbed.service.database.crash()


def _start_database(testbed: Testbed) -> None:
    assert testbed.service.database is not None  # noqa: S101 - see above
    testbed.service.database.start()


def _restart_database(testbed: Testbed) -> None:
    _crash_database(testbed)
    _start_database(testbed)


def _kill_api_process(testbed: Testbed) -> None:
    testbed.service.processes.kill_child(WEB, index=next(_index))


def _kill_pool_child(testbed: Testbed) -> None:
    testbed.vendor.behaviour = lambda _call: CannedResponse(delay=1.0)
    testbed.service.processes.kill_child(PREFORK_WORKER, index=next(_index))


def _poison(testbed: Testbed) -> None:
    """Kill the process that calls the provider, once."""
    calls = itertools.count()

    def behaviour(call: Call) -> CannedResponse:
        if next(calls) == 0:
            any(testbed.service.processes.kill_connection_owner(name, call.port) for name in INTERACTIVE)
            time.sleep(1.0)
        return CannedResponse()

    testbed.vendor.behaviour = behaviour


def _skew(testbed: Testbed) -> None:
    """Restart the worker of the upkeep with a clock that is a minute behind.

    Raises:
        ServiceError: the library that changes the clock is not installed.

    """
    if not FAKETIME.exists():
        raise ServiceError("The clock cannot be changed: apt-get install libfaketime")
    testbed.service.processes.stop([UPKEEP])
    fake = {"LD_PRELOAD": str(FAKETIME), "FAKETIME": SKEW, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    command = re.sub(r"-n \S+", "-n upkeep@%h", testbed.service.commands()[UPKEEP])
    testbed.service.processes.start(UPKEEP, command, testbed.service.env | testbed.service.settings | fake)


def _overload(testbed: Testbed) -> None:
    testbed.vendor.behaviour = lambda _call: CannedResponse(delay=4.0)
    testbed.reveal(BURST)


def _fail_webhooks(testbed: Testbed) -> None:
    testbed.receiver.status = 500


_index = itertools.count()
FAULTS = (
    Fault(
        "a worker is killed", ("WorkerLost",), lambda testbed: testbed.service.processes.kill(INTERACTIVE[0])
    ),
    Fault("all workers of a queue are gone", ("QueueWithoutWorkers",), _stop(*INTERACTIVE)),
    Fault("the worker of the upkeep is gone", ("QueueWithoutWorkers",), _stop(UPKEEP)),
    Fault("the worker of enrichments is gone", ("QueueWithoutWorkers",), _stop(ENRICHMENT)),
    Fault("beat is gone", ("BeatDown",), _stop(BEAT)),
    Fault("a reveal kills the process that works on it", ("WorkerLost", "JobsCrash"), _poison),
    Fault("pool children are killed every five seconds", ("JobsCrash",), _kill_pool_child, every=5.0),
    Fault(
        "Redis is stopped",
        ("RedisDown",),
        lambda testbed: testbed.service.redis.kill(),
        lambda testbed: testbed.service.redis.start(),
    ),
    Fault(
        "Redis is frozen",
        ("RedisDown",),
        lambda testbed: testbed.service.redis.freeze(),
        lambda testbed: testbed.service.redis.resume(),
    ),
    Fault("Redis has no memory left", ("RedisDown",), _max_memory("1"), _max_memory("0")),
    Fault("Redis loses its data", ("RedisDataLost",), _empty_redis),
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
    Fault(
        "an API process is frozen",
        ("ApiFrozen",),
        lambda testbed: testbed.service.processes.freeze_child(WEB),
    ),
    Fault("the API is gone", ("ApiDown",), _stop(WEB)),
    Fault("a provider fails", ("ProviderDown", "ProviderErrors"), _respond(CannedResponse(503))),
    Fault("a provider hangs", ("ProviderDown", "ProviderErrors"), _respond(CannedResponse(delay=15.0))),
    Fault("a provider is slow", ("ProviderSlow",), _respond(CannedResponse(delay=8.0))),
    Fault("a provider has no credits left", ("ProviderDown",), _respond(CannedResponse(402))),
    Fault("the receiver of webhooks fails", ("WebhooksFail",), _fail_webhooks),
    Fault("a burst of reveals meets a slow provider", ("QueueBacklog",), _overload),
    Fault("the clock of a worker is a minute behind", ("ClocksDiffer",), _skew, _stop(UPKEEP)),
)
