"""/healthz, /readyz and /metrics: for whoever runs the service, never for the world."""

from __future__ import annotations

import hmac
import os
from collections.abc import Callable
from typing import Any

from apiflask import APIBlueprint
from flask import Response, current_app, request
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest, multiprocess
from redis.exceptions import RedisError
from sqlalchemy import text

from app.api.answer import Machines, reply
from app.domain.errors import NotFound, Unavailable
from app.infra import presence, redis

blueprint = APIBlueprint("health", __name__, tag="Operations")

LOOPBACK = frozenset({"127.0.0.1", "::1"})
BY_PROXY = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "Via")


@blueprint.get("/healthz")
@blueprint.doc(responses={200: "The process is alive."})
def healthz() -> Response:
    """Tell that this process answers."""
    return reply({"status": "ok"})


@blueprint.get("/readyz")
@blueprint.doc(responses={200: "Everything answers.", 503: "Something does not; `checks` says what."})
def readyz() -> Response:
    """Tell whether the database, the queue and at least one worker answer."""
    machines: Machines = current_app.extensions["machines"]
    checks = {
        "database": _check(lambda: _ask_database(machines)),
        "queue": _check(lambda: _workers(machines) >= 0),
        "workers": _check(lambda: _workers(machines) > 0),
    }
    ready = all(state == "ok" for state in checks.values())
    return reply({"status": "ok" if ready else "unavailable", "checks": checks}, 200 if ready else 503)


@blueprint.get("/metrics")
@blueprint.doc(hide=True)
def metrics() -> Response:
    """Give the figures to Prometheus: with METRICS_TOKEN as the bearer token, or directly from this machine.

    Raises:
        NotFound: to anybody else, as if nothing were here.

    """
    if not _may_see_metrics(current_app.extensions["machines"].settings.metrics_token):
        raise NotFound
    registry = REGISTRY
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return Response(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def _may_see_metrics(token: str) -> bool:
    if token:
        return hmac.compare_digest(
            request.headers.get("Authorization", "").encode(), f"Bearer {token}".encode()
        )
    forwarded = any(name in request.headers for name in BY_PROXY)
    return request.remote_addr in LOOPBACK and not forwarded


def _check(probe: Callable[[], bool]) -> str:
    try:
        return "ok" if probe() else "missing"
    except (Unavailable, RedisError, OSError):
        return "unreachable"


def _ask_database(machines: Machines) -> bool:
    with machines.database.reading() as session:
        answer: Any = session.scalar(text("SELECT 1"))
        return bool(answer == 1)


def _workers(machines: Machines) -> int:
    with redis.connect(machines.settings.redis_url) as client:
        return presence.alive(client)
