"""Figures for Prometheus; no label ever holds anything about a person or a workspace."""

from __future__ import annotations

from prometheus_client import Counter, Histogram

REQUESTS = Counter("ext_requests_total", "Answers by endpoint and status.", ["endpoint", "status"])
REQUEST_SECONDS = Histogram("ext_request_seconds", "Seconds per answer, waiting included.", ["endpoint"])
SENDS = Counter("ext_sends_total", "Job messages by whether Redis took them.", ["outcome"])
SIGN_INS = Counter("ext_sign_ins_total", "Passwords checked, by how it ended.", ["outcome"])
TOKENS_REFUSED = Counter("ext_tokens_refused_total", "Well-formed tokens refused, by why.", ["outcome"])
CONNECTIONS_CUT = Counter(
    "ext_connections_cut_total", "Connections the service ended, by what for.", ["reason"]
)
WAITS = Counter("ext_waits_total", "Waits for a job by how they ended.", ["outcome"])
LOG_FAILURES = Counter("ext_log_failures_total", "Writes to the log that failed; their lines are lost.")
