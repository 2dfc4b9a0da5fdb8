from __future__ import annotations

import dataclasses
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from apiflask import APIFlask
from flask.testing import FlaskClient
from jobs_support import a_question, a_workspace, submit
from local_servers import closed_port, free_port
from prometheus_client import CONTENT_TYPE_LATEST
from settings_support import change_settings
from sqlalchemy import text

from app.api.ops.probes import Probe, ProbeTimeout
from app.api.ops.readiness import DATA_KEY, PROBE_SECONDS
from app.domain.kinds import CLICKS, Kind, Queue
from app.engine.audit.audits import Audit
from app.engine.queues import worker_heartbeats
from app.engine.queues.worker_heartbeats import Heartbeat, WorkerState
from app.infra import clock
from app.infra.broker import redis_client
from app.infra.database.db import Database


def use(app: APIFlask, url: str) -> None:
    """Make the application use another database."""
    app.extensions["services"].database.close()
    app.extensions["services"] = dataclasses.replace(app.extensions["services"], database=Database(url))


def test_a_process_that_answers_is_alive(client: FlaskClient) -> None:
    response = client.get("/healthz")

    assert (response.status_code, response.json) == (200, {"status": "ok"})


ALL_WELL = {"database": "ok", "queue": "ok", "workers": "ok", "progress": "ok", "clocks": "ok"}
ONE = Heartbeat(
    name="one@host:1",
    queues=("interactive", "providers"),
    threads=10,
    busy=0,
    state=WorkerState.WORKING,
    up_seconds=60,
)


def say(app: APIFlask, **changes: Any) -> None:
    """Record a heartbeat of a worker with these values."""
    with app.extensions["services"].database.transaction() as session:
        worker_heartbeats.record_heartbeat(session, dataclasses.replace(ONE, **changes), now=clock.now())


def wait(app: APIFlask, seconds: float, kind: Kind = Kind.REVEAL_EMAIL) -> None:
    """Submit a job that has waited for this long."""
    since = clock.now() - timedelta(seconds=seconds)
    with app.extensions["services"].database.transaction() as session:
        submit(session, a_question(a_workspace(session), kind=kind), now=since)


def ready(app: APIFlask) -> tuple[int, dict[str, str], str]:
    response = app.test_client().get("/readyz")
    assert response.json is not None
    assert response.json["status"] == ("ok" if response.status_code == 200 else "unavailable")
    return response.status_code, response.json["checks"], response.json["detail"]


