from __future__ import annotations

import json

from apiflask import APIFlask

from app.engine.queues import worker_heartbeats
from app.engine.queues.worker_heartbeats import Heartbeat, WorkerState
from app.infra import clock

ONE = Heartbeat(
    name="one@host:1",
    queues=("enrichment", "upkeep"),
    threads=10,
    busy=3,
    state=WorkerState.WORKING,
    up_seconds=60,
    taken_seconds_ago=1,
)


def say(app: APIFlask) -> None:
    with app.extensions["services"].database.transaction() as session:
        worker_heartbeats.record_heartbeat(session, ONE, now=clock.now())


def test_workers_are_listed_with_their_state(app: APIFlask) -> None:
    say(app)

    result = app.test_cli_runner().invoke(args=["workers", "list"])

    head, line = result.output.splitlines()
    assert head.split()[:5] == ["name", "queues", "state", "busy", "threads"]
    assert line.split()[:5] == ["one@host:1", "enrichment,upkeep", "working", "3", "10"]


def test_workers_are_listed_as_json(app: APIFlask) -> None:
    say(app)

    result = app.test_cli_runner().invoke(args=["workers", "list", "--json"])

    [worker] = json.loads(result.output)["workers"]
    assert (worker["queues"], worker["state"], worker["last_ended"]) == (
        ["enrichment", "upkeep"],
        "working",
        None,
    )


def test_an_empty_list_says_how_to_start_workers(app: APIFlask) -> None:
    result = app.test_cli_runner().invoke(args=["workers", "list"])

    assert result.output == "No worker ran within the last day. Start those of the Procfile.\n"
