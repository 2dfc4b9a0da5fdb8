"""Provider lookups through real processes, with vendors simulated by a server on loopback."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from e2e_stack import ApiResponse, Stack, running
from local_servers import empty_database
from polling import wait_until
from sqlalchemy import select
from vendors_support import KEY, NOT_READY, FakeVendors, prospeo_finds, run_fake_vendors
from werkzeug import Request

from app.domain.findings import EmailStatus, FoundCompany, FoundContact, FoundEmail, Source, SourceKind
from app.engine.contacts import contacts
from app.engine.jobs.provider_calls import ProviderCall
from app.infra import clock

REVEAL = "/api/ext/reveal/email"


@pytest.fixture(scope="module")
def vendors() -> Iterator[FakeVendors]:
    with run_fake_vendors() as vendors:
        yield vendors


@pytest.fixture(scope="module")
def stack(vendors: FakeVendors, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Stack]:
    """A separate stack whose providers are the simulated vendors."""
    folder = tmp_path_factory.mktemp("vendors")
    with ExitStack() as stop:
        url = stop.enter_context(empty_database(folder, f"vendors_{worker_id}"))
        yield stop.enter_context(
            running(
                folder,
                url,
                WEB_CONCURRENCY="1",
                LEASE_SECONDS="20",
                PROVIDERS_EMAIL="pattern,hunter,prospeo",
                PROVIDERS_PHONE="dropcontact",
                **vendors.settings(),
            )
        )


@pytest.fixture(autouse=True)
def _reset_vendors(vendors: FakeVendors) -> None:
    vendors.reset()


def store_contacts_with_a_pattern(stack: Stack, domain: str) -> None:
    """Store contacts whose addresses show the company's pattern."""
    now = clock.now()
    source = Source("test", SourceKind.IMPORT, now)
    with stack.database.transaction() as session:
        for first, last in (("Grace", "Hopper"), ("Alan", "Turing"), ("Edsger", "Dijkstra")):
            email = FoundEmail(
                email=f"{first}.{last}@{domain}".lower(),
                type="work",
                status=EmailStatus.VALID,
                source=source,
            )
            company = FoundCompany(source=source, domain=domain)
            person = FoundContact(
                source=source,
                full_name=f"{first} {last}",
                first_name=first,
                last_name=last,
                company=company,
                emails=(email,),
            )
            contacts.upsert(session, person, now=now)


def reveal(stack: Stack, token: str, name: str, domain: str, **headers: str) -> ApiResponse:
    subject = {"full_name": name, "company_domain": domain}
    return stack.call("POST", REVEAL, {"subject": subject}, Authorization=token, **headers)


def receipt(response: ApiResponse) -> list[tuple[str, str]]:
    return [(line["provider"], line["outcome"]) for line in response.body["trace"]]


def test_a_hit_after_two_misses_costs_one_credit_and_the_trace_lists_every_provider(
    stack: Stack, vendors: FakeVendors
) -> None:
    store_contacts_with_a_pattern(stack, "northwind.dev")
    vendors.responders["prospeo"] = prospeo_finds("a.lovelace@northwind.dev")
    _workspace, token = stack.create_workspace()

    response = reveal(stack, token, "Ada Lovelace", "northwind.dev")

    assert response.body["result"]["emails"][0]["email"] == "a.lovelace@northwind.dev"
    assert receipt(response) == [("pattern", "miss"), ("hunter", "miss"), ("prospeo", "hit")]
    assert [line["cost"] for line in response.body["trace"]] == [0, 0, 1]
    assert response.body["credits"]["charged"] == 1


def test_a_poll_lists_the_finished_and_the_current_provider(stack: Stack, vendors: FakeVendors) -> None:
    may_respond = threading.Event()

    def respond(request: Request) -> tuple[int, Any]:
        may_respond.wait(20)
        return prospeo_finds("a.live@northwind.dev")(request)

    vendors.responders["prospeo"] = respond
    _workspace, token = stack.create_workspace()
    accepted = reveal(stack, token, "Ada Live", "northwind.dev", Prefer="respond-async")
    path = accepted.headers["Location"]
    wait_until(lambda: vendors.calls("prospeo"))

    running = stack.call("GET", path, Authorization=token)
    may_respond.set()
    finished = stack.call("GET", path, Authorization=token, Prefer="wait=10")

    assert running.body["job"]["progress"] == {"done": 0, "total": 1, "asking": ["prospeo"]}
    assert receipt(running)[-1] == ("hunter", "miss")
    assert "asking" not in finished.body["job"]["progress"]
    assert receipt(finished)[-2:] == [("hunter", "miss"), ("prospeo", "hit")]


def test_a_found_address_is_stored_and_sold_to_the_next_workspace_without_provider_calls(
    stack: Stack, vendors: FakeVendors
) -> None:
    vendors.responders["prospeo"] = prospeo_finds("m.curie@radium.dev")
    _first, token = stack.create_workspace()
    _second, other = stack.create_workspace()
    reveal(stack, token, "Marie Curie", "radium.dev")
    vendors.requests.clear()

    response = reveal(stack, other, "Marie Curie", "radium.dev")

    assert (response.body["credits"]["charged"], response.body["trace"], vendors.requests) == (1, [], [])