@pytest.fixture
def frozen(redis_url: str) -> Iterator[str]:
    """The address of a server that accepts connections and never responds."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_with_database_queue_and_a_worker_the_service_is_ready(app: APIFlask) -> None:
    say(app)

    assert ready(app) == (200, ALL_WELL, "All parts answer, and jobs are processed.")


@pytest.fixture
def set_revision(app: APIFlask) -> Iterator[Callable[[str], None]]:
    """Record a migration as if another version of the service had run it."""
    database: Database = app.extensions["services"].database

    def execute(statement: str, **parameters: str) -> None:
        with database.transaction() as session:
            session.execute(text(statement), parameters)

    def set_revision(revision: str) -> None:
        execute("DELETE FROM alembic_version")
        execute("INSERT INTO alembic_version VALUES (:revision)", revision=revision)

    execute("CREATE TABLE alembic_version (version_num VARCHAR(32))")
    yield set_revision
    execute("DROP TABLE alembic_version")


def test_a_process_that_starts_with_the_tables_of_a_later_version_is_not_ready(
    app: APIFlask, set_revision: Callable[[str], None]
) -> None:
    say(app)
    set_revision("9999")

    status, checks, detail = ready(app)

    assert (status, checks) == (503, ALL_WELL | {"database": "newer_tables"})
    assert "install that version" in detail


def test_a_process_whose_tables_are_migrated_while_it_serves_stays_ready(
    app: APIFlask, set_revision: Callable[[str], None]
) -> None:
    say(app)
    set_revision("0001")
    before = ready(app)
    set_revision("9999")

    assert (before[0], ready(app)[0]) == (200, 200)


@pytest.mark.parametrize(("seconds", "advice"), [(-3600, "3600.0 s behind"), (1.5, "1.5 s ahead of")])
def test_a_worker_whose_clock_is_wrong_is_a_warning(app: APIFlask, seconds: float, advice: str) -> None:
    say(app, clock_offset=seconds)

    status, checks, detail = ready(app)

    assert (status, checks) == (200, ALL_WELL | {"clocks": "differ"})
    assert f"The clock of one@host:1 is {advice} the database's" in detail


def test_an_api_process_whose_clock_is_wrong_is_a_warning(
    app: APIFlask, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(app)
    monkeypatch.setattr(clock, "now", lambda: datetime.now(UTC) - timedelta(hours=1))

    status, checks, detail = ready(app)

    assert (status, checks) == (200, ALL_WELL | {"clocks": "differ"})
    assert "The clock of web is 3600.0 s behind the database's" in detail


def test_a_clock_offset_below_a_second_is_tolerated(app: APIFlask) -> None:
    say(app, clock_offset=-0.9)

    assert ready(app)[:2] == (200, ALL_WELL)


def test_metrics_tell_that_redis_lost_its_data(app: APIFlask, redis_url: str) -> None:
    client = app.test_client()

    def since() -> float:
        return float(
            re.findall(r"^ext_redis_data_since_seconds (\S+)$", client.get("/metrics").text, re.MULTILINE)[0]
        )

    with redis_client.connect(redis_url, answer_seconds=5) as redis:
        redis.set(DATA_KEY, 1000)
        kept = since()
        redis.delete(DATA_KEY)
        lost = since()

    assert kept == 1000
    assert lost == since() > kept


def test_metrics_include_clock_offsets_and_refused_messages(app: APIFlask) -> None:
    say(app, clock_offset=-1.5, refused={"not_due": 3})

    text = app.test_client().get("/metrics").text

    assert 'ext_clock_offset_seconds{process="one@host:1"} -1.5' in text
    assert 'ext_clock_offset_seconds{process="web"} ' in text
    assert 'ext_messages_refused_total{process="one@host:1",reason="not_due"} 3.0' in text
    assert 'ext_messages_refused_total{process="one@host:1",reason="held"} 0.0' in text


def test_without_a_worker_for_the_interactive_queue_the_service_is_not_ready(app: APIFlask) -> None:
    say(app, queues=("enrichment", "upkeep"))

    status, checks, detail = ready(app)

    assert (status, checks) == (503, ALL_WELL | {"workers": "missing"})
    assert detail.startswith("The queue interactive has no worker")


@pytest.mark.parametrize("missing", CLICKS)
def test_each_queue_that_a_click_waits_for_needs_a_worker(app: APIFlask, missing: Queue) -> None:
    say(app, queues=tuple(queue for queue in ONE.queues if queue != missing))

    status, checks, detail = ready(app)

    assert (status, checks) == (503, ALL_WELL | {"workers": "missing"})
    assert detail == f"The queue {missing} has no worker: start worker_{missing} of the Procfile."


def test_workers_that_do_not_consume_are_distinguished_from_missing_workers(app: APIFlask) -> None:
    say(app, state=WorkerState.WITHOUT_QUEUE)

    status, checks, detail = ready(app)

    assert (status, checks) == (503, ALL_WELL | {"workers": "without_queue"})
    assert "do not consume" in detail


def test_a_stalled_queue_is_not_ready_even_if_its_workers_are_alive(app: APIFlask) -> None:
    say(app)
    wait(app, 75)

    status, checks, detail = ready(app)

    assert (status, checks) == (503, ALL_WELL | {"progress": "stalled"})
    assert re.fullmatch(
        r"The oldest job of the queue interactive has waited \d+ s: .* worker_interactive.*", detail
    )


def test_a_queue_without_workers_is_reported_once_its_jobs_have_waited_too_long(app: APIFlask) -> None:
    say(app)
    wait(app, 75, Kind.ENRICHMENT_REQUEST)

    assert ready(app)[2].endswith("start worker_enrichment of the Procfile.")


def test_the_tolerated_wait_of_a_job_is_a_setting(app: APIFlask) -> None:
    say(app)
    wait(app, 75)
    change_settings(app, ready_progress_seconds=90.0)

    assert ready(app)[0] == 200


def test_without_redis_the_service_is_not_ready(app: APIFlask) -> None:
    say(app)
    with closed_port() as port:
        change_settings(app, redis_url=f"redis://127.0.0.1:{port}/0")

        status, checks, detail = ready(app)

    assert (status, checks) == (503, ALL_WELL | {"queue": "unreachable"})
    assert detail.startswith("Redis cannot be reached: start it.")


NO_DATABASE = {"queue": "ok", "workers": "unknown", "progress": "unknown", "clocks": "unknown"}


def test_without_a_database_the_service_is_not_ready(app: APIFlask) -> None:
    with closed_port() as port:
        use(app, f"postgresql://127.0.0.1:{port}/nothing")

        status, checks, detail = ready(app)

    assert (status, checks) == (503, NO_DATABASE | {"database": "unreachable"})
    assert detail.startswith("The database cannot be reached")


def test_without_tables_the_service_is_not_ready(app: APIFlask, tmp_path: Path) -> None:
    use(app, f"sqlite:///{tmp_path}/empty.sqlite3")

    assert ready(app)[1]["database"] == "unreachable"


def test_a_frozen_part_is_reported_within_two_seconds(app: APIFlask, frozen: str) -> None:
    change_settings(app, redis_url=f"redis://{frozen}/0")
    use(app, f"postgresql://{frozen}/nothing")
    began = time.monotonic()

    status, checks, _detail = ready(app)

    assert time.monotonic() - began < 10  # detects hangs; the next line checks the promised time
    assert 2 * PROBE_SECONDS < 2
    assert (status, checks["database"]) == (503, "no_answer")
    assert checks["queue"] in {"no_answer", "unreachable"}  # the time limit for Redis is shorter


def test_a_hanging_part_is_probed_once_at_a_time() -> None:
    probed: list[int] = []
    go_on = threading.Event()

    def hang() -> bool:
        probed.append(1)
        return go_on.wait(5)

    probe = Probe(hang, seconds=0.01)
    for _caller in range(3):
        with pytest.raises(ProbeTimeout):
            probe()
    go_on.set()

    assert probed == [1]


def test_the_responses_match_the_openapi_document(app: APIFlask) -> None:
    document = app.test_client().get("/openapi.json").json
    assert document is not None
    responses = document["paths"]["/readyz"]["get"]["responses"]

    shapes = {responses[status]["content"]["application/json"]["schema"]["$ref"] for status in ("200", "503")}

    assert shapes == {"#/components/schemas/ReadinessResponseSchema"}


def test_metrics_include_the_state_of_the_queues(app: APIFlask) -> None:
    say(app)
    wait(app, 75)
    with app.extensions["services"].database.transaction() as session:
        session.add(
            Audit(
                id="aud_x",
                at=clock.now() - timedelta(minutes=5),
                milliseconds=3,
                workspaces=1,
                jobs=1,
                entries=1,
                faults=[{}, {}],
            )
        )
    app.extensions["services"].publisher.publish(Kind.REVEAL_EMAIL, ["job_x"])

    text = app.test_client().get("/metrics").text

    assert re.search(r'^ext_oldest_job_seconds\{queue="interactive"\} [7-9]\d\.', text, re.MULTILINE)
    assert 'ext_workers{queue="interactive"} 1.0' in text
    assert 'ext_workers{queue="upkeep"} 0.0' in text
    assert 'ext_jobs{kind="reveal.email",status="queued"} 1.0' in text
    assert 'ext_queue_messages{queue="interactive"} 1.0' in text
    assert re.search(r"^ext_audit_age_seconds 3\d\d\.", text, re.MULTILINE)
    assert "ext_audit_faults 2.0" in text


def test_metrics_of_an_unavailable_part_are_omitted_and_the_others_stay(app: APIFlask) -> None:
    say(app)
    change_settings(app, redis_url=f"redis://127.0.0.1:{free_port()}/0")
    without_redis = app.test_client().get("/metrics").text
    use(app, f"postgresql://127.0.0.1:{free_port()}/nothing")

    without_both = app.test_client().get("/metrics")

    assert ("ext_workers{" in without_redis, "ext_queue_messages" in without_redis) == (True, False)
    assert (without_both.status_code, "ext_workers{" in without_both.text) == (200, False)
    assert "ext_requests_total" in without_both.text


def test_metrics_are_visible_on_loopback(client: FlaskClient) -> None:
    client.get("/healthz")

    response = client.get("/metrics")

    assert (response.status_code, response.content_type) == (200, CONTENT_TYPE_LATEST)
    assert 'ext_requests_total{endpoint="/healthz",status="200"}' in response.text


@pytest.mark.parametrize(
    ("address", "headers"),
    [
        ("192.0.2.1", {}),
        ("127.0.0.1", {"X-Forwarded-For": "192.0.2.1"}),
        ("127.0.0.1", {"Forwarded": "for=192.0.2.1"}),
        ("127.0.0.1", {"X-Real-IP": "192.0.2.1"}),
        ("127.0.0.1", {"Via": "1.1 proxy"}),
    ],
)
def test_metrics_appear_not_to_exist_for_other_clients(
    client: FlaskClient, address: str, headers: dict[str, str]
) -> None:
    response = client.get("/metrics", headers=headers, environ_base={"REMOTE_ADDR": address})

    assert response.status_code == 404


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"Authorization": "Bearer a-long-token"}, 200), ({"Authorization": "Bearer another"}, 404), ({}, 404)],
)
def test_with_a_metrics_token_only_requests_with_the_token_see_metrics(
    app: APIFlask, headers: dict[str, str], status: int
) -> None:
    change_settings(app, metrics_token="a-long-token")

    response = app.test_client().get("/metrics", headers=headers)

    assert response.status_code == status


def test_counters_of_several_processes_are_summed(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))

    response = client.get("/metrics")

    assert response.status_code == 200
