"""Prometheus metrics; no label contains data of a person or a workspace."""

from __future__ import annotations

from functools import cache

from prometheus_client import Counter, Gauge, Histogram

REQUESTS = Counter("ext_requests_total", "Responses by endpoint and status.", ["endpoint", "status"])
REQUEST_SECONDS = Histogram("ext_request_seconds", "Seconds per response, including waits.", ["endpoint"])
SENDS = Counter("ext_sends_total", "Job messages by whether Redis accepted them.", ["outcome"])
SIGN_INS = Counter("ext_sign_ins_total", "Password checks by outcome.", ["outcome"])
TOKENS_REFUSED = Counter("ext_tokens_refused_total", "Well-formed tokens refused, by reason.", ["outcome"])
CONNECTIONS_CUT = Counter(
    "ext_connections_cut_total", "Connections closed by the service, by reason.", ["reason"]
)
WAITS = Counter("ext_waits_total", "Waits for a job by outcome.", ["outcome"])
GROUP_SIZES = Histogram(
    "ext_group_size",
    "Calls that ran together in one transaction or round trip, by what they do.",
    ["group"],
    buckets=(1, 2, 4, 8, 16, 32, 64),
)
LOG_FAILURES = Counter("ext_log_failures_total", "Failed writes to the log, whose lines are lost.")
API_START_TIME = Gauge(
    "ext_api_start_time_seconds",
    "Unix time at which the newest process of the API started.",
    multiprocess_mode="livemax",
)


@cache
def api_heartbeat() -> Gauge:
    """Return the gauge of this process's last sign of life.

    A gauge is 0 until it is set. It exists only in processes that set it, so not in gunicorn's arbiter: the
    least of all is shown.
    """
    return Gauge(
        "ext_api_heartbeat_seconds",
        "Unix time of the last sign of life of the API's process that has given none for the longest.",
        multiprocess_mode="livemin",
    )
