"""The parts of the product's work, and the share of the samples that each has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

OTHER = "other"
WEB: Mapping[str, tuple[str, ...]] = {
    "rate limit": ("app/api/http/rate_limits.py", "app/infra/rate_limiter.py"),
    "token: check and read": (
        "flask_httpauth.py",
        "app/api/http/auth.py",
        "app/core/accounts/",
        "app/server/token_accounts.py",
    ),
    "admission, and the turns of a workspace": (
        "app/api/http/admission.py",
        "app/server/bulkhead.py",
        "_submit_in_turn (",
    ),
    "body and its schema": ("app/api/http/body.py", "app/api/schemas/", "marshmallow/", "webargs/"),
    "message to the queue": ("app/infra/queue.py", "app/infra/redis_broker.py", "app/infra/task_messages.py"),
    "submission: price, insert the job, hold the credits, commit": (
        "_submit (",
        "app/core/jobs/submission.py",
        "app/core/jobs/result_reuse.py",
    ),
    "wait for the notification, and read the finished job": (
        "app/api/http/waiting.py",
        "app/infra/job_notifications.py",
    ),
    "match the subject": ("app/core/matching/",),
    "read what is stored of the person": ("app/core/lookups/contact_data.py",),
    "response": (
        "app/api/http/job_responses.py",
        "app/core/lookups/representations.py",
        "json_response (",
    ),
    "gunicorn and gevent: parse, write, switch": (
        "app/server/",
        "gevent/baseserver.py",
        "gunicorn/",
    ),
    "Flask: dispatch, hooks, headers, metrics": (
        "apiflask/",
        "app/api/http/lifecycle.py",
        "app/factory.py",
        "flask/app.py",
    ),
}
"""Parts of a web process, with the files and functions that begin them, as py-spy names them."""
WORKER: Mapping[str, tuple[str, ...]] = {
    "match the subject": ("app/core/matching/",),
    "settle": ("app/core/jobs/leases.py", "app/core/ledger/", "app/core/lookups/disclosure.py"),
    "claim": ("app/core/jobs/scheduling.py",),
    "read the contact, and decide what is available": ("app/core/lookups/", "workers/jobs/"),
    "notification": ("app/infra/job_notifications.py",),
    "begin and commit": ("app/infra/db.py", "sqlalchemy/orm/session.py"),
    "job: trace, log line, metrics": ("workers/execution/",),
    "Celery and kombu: loop, receive, decode, trace of the task": ("celery/", "kombu/", "workers/runtime/"),
}
"""Parts of a worker."""


def shares(stacks: Iterable[str], parts: Mapping[str, tuple[str, ...]]) -> dict[str, float]:
    """Return the share of the samples of each part, the largest first, and what is left as `other`.

    A stack is a line of py-spy's raw format: the frames, outermost first, separated by semicolons, a space,
    and the number of samples. It counts for the part that its innermost known frame begins.
    """
    samples: Counter[str] = Counter()
    for stack in stacks:
        frames, _, count = stack.rpartition(" ")
        samples[_part_of(frames, parts)] += int(count)
    ordered = sorted(samples, key=lambda part: (part == OTHER, -samples[part]))
    return {part: samples[part] / samples.total() for part in ordered}


def _part_of(frames: str, parts: Mapping[str, tuple[str, ...]]) -> str:
    for frame in reversed(frames.split(";")):
        for part, beginnings in parts.items():
            if any(f"({beginning}" in frame or frame.startswith(beginning) for beginning in beginnings):
                return part
    return OTHER
