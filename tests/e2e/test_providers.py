"""Provider lookups through real processes, with vendors simulated by a server on loopback."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from e2e_stack import Answer, Stack, running
from local_servers import empty_database
from polling import wait_until
from vendors_support import KEY, NOT_READY, Vendors, prospeo_knows, vendors_on_loopback
from werkzeug import Request

from app.core.contacts import contacts
from app.domain.findings import EmailStatus, FoundCompany, FoundContact, FoundEmail, Source, SourceKind
from app.infra import clock

REVEAL = "/api/ext/reveal/email"


@pytest.fixture(scope="module")
def vendors() -> Iterator[Vendors]:
    with vendors_on_loopback() as vendors:
        yield vendors


@pytest.fixture(scope="module")
def stack(vendors: Vendors, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Stack]:
    """A separate stack whose providers are the simulated vendors."""
    folder = tmp_path_factory.mktemp("vendors")
    with ExitStack() as stop:
        url = stop.enter_context(empty_database(folder, f"vendors_{worker_id}"))
        yield stop.enter_context(
            running(
                folder,
                url,
                LEASE_SECONDS="20",
                PROVIDERS_EMAIL="pattern,hunter,prospeo",
                PROVIDERS_PHONE="dropcontact",
                **vendors.settings(),
            )
        )


@pytest.fixture(autouse=True)
def _as_new(vendors: Vendors) -> None:
    vendors.start_anew()


def knows_the_pattern(stack: Stack, domain: str) -> None:
    """Store contacts whose addresses show the company's pattern."""
    now = clock.now()
    source = Source("walk", SourceKind.IMPORT, now)
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


def reveal(stack: Stack, token: str, name: str, domain: str, **headers: str) -> Answer:
    subject = {"full_name": name, "company_domain": domain}
    return stack.call("POST", REVEAL, {"subject": subject}, Authorization=token, **headers)


def receipt(answer: Answer) -> list[tuple[str, str]]:
    return [(line["provider"], line["outcome"]) for line in answer.body["trace"]]


def test_a_guess_and_a_miss_and_then_a_hit_cost_one_credit_and_show_who_was_asked(
    stack: Stack, vendors: Vendors
) -> None:
    knows_the_pattern(stack, "northwind.dev")
    vendors.says["prospeo"] = prospeo_knows("a.lovelace@northwind.dev")
    _workspace, token = stack.workspace()

    answer = reveal(stack, token, "Ada Lovelace", "northwind.dev")

    assert answer.body["result"]["emails"][0]["email"] == "a.lovelace@northwind.dev"
    assert receipt(answer) == [("pattern", "miss"), ("hunter", "miss"), ("prospeo", "hit")]
    assert [line["cost"] for line in answer.body["trace"]] == [0, 0, 1]
    assert answer.body["credits"]["charged"] == 1


def test_a_poll_shows_who_has_answered_and_who_is_being_asked(stack: Stack, vendors: Vendors) -> None:
    answered = threading.Event()

    def say(request: Request) -> tuple[int, Any]:
        answered.wait(20)
        return prospeo_knows("a.live@northwind.dev")(request)

    vendors.says["prospeo"] = say
    _workspace, token = stack.workspace()
    asked = reveal(stack, token, "Ada Live", "northwind.dev", Prefer="respond-async")
    path = asked.headers["Location"]
    wait_until(lambda: vendors.calls("prospeo"))

    under_way = stack.call("GET", path, Authorization=token)
    answered.set()
    over = stack.call("GET", path, Authorization=token, Prefer="wait=10")

    assert under_way.body["job"]["progress"] == {"done": 0, "total": 1, "asking": ["prospeo"]}
    assert receipt(under_way)[-1] == ("hunter", "miss")
    assert "asking" not in over.body["job"]["progress"]
    assert receipt(over)[-2:] == [("hunter", "miss"), ("prospeo", "hit")]


def test_what_was_found_for_one_is_known_for_the_next_and_asked_of_nobody(
    stack: Stack, vendors: Vendors
) -> None:
    vendors.says["prospeo"] = prospeo_knows("m.curie@radium.dev")
    _first, token = stack.workspace()
    _second, other = stack.workspace()
    reveal(stack, token, "Marie Curie", "radium.dev")
    vendors.asked.clear()

    answer = reveal(stack, other, "Marie Curie", "radium.dev")

    assert (answer.body["credits"]["charged"], answer.body["trace"], vendors.asked) == (1, [], [])


