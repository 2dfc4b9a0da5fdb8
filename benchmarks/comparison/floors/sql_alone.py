"""The six statements of a reveal, one after the other on one connection: what the database takes."""

from __future__ import annotations

import os
from typing import Any

import psycopg

from benchmarks.comparison.floors.round_trips import RoundTrip, measure
from benchmarks.comparison.people import person
from benchmarks.comparison.systems import sql


def prepare(plan: dict[str, Any]) -> RoundTrip:
    """Return a reveal through psycopg, with prepared statements."""
    options: dict[str, Any] = {"autocommit": True, "prepare_threshold": 0}
    connection = psycopg.connect(os.environ["SYSTEM_DATABASE"], cursor_factory=psycopg.RawCursor, **options)
    cursor, tokens = connection.cursor(), plan["tokens"]

    def first(statement: str, *values: object) -> Any:  # noqa: ANN401 - a row
        return cursor.execute(statement, values).fetchone()

    def round_trip(number: int) -> bool:
        contact = person((number // len(tokens)) % plan["people"])
        (workspace,) = first(sql.AUTHENTICATE, sql.digest(tokens[number % len(tokens)]))
        (job,) = first(sql.SUBMIT, workspace, contact.profile)
        (profile,) = first(sql.CLAIM, job)
        emails = cursor.execute(sql.READ, [profile]).fetchall()
        cursor.execute(sql.SETTLE, [job, emails[0][0], sql.result_json(emails)])
        _job, status, result, charged, _available = first(sql.ANSWER, job)
        return status == "succeeded" and contact.address in result and charged == 1

    return round_trip


if __name__ == "__main__":
    measure(prepare)
