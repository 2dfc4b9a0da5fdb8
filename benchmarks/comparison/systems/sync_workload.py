"""The code of the threaded alternatives: the statements of `sql`, through a pool of psycopg connections."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import Any

import psycopg
from flask import Flask, Response, jsonify, request
from psycopg.rows import dict_row, tuple_row
from psycopg_pool import ConnectionPool

from benchmarks.comparison.systems import sql

MAX_CONNECTIONS = 40
WAIT_SECONDS = 25


@cache
def pool() -> ConnectionPool:
    """Return the pool of this process, opened at the first call, after any fork."""
    options = {"autocommit": True, "prepare_threshold": 0, "cursor_factory": psycopg.RawCursor}
    return ConnectionPool(os.environ["SYSTEM_DATABASE"], min_size=2, max_size=MAX_CONNECTIONS, kwargs=options)


def resolve(job_id: int) -> None:
    """Claim the job, read the contact's addresses, and settle, in three round trips."""
    with pool().connection() as connection, connection.cursor(row_factory=tuple_row) as cursor:
        claimed = cursor.execute(sql.CLAIM, [job_id]).fetchone()
        if claimed is None:
            return
        emails = cursor.execute(sql.READ, [claimed[0]]).fetchall()
        cursor.execute(sql.SETTLE, [job_id, emails[0][0], sql.result_json(emails)])


def create_app(send_and_wait: Callable[[int], None]) -> Flask:
    """Return the web application; `send_and_wait` sends the task of a job and returns when it has ended."""
    app = Flask(__name__)

    @app.get("/ready")
    def ready() -> Response:
        pool()
        return jsonify(ready=True)

    @app.post("/api/ext/reveal/email")
    def reveal() -> tuple[Response, int]:
        workspace = _fetch(sql.AUTHENTICATE, sql.digest(request.headers.get("Authorization")))
        if workspace is None:
            return jsonify(error="unauthorized"), 401
        job = _fetch(sql.SUBMIT, workspace["workspace_id"], request.get_json()["subject"]["linkedin_url"])
        if job is None:
            return jsonify(error="insufficient credits"), 402
        send_and_wait(job["id"])
        row = _fetch(sql.ANSWER, job["id"])
        if row is None or row["status"] != "succeeded":
            return jsonify(job=job), 202
        return jsonify(sql.reveal_body(row)), 200

    @app.post("/api/ext/lookup")
    def lookup() -> tuple[Response, int]:
        if _fetch(sql.AUTHENTICATE, sql.digest(request.headers.get("Authorization"))) is None:
            return jsonify(error="unauthorized"), 401
        row = _fetch(sql.LOOKUP, request.get_json()["subject"]["linkedin_url"])
        if row is None:
            return jsonify(error="not found"), 404
        return jsonify(sql.lookup_body(row)), 200

    return app


def _fetch(statement: str, *values: object) -> dict[str, Any] | None:
    """Return the first row of a statement; no connection is kept while a job is awaited."""
    with pool().connection() as connection, connection.cursor(row_factory=dict_row) as cursor:
        row: dict[str, Any] | None = cursor.execute(statement, values).fetchone()
    return row