def test_a_miss_is_not_charged_and_not_queried_again(stack: Stack, vendors: FakeVendors) -> None:
    _first, token = stack.create_workspace()
    _second, other = stack.create_workspace()
    first = reveal(stack, token, "Nobody Known", "radium.dev")
    vendors.requests.clear()

    second = reveal(stack, other, "Nobody Known", "radium.dev")

    assert [first.body["job"]["outcome"], second.body["job"]["outcome"]] == ["not_found", "not_found"]
    assert receipt(second)[-2:] == [("hunter", "known_miss"), ("prospeo", "known_miss")]
    assert (vendors.requests, second.body["credits"]["charged"]) == ([], 0)


def test_a_provider_that_refuses_its_key_is_reported_and_the_next_one_is_queried(
    stack: Stack, vendors: FakeVendors
) -> None:
    vendors.responders["hunter"] = lambda _request: (
        401,
        {"errors": [{"id": "authentication_failed", "code": 401}]},
    )
    vendors.responders["prospeo"] = prospeo_finds("l.meitner@radium.dev")
    _workspace, token = stack.create_workspace()

    response = reveal(stack, token, "Lise Meitner", "radium.dev")

    assert receipt(response)[-2:] == [("hunter", "unconfigured"), ("prospeo", "hit")]


def test_a_person_who_opted_out_at_a_provider_is_never_queried_again(
    stack: Stack, vendors: FakeVendors
) -> None:
    vendors.responders["hunter"] = lambda _request: (
        451,
        {"errors": [{"id": "claimed_email", "code": 451, "details": "…"}]},
    )
    subject = {
        "linkedin_url": "https://www.linkedin.com/in/leave-me-alone",
        "full_name": "Leave Alone",
        "company_domain": "radium.dev",
    }
    _first, token = stack.create_workspace()
    _second, other = stack.create_workspace()
    first = stack.call("POST", REVEAL, {"subject": subject}, Authorization=token)
    vendors.requests.clear()

    second = stack.call("POST", REVEAL, {"subject": subject}, Authorization=other)

    assert [response.body["job"]["outcome"] for response in (first, second)] == ["suppressed", "suppressed"]
    assert vendors.requests == []


def test_a_polled_provider_request_occupies_no_worker_and_survives_a_killed_one(
    stack: Stack, vendors: FakeVendors
) -> None:
    ready = {
        "success": True,
        "error": False,
        "credits_left": 9,
        "data": [{"full_name": "Ada Slow", "mobile_phone": "+33 6 12 34 56 78", "email": []}],
    }
    is_ready = threading.Event()

    def respond(request: Request) -> tuple[int, Any]:
        if request.method == "POST":
            return 200, {"credits_left": 10, "request_id": "r1", "error": False, "success": True}
        return 200, ready if is_ready.is_set() else NOT_READY

    vendors.responders["dropcontact"] = respond
    _workspace, token = stack.create_workspace()
    body = {"subject": {"full_name": "Ada Slow", "company_domain": "radium.dev"}}
    accepted = stack.call("POST", "/api/ext/reveal/phone", body, Authorization=token, Prefer="wait=1")
    wait_until(lambda: _has_a_ticket(stack, accepted.body["job"]["id"]))
    for worker in stack.workers:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
    stack.workers.clear()
    is_ready.set()
    stack.start_worker()

    response = wait_until(lambda: _if_finished(stack, token, accepted.body["job"]["id"]), 90)

    assert accepted.status == 202
    assert [phone["e164"] for phone in response.body["result"]["phones"]] == ["+33612345678"]
    assert receipt(response) == [("dropcontact", "hit")]
    assert sum(path.startswith("POST") for _name, path in vendors.requests) == 1
    assert response.body["credits"]["charged"] == 1


def _has_a_ticket(stack: Stack, job_id: str) -> bool:
    """Tell whether a worker has stored what it polls with; killed before, the next one submits again."""
    with stack.database.reading() as session:
        statement = select(ProviderCall.ticket).where(ProviderCall.job_id == job_id)
        return session.scalars(statement).first() is not None


def test_the_logs_contain_neither_keys_nor_personal_data(stack: Stack, vendors: FakeVendors) -> None:
    vendors.responders["prospeo"] = prospeo_finds("ada.quiet@northwind.dev")
    _workspace, token = stack.create_workspace()
    reveal(stack, token, "Ada Quiet", "northwind.dev")

    logs = "".join(path.read_text() for path in stack.redis_folder.glob("*.log"))

    assert "provider called" in logs
    assert [text for text in (KEY, "quiet", "northwind.dev") if text in logs.lower()] == []


def _if_finished(stack: Stack, token: str, job_id: str) -> ApiResponse | None:
    response = stack.call("GET", f"/api/ext/jobs?id={job_id}", Authorization=token)
    return response if response.status == 200 else None
