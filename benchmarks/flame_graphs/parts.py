"""The parts of the product's work, and the share of the samples that each has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

OTHER = "other"
WEB: Mapping[str, tuple[str, ...]] = {
    "rate limit": ("app/web/rate_limits.py", "app/infra/broker/rate_limiter.py"),
    "token: check and read": (
        "flask_httpauth.py",
        "app/web/sign_in/auth.py",
        "app/engine/accounts/",
        "app/server/token_accounts.py",
    ),
    "admission, and the turns of a workspace": (
        "app/web/admission.py",
        "app/server/bulkhead.py",
        "_submit_in_turn (",
    ),
    "body and its schema": ("app/web/bodies/body.py", "app/web/schemas/", "marshmallow/", "webargs/"),
    "message to the queue": (
        "app/infra/broker/queue.py",
        "app/infra/broker/redis_broker.py",
        "app/infra/broker/task_messages.py",
    ),
    "submission: price, insert the job, hold the credits, commit": (
        "app/engine/jobs/submitter.py",
        "app/engine/jobs/group_submission.py",
        "app/engine/jobs/submission.py",
        "app/engine/jobs/result_reuse.py",
    ),
    "wait for the notification, and read the finished job": (
        "app/web/jobs/waiting.py",
        "app/engine/jobs/job_snapshots.py",
        "app/infra/broker/job_notifications.py",
    ),
    "match the subject": ("app/engine/matching/",),
    "read what is stored of the person": ("app/engine/lookups/contact_data.py",),
    "response": (
        "app/web/jobs/job_responses.py",
        "app/engine/lookups/representations.py",
        "json_response (",
    ),
    "gunicorn and gevent: parse, write, switch": (
        "app/server/",
        "gevent/baseserver.py",
        "gunicorn/",
    ),
    "Flask: dispatch, hooks, headers, metrics": (
        "apiflask/",
        "app/web/lifecycle.py",
        "app/factory.py",
        "flask/app.py",
    ),
}
"""Parts of a web process, with the files and functions that begin them, as py-spy names them."""
WORKER: Mapping[str, tuple[str, ...]] = {
    "match the subject": ("app/engine/matching/",),
    "settle": ("app/engine/jobs/leases.py", "app/engine/ledger/", "app/engine/lookups/disclosure.py"),
    "claim": ("app/engine/jobs/scheduling.py", "app/engine/jobs/claims.py"),
    "read the contact, and decide what is available": ("app/engine/lookups/", "workers/jobs/"),
    "notification": ("app/infra/broker/job_notifications.py",),
    "begin and commit": ("app/infra/database/db.py", "sqlalchemy/orm/session.py"),
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
