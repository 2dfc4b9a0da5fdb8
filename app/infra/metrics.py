"""Figures for Prometheus; no label ever holds anything about a person or a workspace."""

from __future__ import annotations

from prometheus_client import Counter, Histogram

REQUESTS = Counter("ext_requests_total", "Answers by endpoint and status.", ["endpoint", "status"])
REQUEST_SECONDS = Histogram("ext_request_seconds", "Seconds per answer, waiting included.", ["endpoint"])
SENDS = Counter("ext_sends_total", "Job messages by whether Redis took them.", ["outcome"])
WAITS = Counter("ext_waits_total", "Waits for a job by how they ended.", ["outcome"])
