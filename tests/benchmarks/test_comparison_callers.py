"""The load generator against a small server."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from benchmarks.comparison import callers
from benchmarks.comparison.people import person
from benchmarks.comparison.plan import Plan

Answer = Callable[[int, str], tuple[int, dict[str, Any]]]
"""The status and body of the answer to a request with this person and token."""


def load(answer: Answer, **changes: Any) -> dict[str, Any]:
    """Return what two callers observe against a server that answers so."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            number = int(request["subject"]["linkedin_url"].rpartition("-")[2])
            status, content = answer(number, self.headers["Authorization"].removeprefix("Bearer "))
            body = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.flush()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        options = {"port": server.server_port, "workload": "reveal", "callers": 2, "seconds": 5.0, "limit": 6}
        plan = Plan(**({"tokens": ["a", "b"], "people": 10} | options | changes))
        with ThreadPoolExecutor(1) as pool:  # Playwright may keep an event loop running in this thread
            result = pool.submit(lambda: asyncio.run(_send(plan))).result()
        server.shutdown()
    return result


async def _send(plan: Plan) -> dict[str, Any]:
    run, connected = await callers.connect(plan)
    result = await callers.send(run, connected)
    for caller in connected:
        caller.close()
    return result


def revealed(number: int, _token: str) -> tuple[int, dict[str, Any]]:
    emails = [{"email": person(number).address}]
    return 200, {"result": {"emails": emails}, "credits": {"charged": 1}}


def test_callers_request_until_the_limit_and_time_every_answer() -> None:
    result = load(revealed)

    assert (result["statuses"], result["next"], result["wrong"]) == ({200: 6}, 6, 0)
    assert len(result["latencies"]) == len(result["answered_at"]) == 6


def test_a_caller_pauses_between_an_answer_and_its_next_request() -> None:
    result = load(revealed, callers=1, pause=0.05, limit=3)

    first, second, third = result["answered_at"]
    assert min(second - first, third - second) >= 0.05


def test_each_workspace_reveals_each_person_once() -> None:
    seen = []

    def answer(number: int, token: str) -> tuple[int, dict[str, Any]]:
        seen.append((token, number))
        return revealed(number, token)

    load(answer, limit=20)

    assert sorted(seen) == [(token, number) for token in "ab" for number in range(10)]


def test_a_wrong_address_is_noticed() -> None:
    result = load(lambda number, token: revealed(number + 1, token), limit=1)

    assert (result["wrong"], result["statuses"]) == (1, {200: 1})
    assert "instead of person0@company0.example" in result["examples"][0]


def test_an_answer_that_was_free_is_wrong() -> None:
    def answer(number: int, token: str) -> tuple[int, dict[str, Any]]:
        status, content = revealed(number, token)
        return status, content | {"credits": {"charged": 0}}

    assert load(answer, limit=1)["wrong"] == 1


def test_the_lookup_of_another_person_is_wrong() -> None:
    names = {0: "Somebody Else"}

    def answer(number: int, _token: str) -> tuple[int, dict[str, Any]]:
        return 200, {"contact": {"full_name": names.get(number, person(number).name)}}

    result = load(answer, workload="lookup", limit=4)

    assert (result["wrong"], result["examples"]) == (1, [f"Somebody Else instead of {person(0).name}"])


def test_other_statuses_are_counted_and_not_timed() -> None:
    result = load(lambda _number, _token: (503, {}), limit=4)

    assert (result["statuses"], result["latencies"]) == ({503: 4}, [])


def test_no_two_people_share_a_name_or_an_address() -> None:
    people = [person(number) for number in range(20_000)]

    assert len({one.name for one in people}) == len({one.address for one in people}) == 20_000
