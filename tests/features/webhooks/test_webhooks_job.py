"""Tests of webhook delivery over a real connection."""

from __future__ import annotations

import dataclasses
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from ipaddress import ip_network
from typing import Any

import httpcore2
import pytest
import redis
import webhook_support
from findings_support import ADA, a_source, company, person
from jobs_support import DIGEST_KEYS, a_question, a_workspace, claim, set_clock, submit
from local_servers import free_port
from pytest_httpserver import HTTPServer
from sqlalchemy import delete, select
from standardwebhooks import Webhook as Reference
from stored_support import own
from structlog.testing import capture_logs
from webhook_support import claim_due
from werkzeug import Response
from worker_harness import make_services

from app.domain.event_types import EventType
from app.domain.kinds import Outcome, Queue
from app.engine.contacts import contacts
from app.engine.contacts.contacts import Contact
from app.engine.events import endpoints
from app.engine.events.deliveries import DELIVERING, Webhook
from app.engine.jobs import leases
from app.engine.jobs.leases import JobResult
from app.engine.work import items, specs
from app.engine.work.items import WorkItem
from app.features.webhooks import attempts as webhook_attempts
from app.features.webhooks import delivery as webhooks
from app.features.webhooks.attempts import LEASE
from app.features.webhooks.tables import WebhookAttempt
from app.features.webhooks.work import deliver, post, wake_finished
from app.infra import clock
from app.infra.broker.queue import JobPublisher
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.settings import Settings
from workers import outgoing_http, webhook_client
from workers.execution.work import send_due
from workers.execution.worker_services import WorkerServices
from workers.jobs import upkeep
from workers.jobs.upkeep import purge
from workers.webhook_client import DeliveryError, WebhookClient

LOOPBACK = WebhookClient((ip_network("127.0.0.1/32"),))


@pytest.fixture
def services(settings: Settings, database: Database, redis_url: str) -> Iterator[WorkerServices]:
    yield make_services(dataclasses.replace(settings, redis_url=redis_url), database)
    with redis.Redis.from_url(redis_url) as client:
        client.flushall()


@pytest.fixture
def url(httpserver: HTTPServer) -> str:
    return f"http://127.0.0.1:{httpserver.port}/done"


def over(database: Database, url: str) -> str:
    """Settle a job with this webhook URL; return the webhook's id."""
    with database.transaction() as session:
        job = submit(session, a_question(a_workspace(session), webhook_url=url)).job
        leases.settle(session, claim(session, job.id), JobResult(outcome=Outcome.FOUND), now=clock.now())
        webhooks.wake_finished(session, now=clock.now())
        return session.scalars(select(Webhook.id).where(Webhook.job_id == job.id)).one()


def planned(database: Database, webhook_id: str) -> datetime | None:
    with database.reading() as session:
        return webhook_support.next_at(session, webhook_id)


def planned_of(database: Database, job_id: str) -> datetime | None:
    with database.reading() as session:
        webhook_id = session.scalars(select(Webhook.id).where(Webhook.job_id == job_id)).one()
    return planned(database, webhook_id)


def is_unsent(database: Database, webhook_id: str) -> bool:
    with database.reading() as session:
        return session.get_one(WorkItem, webhook_id).republish_at is None


def row(database: Database, webhook_id: str) -> Webhook:
    with database.reading() as session:
        return session.get_one(Webhook, webhook_id)


def attempts(database: Database, webhook_id: str) -> list[WebhookAttempt]:
    with database.reading() as session:
        return webhook_attempts.list_for_webhook(session, webhook_id)


def reason(url: str, door: WebhookClient = LOOPBACK) -> str:
    """Return why the client refuses to deliver to the URL."""
    with pytest.raises(DeliveryError) as caught:
        door.post(url, b"{}", {})
    return caught.value.reason


def work_at(session: Session, company_name: str, *, day: int) -> Contact:
    """Store Ada with this employer, as an import of that day of November describes her."""
    at = datetime(2026, 11, day, tzinfo=UTC)
    source = a_source(at)
    found = person(linkedin_url=ADA, company=company(company_name, at=at), source=source)
    return contacts.upsert(session, found, now=at)