def test_a_miss_is_paid_for_by_nobody_and_not_bought_again(stack: Stack, vendors: Vendors) -> None:
    _first, token = stack.workspace()
    _second, other = stack.workspace()
    first = reveal(stack, token, "Nobody Known", "radium.dev")
    vendors.asked.clear()

    second = reveal(stack, other, "Nobody Known", "radium.dev")

    assert [first.body["job"]["outcome"], second.body["job"]["outcome"]] == ["not_found", "not_found"]
    assert receipt(second)[-2:] == [("hunter", "known_miss"), ("prospeo", "known_miss")]
    assert (vendors.asked, second.body["credits"]["charged"]) == ([], 0)


def test_a_bad_key_is_told_and_the_next_provider_is_asked(stack: Stack, vendors: Vendors) -> None:
    vendors.says["hunter"] = lambda _request: (
        401,
        {"errors": [{"id": "authentication_failed", "code": 401}]},
    )
    vendors.says["prospeo"] = prospeo_knows("l.meitner@radium.dev")
    _workspace, token = stack.workspace()

    answer = reveal(stack, token, "Lise Meitner", "radium.dev")

    assert receipt(answer)[-2:] == [("hunter", "unconfigured"), ("prospeo", "hit")]


def test_who_opted_out_at_a_provider_is_never_asked_about_again(stack: Stack, vendors: Vendors) -> None:
    vendors.says["hunter"] = lambda _request: (
        451,
        {"errors": [{"id": "claimed_email", "code": 451, "details": "…"}]},
    )
    subject = {
        "linkedin_url": "https://www.linkedin.com/in/leave-me-alone",
        "full_name": "Leave Alone",
        "company_domain": "radium.dev",
    }
    _first, token = stack.workspace()
    _second, other = stack.workspace()
    first = stack.call("POST", REVEAL, {"subject": subject}, Authorization=token)
    vendors.asked.clear()

    second = stack.call("POST", REVEAL, {"subject": subject}, Authorization=other)

    assert [one.body["job"]["outcome"] for one in (first, second)] == ["suppressed", "suppressed"]
    assert vendors.asked == []


def test_an_answer_that_takes_time_is_waited_for_by_no_worker_and_survives_one_that_is_killed(
    stack: Stack, vendors: Vendors
) -> None:
    ready = {
        "success": True,
        "error": False,
        "credits_left": 9,
        "data": [{"full_name": "Ada Slow", "mobile_phone": "+33 6 12 34 56 78", "email": []}],
    }
    is_ready = threading.Event()

    def say(request: Request) -> tuple[int, Any]:
        if request.method == "POST":
            return 200, {"credits_left": 10, "request_id": "r1", "error": False, "success": True}
        return 200, ready if is_ready.is_set() else NOT_READY

    vendors.says["dropcontact"] = say
    _workspace, token = stack.workspace()
    body = {"subject": {"full_name": "Ada Slow", "company_domain": "radium.dev"}}
    asked = stack.call("POST", "/api/ext/reveal/phone", body, Authorization=token, Prefer="wait=1")
    wait_until(lambda: vendors.calls("dropcontact") >= 1)
    for worker in stack.workers:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
    stack.workers.clear()
    is_ready.set()
    stack.start_worker()

    answer = wait_until(lambda: _over(stack, token, asked.body["job"]["id"]), 90)

    assert asked.status == 202
    assert [phone["e164"] for phone in answer.body["result"]["phones"]] == ["+33612345678"]
    assert receipt(answer) == [("dropcontact", "hit")]
    assert sum(path.startswith("POST") for _name, path in vendors.asked) == 1
    assert answer.body["credits"]["charged"] == 1


def test_neither_keys_nor_people_are_in_the_logs(stack: Stack, vendors: Vendors) -> None:
    vendors.says["prospeo"] = prospeo_knows("ada.quiet@northwind.dev")
    _workspace, token = stack.workspace()
    reveal(stack, token, "Ada Quiet", "northwind.dev")

    logs = "".join(path.read_text() for path in stack.redis_folder.glob("*.log"))

    assert "provider called" in logs
    assert [text for text in (KEY, "quiet", "northwind.dev") if text in logs.lower()] == []


def _over(stack: Stack, token: str, job_id: str) -> Answer | None:
    answer = stack.call("GET", f"/api/ext/jobs?id={job_id}", Authorization=token)
    return answer if answer.status == 200 else None
