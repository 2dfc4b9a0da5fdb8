"""The worker: `reveal` resolves a job, and `sweep` recovers jobs whose worker or message was lost."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import uvloop
from redis.exceptions import RedisError
from saq import CronJob

from benchmarks.comparison.systems.fastapi_saq_duties import statements
from benchmarks.comparison.systems.fastapi_saq_duties.connections import (
    cipher,
    create_pool,
    queue,
    redis,
    send,
)

CONCURRENCY = 10
MAX_ATTEMPTS = 3
Context = dict[str, Any]
Rows = Sequence[Mapping[str, Any]]


async def reveal(context: Context, *, job_id: int) -> None:
    """Claim the job and settle it with the stored addresses; a provider would be called in between."""
    started = time.monotonic()
    rows = await context["pool"].fetch(statements.CLAIM, job_id)
    if not rows:
        return  # another worker has it
    stored: Rows = [row for row in rows if row["address"] is not None]
    outcome = "found" if stored else "not_found"
    if any(row["suppressed"] for row in rows):
        outcome, stored = "suppressed", []
    milliseconds = round((time.monotonic() - started) * 1000, 1)
    trace = [{"provider": "stored", "outcome": outcome, "latency_ms": milliseconds, "cost": 0}]
    await _settle(context["pool"], job_id, rows[0]["attempts"], outcome=outcome, stored=stored, trace=trace)


async def sweep(context: Context) -> None:
    """Send the messages of lost jobs again; fail the jobs that have had every attempt."""
    for job in await context["pool"].fetch(statements.SWEEP):
        if job["attempts"] < MAX_ATTEMPTS:
            await send(job["id"])
        else:
            await _settle(context["pool"], job["id"], job["attempts"], outcome=None, stored=[], trace=[])


async def forget_keys(context: Context) -> None:
    """Delete old idempotency keys."""
    await context["pool"].execute(statements.FORGET_KEYS)


async def _settle(
    pool: Any,  # noqa: ANN401 - see create_pool
    job_id: int,
    attempts: int,
    *,
    outcome: str | None,
    stored: Rows,
    trace: list[dict[str, Any]],
) -> None:
    """Store the end of a job, unless its lease was lost, and publish it to the processes that wait for it."""
    answer = {
        "id": job_id,
        "status": "succeeded" if outcome else "failed",
        "outcome": outcome,
        "result": _sealed_result(job_id, stored) if stored else None,
        "trace": json.dumps(trace),
    }
    digests = [row["digest"] for row in stored]
    settled = await pool.fetchrow(
        *(statements.SETTLE, job_id, attempts, answer["status"], outcome, digests),
        *(answer["result"], answer["trace"]),
    )
    if settled is None:
        return
    message = json.dumps(answer | {"charged": settled["charged"], "available": settled["available"]})
    with suppress(RedisError):  # the processes read the row in the end
        for channel in set(settled["channels"]):
            await redis.publish(channel, message)


def _sealed_result(job_id: int, stored: Rows) -> str:
    """Return the result as it is stored and published: encrypted but for the id of the contact."""
    contact_id = stored[0]["contact_id"]
    emails = [
        {"email": cipher.unseal(row["address"], f"emails {contact_id}"), "status": row["status"]}
        for row in stored
    ]
    sealed = cipher.seal(json.dumps(emails), f"jobs {job_id}")
    return json.dumps({"contact_id": contact_id, "emails": base64.b64encode(sealed).decode()})


async def _open_pool(context: Context) -> None:
    context["pool"] = await create_pool()


def settings() -> dict[str, Any]:
    """Return SAQ's settings of a worker process; its event loop will be uvloop's."""
    asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
    return {
        "queue": queue,
        "functions": [reveal, sweep, forget_keys],
        "cron_jobs": [CronJob(sweep, cron="* * * * * */5"), CronJob(forget_keys, cron="0 3 * * *")],
        "concurrency": CONCURRENCY,
        "startup": _open_pool,
    }
