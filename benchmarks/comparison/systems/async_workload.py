"""The code of the asyncio alternatives: the statements of `sql`, through a pool of asyncpg connections."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Annotated, Any

import asyncpg
from fastapi import FastAPI, Header, HTTPException
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from benchmarks.comparison.systems import sql

MAX_CONNECTIONS = 20
WAIT_SECONDS = 25
SendAndWait = Callable[[int], Awaitable[None]]


class Subject(BaseModel):
    """Whom a request is about."""

    linkedin_url: str


class SubjectRequest(BaseModel):
    """The body of a request."""

    subject: Subject


def create_pool() -> Any:  # noqa: ANN401 - asyncpg's pool is awaitable and a context manager
    """Return a pool of connections to the alternative's database, not yet opened."""
    return asyncpg.create_pool(os.environ["SYSTEM_DATABASE"], min_size=2, max_size=MAX_CONNECTIONS)


async def resolve(pool: Any, job_id: int) -> None:  # noqa: ANN401 - see create_pool
    """Claim the job, read the contact's addresses, and settle, in three round trips."""
    async with pool.acquire() as connection:
        profile = await connection.fetchval(sql.CLAIM, job_id)
        if profile is None:
            return
        emails = await connection.fetch(sql.READ, profile)
        await connection.execute(sql.SETTLE, job_id, emails[0][0], sql.result_json(emails))


def create_app(queue: Callable[[Any], AbstractAsyncContextManager[SendAndWait]]) -> FastAPI:
    """Return the web application.

    `queue` gets the pool, and yields the function that sends a job's task and returns when it has ended.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with create_pool() as pool, queue(pool) as send_and_wait:
            app.state.pool, app.state.send_and_wait = pool, send_and_wait
            yield

    app = FastAPI(lifespan=lifespan)

    @app.get("/ready")
    async def ready() -> dict[str, bool]:
        return {"ready": True}

    @app.post("/api/ext/reveal/email")
    async def reveal(body: SubjectRequest, authorization: Annotated[str, Header()] = "") -> JSONResponse:
        workspace = await _authenticate(app, authorization)
        job_id = await app.state.pool.fetchval(sql.SUBMIT, workspace, body.subject.linkedin_url)
        if job_id is None:
            raise HTTPException(402)
        await app.state.send_and_wait(job_id)
        row = await app.state.pool.fetchrow(sql.ANSWER, job_id)
        if row["status"] != "succeeded":
            return JSONResponse({"job": {"id": job_id}}, 202)
        return JSONResponse(sql.reveal_body(row))

    @app.post("/api/ext/lookup")
    async def lookup(body: SubjectRequest, authorization: Annotated[str, Header()] = "") -> JSONResponse:
        await _authenticate(app, authorization)
        row = await app.state.pool.fetchrow(sql.LOOKUP, body.subject.linkedin_url)
        if row is None:
            raise HTTPException(404)
        return JSONResponse(sql.lookup_body(row))

    return app


async def _authenticate(app: FastAPI, authorization: str) -> int:
    workspace = await app.state.pool.fetchval(sql.AUTHENTICATE, sql.digest(authorization))
    if workspace is None:
        raise HTTPException(401)
    return int(workspace)
