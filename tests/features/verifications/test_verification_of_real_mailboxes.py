"""A list verified by real workers at real mail and name servers on loopback, also if a worker is killed."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.smtp import SMTP, Envelope, Session
from audit_support import STUCK_AFTER
from dnslib import MX, A
from e2e_stack import Stack, running
from local_servers import empty_database
from mail_support import LOOPBACK, FakeDnsServer, dns_server, mail_server
from polling import wait_until

from app.engine.audit import rule_checks
from app.infra import clock

PATH = "/api/verifications"
DOMAINS = ("strict-mail.com", "open-mail.com", "grey-mail.com", "never-mail.com")
ZONE: dict[tuple[str, str], tuple[Any, ...]] = {
    **{(domain, "MX"): (MX(f"mail.{domain}", 10),) for domain in DOMAINS},
    **{(f"mail.{domain}", "A"): (A(LOOPBACK),) for domain in DOMAINS},
    ("silent-mail.com", "TXT"): (),  # the domain exists, and receives no mail
}


@dataclass
class Mailboxes:
    """A mail host of several domains: one knows its mailboxes, one accepts all, two ask for patience."""

    seconds: float = 0.0
    asked: list[str] = field(default_factory=list)

    async def handle_RCPT(  # noqa: N802 -- aiosmtpd's
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        name, _, domain = address.partition("@")
        is_new = address not in self.asked
        self.asked.append(address)
        await asyncio.sleep(self.seconds)
        if domain == "never-mail.com" or (domain == "grey-mail.com" and is_new):
            return "451 4.7.1 Greylisted, try again later"
        if domain == "open-mail.com" or name.startswith("known"):
            envelope.rcpt_tos.append(address)
            return "250 OK"
        return "550 5.1.1 No such user here"


@pytest.fixture(scope="module")
def mailboxes() -> Mailboxes:
    return Mailboxes()


@pytest.fixture(scope="module")
def stack(mailboxes: Mailboxes, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Stack]:
    folder, here = tmp_path_factory.mktemp("mailboxes"), Path(__file__).parent
    with ExitStack() as stop:
        url = stop.enter_context(empty_database(folder, f"mailboxes_{worker_id}"))
        settings = {
            "PROVIDERS_VERIFICATION": "mx",
            "VERIFY_SMTP": "true",
            "VERIFY_SMTP_FROM": "probe@verifier-mail.com",
            "VERIFY_SMTP_PORT": str(stop.enter_context(mail_server(mailboxes))),
            "VERIFY_SMTP_PAUSE_SECONDS": "0",
            "VERIFY_DNS_SERVERS": f"{LOOPBACK}:{stop.enter_context(dns_server(FakeDnsServer(ZONE)))}",
            "LEASE_SECONDS": "10",
            "PYTHONPATH": f"{here.parents[2]}:{here}",
        }
        yield stop.enter_context(running(folder, url, application="loopback_mail_entry", **settings))


def kill_workers(stack: Stack) -> None:
    for worker in stack.workers:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
    stack.workers.clear()


def verify(stack: Stack, token: str, *values: str) -> str:
    response = stack.call("POST", PATH, {"values": list(values)}, Authorization=token, Prefer="respond-async")
    assert response.status == 202, response.body
    job_id: str = response.body["job"]["id"]
    return job_id


def finished(stack: Stack, token: str, job_id: str, seconds: float = 60) -> dict[str, Any]:
    def job() -> Any:
        body = stack.call("GET", f"/api/ext/jobs?id={job_id}", Authorization=token).body
        return body if body["job"]["finished_at"] else None

    body: dict[str, Any] = wait_until(job, seconds)
    return body


def verdicts(body: dict[str, Any]) -> dict[str, tuple[str, int]]:
    """Return the status and the price of each address."""
    return {
        email["email"]: (email["status"], item["credits_charged"])
        for item in body["result"]["items"]
        for email in item["emails"]
    }


def violations(stack: Stack) -> list[str]:
    with stack.database.reading() as session:
        found = rule_checks.check(session, stuck_after=STUCK_AFTER, now=clock.now())
        return [fault.rule for result in found for fault in result.faults]


def test_each_mailbox_is_charged_by_its_verdict(stack: Stack) -> None:
    _workspace, token = stack.create_workspace()
    values = (
        *("known@strict-mail.com", "nobody@strict-mail.com", "known@open-mail.com", "known@grey-mail.com"),
        *("known@never-mail.com", "ada@silent-mail.com", "ada@missing-mail.com"),
    )

    body = finished(stack, token, verify(stack, token, *values))

    assert verdicts(body) == {
        "known@strict-mail.com": ("valid", 1),
        "nobody@strict-mail.com": ("invalid", 1),
        "known@open-mail.com": ("accept_all", 1),
        "known@grey-mail.com": ("valid", 1),
        "known@never-mail.com": ("unknown", 0),
        "ada@silent-mail.com": ("invalid", 1),
        "ada@missing-mail.com": ("invalid", 1),
    }
    assert (body["job"]["outcome"], body["credits"]["charged"]) == ("partial", 6)
    assert body["credits"]["balance"] == 94
    assert violations(stack) == []


def test_a_worker_that_is_killed_leaves_no_address_unverified_or_charged_twice(
    stack: Stack, mailboxes: Mailboxes, monkeypatch: pytest.MonkeyPatch
) -> None:
    _workspace, token = stack.create_workspace()
    monkeypatch.setattr(mailboxes, "seconds", 0.1)
    values = [f"known{number}@strict-mail.com" for number in range(40)]
    job_id = verify(stack, token, *values)

    def is_half_done() -> bool:
        body = stack.call("GET", f"/api/ext/jobs?id={job_id}", Authorization=token).body
        return 8 <= body["job"]["progress"]["done"] < len(values)

    wait_until(is_half_done, 60)
    kill_workers(stack)
    killed = stack.call("GET", f"/api/ext/jobs?id={job_id}", Authorization=token).body
    stack.start_worker()
    body = finished(stack, token, job_id, 90)

    assert killed["job"]["finished_at"] is None
    assert verdicts(body) == dict.fromkeys(values, ("valid", 1))
    assert (body["credits"]["charged"], body["credits"]["balance"]) == (40, 60)
    assert mailboxes.asked.count(values[0]) == 1
    assert violations(stack) == []
