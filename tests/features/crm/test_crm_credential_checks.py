"""A wrong token or host is said at once: a request waits for the worker that checks it."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from apiflask import APIFlask
from fake_crms import TOKEN, FakeCrm, FakeHubSpot, FakePipedrive, FakeTwenty
from local_servers import free_port
from page_support import ACCEPT, Visitor
from pytest_httpserver import HTTPServer
from settings_support import change_settings
from sqlalchemy import select, update
from users_support import SignedInUser
from werkzeug.test import TestResponse

from app.domain.errors import Unavailable
from app.engine.accounts.accounts import Account, Role
from app.engine.events.events import Event
from app.features.crm import connections, credential_checks, work
from app.features.crm.connections import CrmConnection
from app.infra.broker.job_notifications import JobNotifier
from app.infra.clock import rfc3339
from app.web.services import AppServices
from workers.execution import worker_services
from workers.execution.worker_services import WorkerServices

WRONG = "wrong-token-0123456789"
WAITING = {"Prefer": "wait=10"}


@pytest.fixture
def admin(user: SignedInUser) -> SignedInUser:
    with user.database.transaction() as session:
        session.execute(update(Account).values(role=Role.ADMIN))
    return user


@pytest.fixture
def hubspot(httpserver: HTTPServer) -> FakeCrm:
    return FakeHubSpot(httpserver)


@pytest.fixture
def twenty(httpserver: HTTPServer) -> FakeCrm:
    return FakeTwenty(httpserver)


@pytest.fixture(autouse=True)
def services(
    app: APIFlask, httpserver: HTTPServer, _no_wait_for_workers: None, monkeypatch: pytest.MonkeyPatch
) -> AppServices:
    """The services of an application whose requests wait for a worker; its HubSpot is on loopback."""
    url = httpserver.url_for("/").rstrip("/")
    addresses = tuple((f"CRM_{name}_BASE_URL", url) for name in ("HUBSPOT", "PIPEDRIVE"))
    client = tuple((f"CRM_HUBSPOT_CLIENT_{name}", "client-1") for name in ("ID", "SECRET"))
    change_settings(app, crm_variables=addresses + client, webhook_networks=("127.0.0.0/8",))
    monkeypatch.setattr(credential_checks, "SECONDS", 10)
    monkeypatch.setattr(credential_checks, "READ_SECONDS", 5.0)
    built: AppServices = app.extensions["services"]
    return built


@pytest.fixture(autouse=True)
def worker(services: AppServices, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[threading.Thread]]:
    """A worker that receives what the application publishes, each message in a thread of its own."""
    notifier = JobNotifier(services.settings.redis_url)
    of_worker = WorkerServices(services.settings, services.database, services.publisher, notifier)
    monkeypatch.setattr(worker_services, "_current", [of_worker])
    threads: list[threading.Thread] = []

    def push(_task: str, _queue: object, ids: list[str]) -> bool:
        threads.append(threading.Thread(target=work.push, args=ids))
        threads[-1].start()
        return True

    monkeypatch.setattr(services.publisher, "push", push)
    yield threads
    for thread in threads:
        thread.join(10)


def post(user: SignedInUser, path: str = "", *, key: str = "", **body: Any) -> TestResponse:
    headers = user.headers | ({"Idempotency-Key": key} if key else {})
    return user.client.post(f"/api/crm/connections{path}", json=body, headers=headers)


def errors(response: TestResponse) -> list[tuple[str, str]]:
    assert response.status_code == 422, response.data
    return [(error["pointer"], error["detail"]) for error in response.get_json()["errors"]]


def stored(user: SignedInUser) -> list[CrmConnection]:
    with user.database.reading() as session:
        return list(session.scalars(select(CrmConnection)))


def refuse(crm: FakeCrm) -> None:
    crm.fail(403, {"status": "error", "category": "MISSING_SCOPES"})


def test_a_token_that_the_crm_accepts_is_connected_at_once(admin: SignedInUser, hubspot: FakeCrm) -> None:
    began = time.monotonic()
    response = post(admin, vendor="hubspot", token=TOKEN)
    seconds = time.monotonic() - began

    assert (response.status_code, response.get_json()["connection"]["status"]) == (201, "connected")
    assert seconds < credential_checks.READ_SECONDS
    assert hubspot.requests


@pytest.mark.usefixtures("hubspot")
def test_a_wrong_token_is_refused_with_what_to_do_and_nothing_is_stored(admin: SignedInUser) -> None:
    response = post(admin, vendor="hubspot", token=WRONG)

    sentence = "HubSpot does not accept the token. Copy the access token of the private app again."
    assert errors(response) == [("/token", sentence)]
    assert stored(admin) == []
    assert WRONG not in response.text
    with admin.database.reading() as session:
        assert session.scalars(select(Event)).all() == []


@pytest.mark.parametrize(
    ("fake", "key_name", "permission"),
    [
        (FakeHubSpot, "access token of the private app", "crm.objects.contacts.read"),
        (FakePipedrive, "API token of the user", "Personal preferences, API"),
        (FakeTwenty, "API key", "Settings, APIs & Webhooks"),
    ],
)
def test_each_crm_with_a_token_is_tried_before_it_is_stored(
    admin: SignedInUser, httpserver: HTTPServer, fake: type[FakeCrm], key_name: str, permission: str
) -> None:
    crm, title = fake(httpserver), fake.__name__.removeprefix("Fake")
    body = {"vendor": title.lower()} | ({"base_url": crm.url} if fake is FakeTwenty else {})

    wrong = errors(post(admin, **body, token=WRONG))
    refuse(crm)
    [(pointer, forbidden)] = errors(post(admin, **body, token=TOKEN))
    before = stored(admin)
    accepted = post(admin, **body, token=TOKEN)

    assert wrong == [("/token", f"{title} does not accept the token. Copy the {key_name} again.")]
    assert (pointer, before) == ("/token", [])
    assert f"lacks a permission in {title}" in forbidden
    assert permission in forbidden
    assert accepted.get_json()["connection"]["status"] == "connected"


def test_a_token_without_a_permission_is_refused_with_those_it_needs(
    admin: SignedInUser, hubspot: FakeCrm
) -> None:
    refuse(hubspot)

    [(pointer, sentence)] = errors(post(admin, vendor="hubspot", token=TOKEN))

    assert pointer == "/token"
    assert "lacks a permission in HubSpot" in sentence
    assert "crm.objects.contacts.read" in sentence


def test_a_key_of_a_refused_request_connects_when_it_is_sent_again(
    admin: SignedInUser, hubspot: FakeCrm
) -> None:
    refuse(hubspot)
    refused = post(admin, vendor="hubspot", token=TOKEN, key="k-1")

    response = post(admin, vendor="hubspot", token=TOKEN, key="k-1")

    assert (refused.status_code, response.status_code) == (422, 201)


def test_a_constant_that_a_new_crm_does_not_accept_is_refused_and_nothing_is_stored(
    admin: SignedInUser, hubspot: FakeCrm
) -> None:
    hubspot.properties = [{"name": "leadsource", "options": [{"value": "Web", "label": "Web"}]}]
    body = {"vendor": "hubspot", "token": TOKEN}

    refused = post(admin, **body, constants={"leadsource": "Moon"})
    before = stored(admin)
    accepted = post(admin, **body, constants={"leadsource": "Web"})

    sentence = "leadsource does not accept Moon. It accepts Web."
    assert errors(refused) == [("/constants/leadsource", sentence)]
    assert before == []
    assert accepted.get_json()["connection"]["constants"] == {"leadsource": "Web"}


def test_a_host_that_is_another_server_is_named(admin: SignedInUser, twenty: FakeCrm) -> None:
    twenty.page = "<html>A wiki</html>"

    response = post(admin, vendor="twenty", token=TOKEN, base_url=twenty.url)

    host = "127.0.0.1" if "127.0.0.1" in twenty.url else "localhost"
    assert errors(response) == [
        ("/base_url", f"{host} does not answer as Twenty does. Check the address."),
    ]
    assert stored(admin) == []


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("http://127.0.0.1:{port}", "127.0.0.1 cannot be reached. Check the address."),
        ("https://crm.invalid", "The host crm.invalid does not resolve. Check the address."),
    ],
)
def test_a_host_that_is_not_there_is_named(admin: SignedInUser, url: str, sentence: str) -> None:
    response = post(admin, vendor="twenty", token=TOKEN, base_url=url.format(port=free_port()))

    assert errors(response) == [("/base_url", sentence)]


@pytest.mark.usefixtures("hubspot")
def test_a_connection_whose_crm_is_slow_is_stored_and_checked_later(
    admin: SignedInUser, worker: list[threading.Thread], monkeypatch: pytest.MonkeyPatch
) -> None:
    is_answered = threading.Event()
    monkeypatch.setattr(work, "take_turn", lambda *_: is_answered.wait(10))
    monkeypatch.setattr(credential_checks, "SECONDS", 1)
    monkeypatch.setattr(credential_checks, "READ_SECONDS", 0.1)

    response = post(admin, vendor="hubspot", token=TOKEN)
    is_answered.set()

    assert (response.status_code, response.get_json()["connection"]["status"]) == (201, "checking")
    assert len(worker) == 1


@pytest.mark.parametrize("status", [500, 429])
def test_a_crm_that_cannot_answer_now_is_no_reason_to_refuse(
    admin: SignedInUser, hubspot: FakeCrm, status: int
) -> None:
    hubspot.fail(status, {})

    response = post(admin, vendor="hubspot", token=TOKEN)

    connection = response.get_json()["connection"]
    assert (response.status_code, connection["status"]) == (201, "checking")
    assert connection["error"] is not None


def test_without_a_broker_nobody_waits(
    admin: SignedInUser, services: AppServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services.publisher, "push", lambda *_: False)

    began = time.monotonic()
    response = post(admin, vendor="hubspot", token=TOKEN)

    assert response.get_json()["connection"]["status"] == "checking"
    assert time.monotonic() - began < 5


@pytest.mark.usefixtures("hubspot")
def test_a_database_that_fails_during_the_wait_does_not_end_it(
    admin: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, tries = credential_checks._read, []  # noqa: SLF001 -- the database fails for the first read only
    monkeypatch.setattr(credential_checks, "READ_SECONDS", 0.05)

    def fail_once(connection: CrmConnection) -> CrmConnection:
        tries.append(connection.id)
        if len(tries) == 1:
            raise Unavailable
        return read(connection)

    monkeypatch.setattr(credential_checks, "_read", fail_once)

    response = post(admin, vendor="hubspot", token=TOKEN)

    assert response.get_json()["connection"]["status"] == "connected"
    assert len(tries) > 1


@pytest.mark.usefixtures("hubspot")
def test_a_wrong_new_token_leaves_the_one_that_works(
    admin: SignedInUser, worker: list[threading.Thread]
) -> None:
    connection_id = post(admin, vendor="hubspot", token=TOKEN).get_json()["connection"]["id"]

    refused = post(admin, f"/{connection_id}", token=WRONG)
    work.push(connection_id)  # as the next sweep has it done

    [connection] = stored(admin)
    assert errors(refused)[0][0] == "/token"
    assert (connection.status, connection.error) == ("connected", None)
    with admin.database.reading() as session:
        assert connections.decrypted(session, connection).token == TOKEN
        assert session.scalars(select(Event)).all() == []
    assert len(worker) == 2


@pytest.mark.usefixtures("hubspot")
def test_a_wrong_new_token_does_not_change_when_the_former_was_accepted(admin: SignedInUser) -> None:
    before = post(admin, vendor="hubspot", token=TOKEN).get_json()["connection"]

    post(admin, f"/{before['id']}", token=WRONG)

    [connection] = stored(admin)
    assert (connection.status, rfc3339(connection.checked_at)) == ("checking", before["checked_at"])


def test_a_former_token_that_was_revoked_meanwhile_is_told(admin: SignedInUser, hubspot: FakeCrm) -> None:
    connection_id = post(admin, vendor="hubspot", token=TOKEN).get_json()["connection"]["id"]
    hubspot.token = "of nobody"

    post(admin, f"/{connection_id}", token=WRONG)
    work.push(connection_id)

    [connection] = stored(admin)
    assert (connection.status, connection.error) == ("reconnect", "unauthorized")
    with admin.database.reading() as session:
        assert [event.type for event in session.scalars(select(Event))] == ["crm.push_failed"]


@pytest.mark.usefixtures("hubspot")
def test_a_new_token_that_works_is_connected_at_once(admin: SignedInUser, hubspot: FakeCrm) -> None:
    connection_id = post(admin, vendor="hubspot", token=TOKEN).get_json()["connection"]["id"]
    hubspot.token = "token-2"

    response = post(admin, f"/{connection_id}", token="token-2")

    assert response.get_json()["connection"]["status"] == "connected"


@pytest.mark.usefixtures("hubspot")
def test_a_token_that_somebody_replaced_meanwhile_is_not_undone(
    admin: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse_an_earlier_one(connection: CrmConnection) -> CrmConnection:
        return _refused(connection, credentials=b"an earlier one")

    monkeypatch.setattr(credential_checks, "awaited", refuse_an_earlier_one)

    response = post(admin, vendor="hubspot", token=TOKEN)

    assert response.status_code == 201
    assert [connection.status for connection in stored(admin)] == ["checking"]


@pytest.mark.parametrize(
    ("error", "part"), [("account_not_open", "subscription or trial"), ("http_418", "418")]
)
@pytest.mark.usefixtures("hubspot")
def test_another_refusal_is_told_as_it_is(
    admin: SignedInUser, monkeypatch: pytest.MonkeyPatch, error: str, part: str
) -> None:
    monkeypatch.setattr(credential_checks, "awaited", lambda connection: _refused(connection, error=error))

    [(pointer, sentence)] = errors(post(admin, vendor="hubspot", token=TOKEN))

    assert pointer == "/token"
    assert part in sentence


def test_the_page_keeps_the_address_and_marks_the_wrong_token(
    browser: Visitor, admin: SignedInUser, twenty: FakeCrm
) -> None:
    page = browser.send("/crm", WAITING, vendor="twenty", token=WRONG, base_url=twenty.url)

    assert page.status_code == 422
    assert "Twenty does not accept the token. Copy the API key again." in page.text
    assert f'value="{twenty.url}"' in page.text
    assert WRONG not in page.text
    assert stored(admin) == []


@pytest.mark.usefixtures("hubspot")
def test_the_page_of_a_connection_marks_a_wrong_new_token(browser: Visitor, admin: SignedInUser) -> None:
    connection_id = post(admin, vendor="hubspot", token=TOKEN).get_json()["connection"]["id"]

    page = browser.send(f"/crm/connections/{connection_id}/check", WAITING, token=WRONG)

    assert page.status_code == 422
    assert "HubSpot does not accept the token." in page.text
    assert WRONG not in page.text


def _refused(connection: CrmConnection, **changes: Any) -> CrmConnection:
    columns = {column.name: getattr(connection, column.name) for column in CrmConnection.__table__.columns}
    return CrmConnection(**columns | {"status": "reconnect", "error": "unauthorized"} | changes)


def test_a_code_that_the_crm_does_not_exchange_is_said_on_the_way_back(
    browser: Visitor, admin: SignedInUser, hubspot: FakeCrm
) -> None:
    begun = browser.send("/crm/authorize", vendor="hubspot").text
    [state] = re.findall(r"[?;]state=([^&\"]+)", begun)
    hubspot.fail(400, {"status": "BAD_CLIENT_SECRET"}, path="/token")

    page = browser.client.get(
        f"/crm/callback?state={state}&code=code-1", headers=ACCEPT | WAITING, follow_redirects=True
    )

    assert "The CRM does not accept the client of this server." in page.text
    assert "The CRM gave access" not in page.text
    assert [one.status for one in stored(admin)] == ["reconnect"]
