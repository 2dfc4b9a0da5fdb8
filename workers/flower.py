"""Entry point of `celery -A workers.flower flower`, with Flower's login required for every page.

Flower itself serves /metrics and /healthcheck without a login, and so exposes worker names, task names and
counts. Static files and the login page stay public.

The workers publish their events anyway. With `--enable-events=False`, Flower does not ask them to every five
seconds.
"""

from __future__ import annotations

from flower.views.monitor import Healthcheck, Metrics
from tornado.web import authenticated

from workers.application import app

__all__ = ["app"]

Metrics.get = authenticated(Metrics.get)
Healthcheck.get = authenticated(Healthcheck.get)
