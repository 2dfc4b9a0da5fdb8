"""Flower's entrance: `celery -A workers.flower flower`, with its login before every page.

By itself Flower answers /metrics and /healthcheck to anybody, whatever login is set: worker names, task
names and counts. Static files and the login itself stay open.
"""

from __future__ import annotations

from flower.views.monitor import Healthcheck, Metrics
from tornado.web import authenticated

from workers.main import app

__all__ = ["app"]

Metrics.get = authenticated(Metrics.get)
Healthcheck.get = authenticated(Healthcheck.get)