@contextmanager
def listening(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """Run a receiver that answers its first connection with this function; yield its URL."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _address = server.accept()
            with connection:
                answer(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        thread.join(10)


def test_the_reference_library_accepts_the_signature(
    services: WorkerServices, database: Database, httpserver: HTTPServer, url: str
) -> None:
    httpserver.expect_oneshot_request("/done", method="POST").respond_with_data("", status=204)
    webhook_id = over(database, url)

    post(webhook_id, services, LOOPBACK)

    request, _response = httpserver.log[0]
    with database.reading() as session:
        workspace = str(session.connection().exec_driver_sql("SELECT workspace_id FROM jobs").scalar())
    payload: dict[str, Any] = Reference(endpoints.workspace_secret(DIGEST_KEYS, workspace)).verify(
        request.data, dict(request.headers)
    )
    (attempt,) = attempts(database, webhook_id)
    assert payload["type"] == "job.finished"
    assert request.headers["Webhook-Id"] == webhook_id
    assert request.headers["Host"] == f"127.0.0.1:{httpserver.port}"
    assert row(database, webhook_id).delivered_at is not None
    assert (attempt.status, attempt.error) == (204, None)
    assert attempt.latency_ms is not None


def test_a_job_change_in_an_import_reaches_the_endpoint_once_and_signed_with_its_secret(
    services: WorkerServices, database: Database, httpserver: HTTPServer, url: str
) -> None:
    httpserver.expect_request("/done", method="POST").respond_with_data("", status=204)
    with database.transaction() as session:
        workspace_id = a_workspace(session)
        types = [EventType.CONTACT_JOB_CHANGED]
        endpoint = endpoints.create(session, workspace_id, url=url, types=types, now=clock.now())
        own(session, workspace_id, work_at(session, "Acme", day=1), "email")

    for day in (2, 2, 3):
        with database.transaction() as session:
            work_at(session, "Globex", day=day)
        with database.transaction() as session:
            due = claim_due(session, now=clock.now())
        for webhook_id in due:
            post(webhook_id, services, LOOPBACK)

    ((request, _response),) = httpserver.log
    payload = Reference(endpoints.secret(DIGEST_KEYS, endpoint.id)).verify(
        request.data, dict(request.headers)
    )
    assert (payload["type"], payload["data"]["source"]) == ("contact.job_changed", "import")
    assert "Ada" not in request.data.decode()


def test_the_attempt_is_stored_before_the_receiver_responds(
    services: WorkerServices, database: Database, httpserver: HTTPServer, url: str
) -> None:
    seen: list[WebhookAttempt] = []
    webhook_id = over(database, url)

    def answer(_request: object) -> Response:
        seen.extend(attempts(database, webhook_id))
        return Response(status=204)

    httpserver.expect_request("/done").respond_with_handler(answer)
    post(webhook_id, services, LOOPBACK)

    assert [(attempt.status, attempt.error, attempt.latency_ms) for attempt in seen] == [(None, None, None)]


@pytest.mark.parametrize("status", [301, 307, 404, 500])
def test_a_response_that_is_not_2xx_is_retried_and_no_redirect_followed(
    services: WorkerServices, database: Database, httpserver: HTTPServer, url: str, status: int
) -> None:
    httpserver.expect_request("/done").respond_with_data(
        "", status=status, headers={"Location": "/elsewhere"}
    )
    webhook_id = over(database, url)

    post(webhook_id, services, LOOPBACK)

    webhook = row(database, webhook_id)
    (attempt,) = attempts(database, webhook_id)
    assert (webhook.delivered_at, webhook.attempts) == (None, 1)
    assert planned(database, webhook_id) is not None
    assert (attempt.status, attempt.error) == (status, "http_status")
    assert [request.path for request, _response in httpserver.log] == ["/done"]


def test_a_receiver_that_answers_gone_gets_no_further_attempt(
    services: WorkerServices, database: Database, httpserver: HTTPServer, url: str
) -> None:
    httpserver.expect_request("/done").respond_with_data("", status=410)
    webhook_id = over(database, url)

    post(webhook_id, services, LOOPBACK)

    assert (row(database, webhook_id).delivered_at, planned(database, webhook_id)) == (None, None)


def test_retry_after_of_a_receiver_is_respected(
    services: WorkerServices, database: Database, httpserver: HTTPServer, url: str
) -> None:
    httpserver.expect_request("/done").respond_with_data("", status=429, headers={"Retry-After": "600"})
    webhook_id = over(database, url)
    before = clock.now()

    post(webhook_id, services, LOOPBACK)

    next_at = planned(database, webhook_id)
    assert next_at is not None
    assert timedelta(minutes=10) <= next_at - before < timedelta(minutes=11)


def test_a_second_message_for_a_webhook_posts_nothing(
    services: WorkerServices, database: Database, httpserver: HTTPServer, url: str
) -> None:
    httpserver.expect_request("/done").respond_with_data("", status=500)
    webhook_id = over(database, url)

    post(webhook_id, services, LOOPBACK)
    post(webhook_id, services, LOOPBACK)

    assert len(httpserver.log) == 1


def test_an_unreachable_receiver_is_retried(services: WorkerServices, database: Database) -> None:
    webhook_id = over(database, f"http://127.0.0.1:{free_port()}/done")

    post(webhook_id, services, LOOPBACK)

    (attempt,) = attempts(database, webhook_id)
    assert (attempt.status, attempt.error) == (None, "connection")
    assert planned(database, webhook_id) is not None


def test_a_private_address_is_never_called(
    services: WorkerServices, database: Database, httpserver: HTTPServer, url: str
) -> None:
    webhook_id = over(database, url)

    post(webhook_id, services, WebhookClient())

    (attempt,) = attempts(database, webhook_id)
    assert httpserver.log == []
    assert attempt.error == "refused"


def test_a_deleted_webhook_is_ignored(services: WorkerServices) -> None:
    post("whk_0", services, LOOPBACK)


@pytest.mark.parametrize(("networks", "status"), [((), None), (("10.0.0.0/8", "127.0.0.0/8"), 204)])
def test_a_private_network_is_called_only_if_the_operator_allows_it(
    services: WorkerServices,
    httpserver: HTTPServer,
    monkeypatch: pytest.MonkeyPatch,
    networks: tuple[str, ...],
    status: int | None,
) -> None:
    settings = dataclasses.replace(services.settings, webhook_networks=networks)
    opened = dataclasses.replace(services, settings=settings)
    monkeypatch.setattr("workers.execution.worker_services.current", lambda: opened)
    httpserver.expect_request("/done").respond_with_data("", status=204)
    webhook_id = over(services.database, f"http://127.0.0.1:{httpserver.port}/done")

    deliver(webhook_id)

    assert [attempt.status for attempt in attempts(services.database, webhook_id)] == [status]


def test_an_error_leaves_the_webhook_to_another_worker_and_its_text_out_of_the_log(
    services: WorkerServices, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_arguments: object) -> None:
        raise ValueError("ada@acme.example")

    monkeypatch.setattr("workers.execution.worker_services.current", lambda: services)
    monkeypatch.setattr(WebhookClient, "post", broken)
    webhook_id = over(database, "https://hooks.example/")
    before = clock.now()

    with capture_logs() as logs:
        deliver(webhook_id)

    with database.reading() as session:
        lease_until = session.get_one(WorkItem, webhook_id).lease_until
    assert lease_until is not None
    assert abs(lease_until - before - LEASE) < timedelta(seconds=5)
    assert [(line["event"], line["id"]) for line in logs] == [("maintenance step failed", webhook_id)]


@pytest.mark.parametrize(
    "url",
    [
        "http://93.184.215.14/",
        "https://user@93.184.215.14/",
        "https://127.0.0.1/",
        "https://127.1/",
        "https://0x7f.1/",
        "https://2130706433/",
        "https://[::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[64:ff9b::7f00:1]/",
        "https://10.0.0.1/",
        "https://169.254.169.254/latest",
        "https://localhost/",
        "https:///",
        "ftp://93.184.215.14/",
        "https://93.184.215.14:99999999/",
        "https://93.184.215.14:https/",
    ],
)
def test_hostile_urls_are_refused(url: str) -> None:
    assert reason(url, WebhookClient()) == "refused"


@pytest.mark.parametrize(
    "url",
    [
        "http://93.184.215.14/",  # public, so https
        "http://127.0.0.2/",
        "http://10.0.0.1/",
        "https://10.0.0.1/",
        "http://[::ffff:127.0.0.1]/",
        "http://user@127.0.0.1/",
    ],
)
def test_allowing_one_network_allows_no_other(url: str) -> None:
    assert reason(url) == "refused"


def test_a_name_that_does_not_resolve_has_its_own_reason() -> None:
    assert reason("https://nowhere.invalid/") == "unresolved"


@pytest.mark.parametrize("door", [WebhookClient(), LOOPBACK])
def test_a_name_is_refused_if_any_of_its_addresses_is_private(
    door: WebhookClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_to(monkeypatch, [["93.184.215.14", "10.0.0.1"]])

    assert reason("https://two-faced.example/", door) == "refused"


def test_a_name_is_resolved_once_so_that_it_cannot_be_rebound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    called = []
    asked = resolve_to(monkeypatch, [["93.184.215.14"], ["10.0.0.1"]])
    monkeypatch.setattr(
        httpcore2.SyncBackend, "connect_tcp", lambda _backend, host, port, *_rest: called.append((host, port))
    )

    with pytest.raises(AttributeError):  # nothing listens here
        WebhookClient().post("https://two-faced.example/x", b"{}", {})

    assert called == [("93.184.215.14", 443)]
    assert len(asked) == 1


def resolve_to(monkeypatch: pytest.MonkeyPatch, answers: list[list[str]]) -> list[str]:
    """Resolve `two-faced.example` to each answer in turn; return the list of its lookups."""
    real, asked = socket.getaddrinfo, []  # threads of other tests still resolve names

    def resolve(host: str, *rest: Any, **options: Any) -> Any:
        if host != "two-faced.example":
            return real(host, *rest, **options)
        asked.append(host)
        return [(2, 1, 6, "", (address, 443)) for address in answers[len(asked) - 1]]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return asked


def test_a_dripping_response_is_limited_by_the_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_client, "TIMEOUT_SECONDS", 0.5)
    over_now = threading.Event()

    def drip(connection: socket.socket) -> None:
        while not over_now.wait(0.05):
            try:
                connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            except OSError:
                return

    with listening(drip) as url:
        started = time.monotonic()
        why = reason(url)
        took = time.monotonic() - started
        over_now.set()

    assert why == "timeout"
    assert 0.4 < took < 10


def test_a_silent_receiver_is_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_client, "TIMEOUT_SECONDS", 0.2)
    over_now = threading.Event()

    with listening(lambda _connection: over_now.wait(10)) as url:
        why = reason(url)
        over_now.set()

    assert why == "timeout"


@pytest.mark.parametrize("words", [b"", b"220 mail.acme.example ESMTP\r\n"])
def test_a_receiver_that_hangs_up_or_uses_another_protocol_is_a_connection_error(words: bytes) -> None:
    with listening(lambda connection: connection.sendall(words)) as url:
        assert reason(url) == "connection"


def test_no_connection_is_made_after_a_resolution_that_took_all_the_time(
    httpserver: HTTPServer, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook_client, "TIMEOUT_SECONDS", -1.0)

    assert reason(url) == "timeout"
    assert httpserver.log == []


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        (format_datetime(datetime(2000, 1, 1, tzinfo=UTC), usegmt=True), 0.0),
        ("Sat, 01 Jan 2000 00:00:00", 0.0),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("Sat, 01 Jan 2000 00:00:00 +9999999999999999999", None),
    ],
)
def test_retry_after_is_parsed_as_seconds_or_a_date(header: str, seconds: float | None) -> None:
    assert outgoing_http.retry_after(header) == seconds


def test_a_retry_after_date_counts_from_now() -> None:
    header = format_datetime(clock.now() + timedelta(hours=1), usegmt=True)

    assert outgoing_http.retry_after(header) == pytest.approx(3600, abs=5)


def test_due_webhooks_are_sent_to_the_upkeep_queue(
    services: WorkerServices, database: Database, redis_url: str
) -> None:
    over(database, "https://a.example/")

    send_due(services)
    send_due(services)

    with redis.Redis.from_url(redis_url) as client:
        assert client.llen(Queue.UPKEEP.value) == 1


def test_no_webhook_is_published_to_a_full_queue(
    services: WorkerServices, database: Database, redis_url: str
) -> None:
    webhook_id = over(database, "https://a.example/")
    with redis.Redis.from_url(redis_url) as client:
        client.lpush(Queue.UPKEEP.value, *["a message"] * (DELIVERING.full_queue + 1))

        send_due(services)

        assert client.llen(Queue.UPKEEP.value) == DELIVERING.full_queue + 1
    assert is_unsent(database, webhook_id)


def test_deliveries_leave_room_in_the_queue_for_uploads_imports_and_pushes() -> None:
    assert DELIVERING.full_queue + items.BATCH <= specs.FULL_QUEUE


def test_webhooks_wait_while_redis_is_down(services: WorkerServices, database: Database) -> None:
    webhook_id = over(database, "https://a.example/")
    without = dataclasses.replace(services, publisher=JobPublisher(f"redis://127.0.0.1:{free_port()}/0"))

    send_due(without)

    assert is_unsent(database, webhook_id)


def test_upkeep_purges_old_attempts(
    services: WorkerServices, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook_id = over(database, "https://a.example/")
    with database.transaction() as session:
        webhook_attempts.start(session, webhook_id, now=clock.now() - webhook_attempts.RETENTION)
        attempt_id = webhook_attempts.start(session, webhook_id, now=clock.now())
    monkeypatch.setattr("workers.execution.worker_services.current", lambda: services)

    purge()

    assert [attempt.id for attempt in attempts(database, webhook_id)] == [attempt_id]


def test_a_webhook_whose_payload_cannot_be_made_is_given_up_after_its_attempts(
    services: WorkerServices, database: Database, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook_id = over(database, url)
    monkeypatch.setattr(webhooks, "to_public", lambda _job: {}["status"])
    now = datetime.now(UTC)
    set_clock(monkeypatch, lambda: now)

    for _ in range(len(webhooks.RETRY_SCHEDULE) + 2):
        with suppress(KeyError):
            post(webhook_id, services, LOOPBACK)
        now += timedelta(days=2)

    with database.transaction() as session:
        webhooks.fail(session, webhook_id, now=now)  # a late message
        webhook = session.get_one(Webhook, webhook_id)
        attempts = webhook_attempts.list_for_webhook(session, webhook_id)
        due_at = webhook_support.next_at(session, webhook_id)
    assert (webhook.attempts, due_at, webhook.delivered_at) == (10, None, None)
    assert {attempt.error for attempt in attempts} == {"internal_error"}


def test_deliveries_of_finished_jobs_are_woken_by_the_sweeper(
    services: WorkerServices, database: Database
) -> None:
    with database.transaction() as session:
        job = submit(session, a_question(a_workspace(session), webhook_url="https://a.example/")).job
    wake_finished(services)
    before = planned_of(database, job.id)
    with database.transaction() as session:
        leases.settle(session, claim(session, job.id), JobResult(outcome=Outcome.FOUND), now=clock.now())

    wake_finished(services)

    assert before is None
    assert planned_of(database, job.id) is not None
    assert wake_finished in upkeep.Sweeper.STEPS


def test_the_work_about_deleted_deliveries_is_purged(
    services: WorkerServices, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, deleted = (over(database, f"https://{name}.example/") for name in "ab")
    with database.transaction() as session:
        session.execute(delete(Webhook).where(Webhook.id == deleted))
    monkeypatch.setattr("workers.execution.worker_services.current", lambda: services)

    purge()

    with database.reading() as session:
        assert session.scalars(select(WorkItem.id)).all() == [kept]
