"""/healthz, /readyz and /metrics: endpoints for the operator, not for the public."""

from __future__ import annotations

import hmac
import os
from functools import lru_cache
from typing import Any

from apiflask import APIBlueprint
from apiflask.fields import Dict, String
from flask import Response, request
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest, multiprocess

from app.api.ops.activity import Activity
from app.api.ops.activity_gauges import ActivityGauges
from app.api.ops.gauges import Gauges
from app.api.ops.readiness import READY, WARNINGS, Readiness, readiness
from app.domain.errors import NotFound
from app.infra.crypto.digest_keys import INSTALLATION_HEADER
from app.web.bodies.body import json_response
from app.web.schemas.fields import ResponseSchema
from app.web.services import AppServices, services

blueprint = APIBlueprint("health", __name__, tag="Operations")

LOOPBACK = frozenset({"127.0.0.1", "::1"})
BY_PROXY = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "Via")


class HealthResponseSchema(ResponseSchema):
    """The liveness of the process."""

    status = String(required=True, metadata={"description": "`ok`"})


class HealthHeadersSchema(ResponseSchema):
    """The headers of the liveness."""

    installation = String(
        data_key=INSTALLATION_HEADER,
        required=True,
        metadata={
            "description": "Tells this installation from another one: a fingerprint of its secret.",
            "pattern": "^[0-9a-f]{16}$",
        },
    )


class ReadinessResponseSchema(ResponseSchema):
    """Whether new jobs would be processed, and what to do if not."""

    status = String(required=True, metadata={"description": "`ok` or `unavailable`"})
    checks = Dict(
        keys=String(),
        values=String(),
        required=True,
        metadata={
            "description": (
                "`database`, `queue`, `workers` and `progress`: each `ok` or the kind of fault, which is "
                "`unreachable`, `no_answer`, `newer_tables`, `refuses_writes`, `missing`, `without_queue`, "
                "`stalled` or `unknown`. `clocks` is `differ` if a process's clock is more than a second "
                "off the database's clock. This is only a warning: jobs are still processed."
            )
        },
    )
    detail = String(required=True, metadata={"description": "The remedy, for the operator."})


_NOT_READY: dict[int | str, dict[str, str | dict[str, dict[str, Any]]]] = {
    503: {
        "description": "A part is down; `checks` says which, and `detail` what to do.",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ReadinessResponseSchema"}}},
    }
}


@blueprint.get("/healthz")
@blueprint.output(HealthResponseSchema, description="The process is alive.", headers=HealthHeadersSchema)
def healthz() -> Response:
    """Report that this process is alive."""
    response = json_response({"status": "ok"})
    response.headers[INSTALLATION_HEADER] = services().digest_keys.installation
    return response


@blueprint.get("/readyz")
@blueprint.output(ReadinessResponseSchema, description="Jobs are accepted and processed.")
@blueprint.doc(responses=_NOT_READY)
def readyz() -> Response:
    """Report whether database, queue and workers are available and jobs progress, within two seconds."""
    checks, detail = readiness(_probes(services()))
    ready = all(result == READY for part, result in checks.items() if part not in WARNINGS)
    body = {"status": "ok" if ready else "unavailable", "checks": checks, "detail": detail}
    return json_response(body, 200 if ready else 503)


@blueprint.get("/metrics")
@blueprint.doc(hide=True)
def metrics() -> Response:
    """Return the metrics for Prometheus to a caller with METRICS_TOKEN, or on loopback if none is set.

    For others the endpoint appears not to exist.
    """
    if not _may_see_metrics(services().settings.metrics_token):
        raise NotFound
    counters = REGISTRY
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        counters = CollectorRegistry()
        multiprocess.MultiProcessCollector(counters)  # type: ignore[no-untyped-call]
    gauges = CollectorRegistry()
    gauges.register(Gauges(_probes(services())))
    gauges.register(ActivityGauges(_activity(services())))
    return Response(generate_latest(counters) + generate_latest(gauges), content_type=CONTENT_TYPE_LATEST)


def _may_see_metrics(token: str) -> bool:
    if token:
        return hmac.compare_digest(
            request.headers.get("Authorization", "").encode(), f"Bearer {token}".encode()
        )
    forwarded = any(name in request.headers for name in BY_PROXY)
    return request.remote_addr in LOOPBACK and not forwarded


@lru_cache(maxsize=1)
def _probes(app_services: AppServices) -> Readiness:
    """Return the probes of the process, which keep their threads and connections between requests."""
    return Readiness(app_services)


@lru_cache(maxsize=1)
def _activity(app_services: AppServices) -> Activity:
    """Return the probes of the activity, which are kept in the same way."""
    return Activity(app_services)
