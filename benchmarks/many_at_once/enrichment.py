"""An enrichment of many stored people, requested over the API in as many jobs as it takes."""

from __future__ import annotations

import http.client
import json
import time
from contextlib import closing
from typing import Any

from app.web.schemas.enrichment_schemas import MAX_ITEMS
from benchmarks.comparison.people import person
from benchmarks.comparison.servers import Servers
from tools.services.processes import ServiceError

PATH = "/api/ext/enrichment-request"
STALLED_SECONDS = 60.0
POLL_SECONDS = 0.5
DONE = "SELECT count(*) FROM job_items WHERE outcome IS NOT NULL OR error IS NOT NULL"
SECONDS = """
    SELECT extract(epoch FROM max(finished_at) - min(created_at)) FROM jobs WHERE kind = 'enrichment_request'
"""


def request(port: int, token: str, items: int) -> list[str]:
    """Request the enrichment of so many people; return the ids of the jobs."""
    return [
        _request(port, token, range(first, min(first + MAX_ITEMS, items)))
        for first in range(0, items, MAX_ITEMS)
    ]


def count_done(servers: Servers, database: str) -> int:
    """Return how many items are finished."""
    return int(_value(servers, database, DONE))


def wait(servers: Servers, database: str, items: int) -> None:
    """Return once so many items are finished.

    Raises:
        ServiceError: no item was finished for a while.

    """
    done, changed = 0, time.monotonic()
    while done < items:
        before, done = done, count_done(servers, database)
        if done > before:
            changed = time.monotonic()
        elif time.monotonic() - changed > STALLED_SECONDS:
            raise ServiceError(f"{done} of {items} items are finished, and no more of them finish.")
        time.sleep(POLL_SECONDS)


def seconds(servers: Servers, database: str) -> float:
    """Return the time from the first request to the end of the last job."""
    return _value(servers, database, SECONDS)


def wrong_items(port: int, token: str, jobs: list[str]) -> list[str]:
    """Return which items have another address than the right one, or another charge than one credit."""
    wrong = []
    for number, job in enumerate(jobs):
        answer = call(port, "GET", f"/api/ext/jobs?id={job}", token)
        for item in answer["result"]["items"]:
            addresses = [email["email"] for email in item["emails"]]
            expected = person(number * MAX_ITEMS + item["index"]).address
            if addresses != [expected] or item["credits_charged"] != 1:
                wrong.append(f"{addresses}, charged {item['credits_charged']}, instead of {expected}")
    return wrong


def call(port: int, method: str, path: str, token: str, body: object = None) -> dict[str, Any]:
    """Send a request; return the JSON of the answer.

    Raises:
        RuntimeError: its status is an error.

    """
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request(
            method, path, json.dumps(body) if body else None, headers | {"Prefer": "respond-async"}
        )
        response = connection.getresponse()
        content: dict[str, Any] = json.loads(response.read())
    if response.status >= http.HTTPStatus.BAD_REQUEST:
        raise RuntimeError(f"{method} {path} was answered {response.status}: {content}")
    return content


def _request(port: int, token: str, people: range) -> str:
    items = [{"subject": {"linkedin_url": person(number).profile}} for number in people]
    body = {"entity": "person", "items": items, "fields": ["email"]}
    return str(call(port, "POST", PATH, token, body)["job"]["id"])


def _value(servers: Servers, database: str, query: str) -> float:
    with servers.connect(database) as connection:
        row = connection.execute(query).fetchone()
    return float(str(row[0] or 0)) if row else 0.0
