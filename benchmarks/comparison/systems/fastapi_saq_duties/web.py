"""The web application: a request takes the rate limit in Redis and one statement in PostgreSQL."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any
from uuid import uuid4

import asyncpg
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse
from pydantic import ValidationError
from redis.exceptions import RedisError

from benchmarks.comparison.systems import sql
from benchmarks.comparison.systems.async_workload import WAIT_SECONDS, SubjectRequest
from benchmarks.comparison.systems.fastapi_saq_duties import statements
from benchmarks.comparison.systems.fastapi_saq_duties.connections import (
    cipher,
    create_pool,
    queue,
    redis,
    seconds_to_wait,
    send,
)

Answer = Mapping[str, Any]
channel = f"answers:{uuid4()}"  # of this process
waiting: dict[int, asyncio.Future[Answer]] = {}


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Connect, and listen to the answers of the workers."""
    await queue.connect()
    async with create_pool() as app.state.pool:
        listener = asyncio.create_task(_listen())
        yield
        listener.cancel()
    await queue.disconnect()


app = FastAPI(lifespan=lifespan)


@app.post("/api/ext/reveal/email")
async def reveal(request: Request) -> JSONResponse:
    """Submit a job or join an equal one, and wait for its answer; a replay is answered as the job is now."""
    token, profile = await _admit(request)
    digest = cipher.digest(profile)
    sealed = cipher.seal(profile, f"jobs {digest.hex()}")
    job = await _submit(token, profile, digest, sealed, request.headers.get("idempotency-key"), channel)
    if job is None:
        raise HTTPException(401)
    if job["replayed"] is None:
        answer, headers = await _answer(job["id"], created=job["created"]), None
    elif job["replayed"] == digest:
        answer, headers = await _finished(job["id"]), {"Idempotent-Replay": "true"}
    else:
        raise HTTPException(422, "idempotency_key_reused")
    if answer is None:
        return JSONResponse({"job": {"id": job["id"]}}, 202, headers)
    return JSONResponse(_reveal_body(answer), 200, headers)


@app.post("/api/ext/lookup")
async def lookup(request: Request) -> JSONResponse:
    """Return a contact with masked addresses, and in full those that the workspace owns."""
    token, profile = await _admit(request)
    rows = await app.state.pool.fetch(statements.LOOKUP, token, profile, cipher.digest(profile))
    if not rows:
        raise HTTPException(401)
    if any(row["suppressed"] for row in rows):
        return JSONResponse({"outcome": "none", "suppressed": True})
    if rows[0]["id"] is None:
        return JSONResponse({"outcome": "none", "suppressed": False})
    return JSONResponse(_lookup_body(rows))


async def _listen() -> None:
    """Pass the answers on to the requests that wait for them."""
    async with redis.pubsub(ignore_subscribe_messages=True) as messages:
        await messages.subscribe(channel)
        async for message in messages.listen():
            answer = json.loads(message["data"])
            if (future := waiting.pop(answer["id"], None)) is not None:
                future.set_result(answer)


async def _admit(request: Request) -> tuple[bytes, str]:
    """Return the digest of the token and the profile, unless the token has had too many requests."""
    token = sql.digest(request.headers.get("authorization"))
    if seconds := await seconds_to_wait(token):
        raise HTTPException(429, headers={"Retry-After": str(seconds)})
    try:
        body = SubjectRequest.model_validate_json(await request.body())
    except ValidationError:
        raise HTTPException(422, "validation_error") from None
    return token, body.subject.linkedin_url


async def _submit(*values: object) -> Answer | None:
    """Return the job; try again when the same idempotency key was stored meanwhile."""
    for _ in range(2):
        try:
            job: Answer | None = await app.state.pool.fetchrow(statements.SUBMIT, *values)
        except asyncpg.CheckViolationError:
            raise HTTPException(402) from None
        except asyncpg.UniqueViolationError:
            continue
        return job
    raise HTTPException(503)


async def _answer(job_id: int, *, created: bool) -> Answer | None:
    """Send the message of a new job, and wait; a job that was joined may have finished already."""
    future = waiting.setdefault(job_id, asyncio.get_running_loop().create_future())
    if created:
        with suppress(RedisError):  # the sweep sends it
            await send(job_id)
    elif finished := await _finished(job_id):
        return finished
    await asyncio.wait([future], timeout=WAIT_SECONDS)
    if future.done():
        return future.result()
    waiting.pop(job_id, None)
    return await _finished(job_id)


async def _finished(job_id: int) -> Answer | None:
    row: Answer | None = await app.state.pool.fetchrow(statements.FINISHED, job_id)
    return row


def _reveal_body(answer: Answer) -> dict[str, Any]:
    body = sql.reveal_body({**answer, "result": answer["result"] or "null"})
    if body["result"]:
        sealed = base64.b64decode(body["result"]["emails"])
        body["result"]["emails"] = json.loads(cipher.unseal(sealed, f"jobs {answer['id']}"))
    body["job"]["outcome"] = answer["outcome"]
    return body | {"trace": json.loads(answer["trace"])}


def _lookup_body(rows: Sequence[Answer]) -> dict[str, Any]:
    shown: dict[bool, list[str]] = {True: [], False: []}
    for row in rows:
        if row["address"] is not None:
            shown[row["owned"]].append(cipher.unseal(row["address"], f"emails {row['id']}"))
    body = sql.lookup_body({**rows[0], "addresses": shown[False]})
    return body | {"suppressed": False, "revealed": {"emails": shown[True]}}
