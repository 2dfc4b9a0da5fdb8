"""Entry point of `celery -A workers.flower flower`, with Flower's login required for every page.

Flower itself serves /metrics and /healthcheck without a login, and so exposes worker names, task names and
counts. Static files and the login page stay public.

It would also ask the workers every five seconds to publish events, which they do anyway; `--enable-events`
restores that.
"""

from __future__ import annotations

from flower.options import options
from flower.views.monitor import Healthcheck, Metrics
from tornado.web import authenticated

from workers.application import app

__all__ = ["app"]

options.enable_events = False
Metrics.get = authenticated(Metrics.get)
Healthcheck.get = authenticated(Healthcheck.get)
