"""A list verified by real workers at real mail and name servers on loopback, also if a worker is killed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.smtp import SMTP, Envelope, Session
from audit_support import STUCK_AFTER
from axe_playwright_python.sync_playwright import Axe
from dnslib import MX, A
from e2e_stack import Stack, running
from local_servers import empty_database
from mail_support import LOOPBACK, FakeDnsServer, dns_server, mail_server
from page_browser_support import OPERATOR, PageBrowser, create_operator, sign_in
from playwright.sync_api import Browser, Page, expect
from polling import wait_until

from app.engine.audit import rule_checks
from app.infra import clock

pytestmark = pytest.mark.slow
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
            "OPERATORS": OPERATOR,
            "PYTHONPATH": f"{here.parents[2]}:{here}",
        }
        yield stop.enter_context(running(folder, url, application="loopback_mail_entry", **settings))


@pytest.fixture(scope="module")
def browser(chromium: Browser, stack: Stack) -> PageBrowser:
    create_operator(stack)
    return PageBrowser(chromium, stack)


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


def upload(stack: Stack, token: str, content: str) -> str:
    """Upload a list to verify with curl; return its id once it has a price."""
    sent = curl(stack, token, "uploads?operation=verify&country=DE", "--data-binary", content)
    upload_id: str = json.loads(sent)["id"]
    wait_until(lambda: uploaded(stack, token, upload_id)["status"] == "ready", 60)
    return upload_id


def uploaded(stack: Stack, token: str, upload_id: str) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(curl(stack, token, f"uploads/{upload_id}"))
    return body


def curl(stack: Stack, token: str, path: str, *arguments: str, content_type: str = "text/csv") -> bytes:
    headers = ("-H", f"Authorization: {token}", "-H", f"Content-Type: {content_type}")
    command = ["curl", "-sS", *headers, *arguments, f"{stack.base_url}/api/{path}"]
    return subprocess.run(command, check=True, capture_output=True).stdout


def test_a_file_comes_back_verified_and_charged_once_although_the_worker_is_killed(
    stack: Stack, mailboxes: Mailboxes, monkeypatch: pytest.MonkeyPatch
) -> None:
    _workspace, token = stack.create_workspace()
    monkeypatch.setattr(mailboxes, "seconds", 0.1)
    addresses = [f"known-{number}@strict-mail.com" for number in range(30)]
    lines = [f"{number};{address};" for number, address in enumerate([*addresses, *addresses])]
    content = "\n".join(["Nr;E-Mail;Telefon", *lines, "x;nobody;030 901820", "y;;", ""])
    upload_id = upload(stack, token, content)
    estimate = uploaded(stack, token, upload_id)["estimate"]
    curl(stack, token, f"uploads/{upload_id}/start", "--data", "{}", content_type="application/json")
    wait_until(lambda: 8 <= uploaded(stack, token, upload_id)["progress"]["done"] < len(addresses), 60)

    kill_workers(stack)
    stack.start_worker()
    wait_until(lambda: uploaded(stack, token, upload_id)["status"] == "finished", 120)

    done = uploaded(stack, token, upload_id)
    header, *rows = curl(stack, token, f"uploads/{upload_id}/result").decode().splitlines()
    assert (estimate["credits_max"], estimate["duplicates"], estimate["invalid"]) == (30, 30, 1)
    assert (done["credits"], done["outcomes"]) == ({"charged": 30, "reserved": 0}, {"valid": 31})
    assert header.startswith('"Nr";"E-Mail";"Telefon";"Verified email";"Email verdict"')
    assert [row.split(";")[:2] for row in rows[:60]] == [
        [f'"{number}"', f'"{address}"'] for number, address in enumerate([*addresses, *addresses])
    ]
    assert all('"valid"' in row for row in rows[:60])
    assert '"\'+4930901820";"valid";"DE";"landline"' in rows[60]
    assert "its cells are empty" in rows[61]
    assert mailboxes.asked.count(addresses[0]) == 1
    assert violations(stack) == []


def test_a_list_is_verified_on_the_pages(browser: PageBrowser, tmp_path: Path) -> None:
    file = tmp_path / "prospects.csv"
    content = (
        "Größe;E-Mail;Telefon\n007;Known@strict-mail.com;030 901820\n=1+1;known@open-mail.com;\nx;nobody;\n"
    )
    file.write_bytes(content.encode("cp1252"))
    with browser.visit() as page:
        sign_in(page)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        page.goto("/verifications")
        _look(page, "verify")
        page.get_by_label("A CSV file or an Excel workbook").set_input_files(file)
        page.locator("#list-country").fill("DE")
        page.get_by_role("button", name="Choose the columns").click()
        expect(page.get_by_text("Ready to start", exact=True)).to_be_visible(timeout=60_000)
        _look(page, "ready")
        page.get_by_label("Telefon").select_option("Not used")
        page.get_by_role("button", name="Save, and calculate the price").click()
        expect(page.get_by_label("Telefon")).to_have_value("")
        page.get_by_label("Telefon").select_option("Phone")
        page.get_by_role("button", name="Save, and calculate the price").click()
        expect(page.get_by_text("credits at most")).to_be_visible(timeout=60_000)
        page.get_by_role("button", name="Verify", exact=True).click()
        expect(page.get_by_text("Finished", exact=True)).to_be_visible(timeout=60_000)
        _look(page, "finished")
        with page.expect_download() as download:
            page.get_by_role("link", name="Download the result").click()
        lines = download.value.path().read_bytes().decode("cp1252").splitlines()

    assert download.value.suggested_filename == "prospects - result.csv"
    assert lines[1].startswith('"007";"Known@strict-mail.com";"030 901820";"known@strict-mail.com";"valid"')
    assert lines[2].startswith('"=1+1";"known@open-mail.com";"";"known@open-mail.com";"accept_all"')
    assert "not an e-mail address" in lines[3]


def _look(page: Page, name: str) -> None:
    """Require that the page is accessible, and take its picture if pictures are wanted."""
    violations = Axe().run(page).response["violations"]
    if pictures := os.environ.get("PICTURES"):
        page.screenshot(path=str(Path(pictures) / f"{name}.png"), full_page=True)
    assert [(found["id"], found["nodes"][0]["html"]) for found in violations] == []
