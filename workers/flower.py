"""Entry point of `celery -A workers.flower flower`, with Flower's login required for every page.

Flower itself serves /metrics and /healthcheck without a login, and so exposes worker names, task names and
counts. Static files and the login page stay public.

It would also ask the workers every five seconds to publish events, which they do anyway; `--enable-events`
restores that.
"""

from __future__ import annotations

from flower.app import Flower
from flower.options import options
from flower.views.monitor import Healthcheck, Metrics
from tornado.web import authenticated

from app.infra import listening
from workers.application import app

__all__ = ["app"]

_start_http_server = Flower.start_http_server


def _start_if_free(self: Flower) -> int | None:
    """Listen, or end with a sentence instead of a traceback if the address is in use."""
    host = self.options.address or "0.0.0.0"  # noqa: S104 -- compared with what is in use
    listening.require_free(host, self.options.port, setting="FLOWER_PORT")
    port: int | None = _start_http_server(self)
    return port


Flower.start_http_server = _start_if_free

options.enable_events = False
Metrics.get = authenticated(Metrics.get)
Healthcheck.get = authenticated(Healthcheck.get)
