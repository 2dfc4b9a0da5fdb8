"""The walk itself: every endpoint once, in the order in which an extension would meet them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING
from uuid import uuid4

from tools.demo.client import PRESENT, DemoClient
from tools.demo.sample import SamplePerson, first_person

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tools.http_client import HttpResponse

SANDBOX_PROFILE = "https://www.linkedin.com/in/sandbox-"
MAX_POLLS = 6
NO_WAIT = {"Prefer": "respond-async"}


def run(client: DemoClient, email: str, password: str) -> None:
    """Walk from signing in to signing out.

    Raises:
        WalkError: an answer was not the promised one.

    """
    sample = first_person()
    _sign_in(client, email, password)
    contact = _look_up(client, sample)
    _reveal_stored_email(client, contact)
    found = _reveal_through_providers(client)
    _reveal_without_waiting(client)
    _enrich(client, sample)
    _report_bounce(client, found)
    _save_profile(client)
    _look_up_by_hash(client, sample)
    _use_api_key(client, sample)
    _sign_out(client)


def _sign_in(client: DemoClient, email: str, password: str) -> None:
    body = {"email": email, "password": password, "client": {"name": "demo", "version": "1"}}
    expect = {
        "token_type": "Bearer",
        "access_token": PRESENT,
        "account.email": email,
        "credits.balance": PRESENT,
    }
    answer = client.step(
        "Sign in: a token, and all a popup needs", "POST", "/api/ext/login", body, expect=expect
    )
    client.token = str(answer.value_at("access_token"))
    expect = {"account.email": email, "auth.kind": "session", "prices": PRESENT, "hash_lookup": PRESENT}
    client.step("Ask who is signed in, and what is left to spend", "GET", "/api/ext/session", expect=expect)


def _look_up(client: DemoClient, sample: SamplePerson) -> str:
    answer = client.step(
        "Look somebody up: free, and what is hidden is shown as a mask",
        "POST",
        "/api/ext/lookup",
        {"subject": {"linkedin_url": sample.linkedin_url}},
        expect={"outcome": "matched", "contact.id": PRESENT, "suppressed": False},
    )
    return str(answer.value_at("contact.id"))


def _reveal_stored_email(client: DemoClient, contact: str) -> None:
    body = {"subject": {"contact_id": contact}, "client_reference": "demo"}
    path, expect = "/api/ext/reveal/email", {"job.outcome": "found", "result.emails.0.email": PRESENT}
    first = client.step("Reveal the e-mail: one credit", "POST", path, body, expect=expect)
    _check_price(client, first)
    second = client.step(
        "Reveal it again: owned by now, so it costs nothing", "POST", path, body, expect=expect
    )
    client.check("credits.balance", second.value_at("credits.balance"), first.value_at("credits.balance"))


def _reveal_through_providers(client: DemoClient) -> HttpResponse:
    path = "/api/ext/reveal/email"
    found = client.step(
        "Reveal somebody unknown here: the providers are asked, and the trace says who answered what",
        "POST",
        path,
        {"subject": {"linkedin_url": f"{SANDBOX_PROFILE}found"}},
        expect={"job.outcome": "found", "result.emails.0.status": "valid", "trace": PRESENT},
    )
    _check_price(client, found)
    client.step(
        "Reveal somebody whom no provider knows: an answer, not an error, and free",
        "POST",
        path,
        {"subject": {"linkedin_url": f"{SANDBOX_PROFILE}not-found"}},
        expect={"job.outcome": "not_found", "credits.charged": 0},
    )
    return found


def _reveal_without_waiting(client: DemoClient) -> None:
    body = {"subject": {"linkedin_url": f"{SANDBOX_PROFILE}slow"}}
    heading = "Reveal a phone number from a slow provider, without waiting: 202, and where to ask"
    # 200 when an earlier walk has asked the same: its answer is still fresh.
    path, headers = "/api/ext/reveal/phone", {**NO_WAIT, "Idempotency-Key": str(uuid4())}
    answer = client.step(heading, "POST", path, body, headers=headers, status=(202, 200))
    job = str(answer.value_at("job.id"))
    for _ in range(MAX_POLLS):
        if answer.status == 200:  # noqa: PLR2004 - HTTP's OK
            break
        where = answer.headers.get("location", "no Location header")
        client.check("Location", where.endswith(f"/api/ext/jobs?id={job}"), expected=True)
        path = where[where.index("/api/") :]
        heading = "Poll the job: it may wait, so one request is often enough"
        answer = client.step(heading, "GET", path, headers={"Prefer": "wait=5"}, status=(200, 202))
    client.check("job.status", answer.value_at("job.status"), "succeeded")
    client.check("result.phones.0.e164", answer.value_at("result.phones.0.e164"), PRESENT)


def _enrich(client: DemoClient, sample: SamplePerson) -> None:
    subjects = [{"linkedin_url": sample.linkedin_url}, {"linkedin_url": f"{SANDBOX_PROFILE}found"}]
    items = [
        {"subject": subject, "client_reference": f"row {row}"} for row, subject in enumerate(subjects, 1)
    ]
    body = {"entity": "person", "items": items, "fields": ["profile", "email"]}
    path = "/api/ext/enrichment-request"
    heading = "Ask what a list would cost: nothing is queued"
    expect = {"estimate.credits_max": PRESENT, "estimate.credits_min": PRESENT}
    client.step(heading, "POST", path, {**body, "dry_run": True}, expect=expect)
    heading = "Enrich the list: one job, filled in row by row"
    answer = client.step(heading, "POST", path, body, headers={"Prefer": "wait=20"}, status=(200, 202))
    for _ in range(MAX_POLLS):
        if answer.status == 200:  # noqa: PLR2004 - HTTP's OK
            break
        poll = f"/api/ext/jobs?id={answer.value_at('job.id')}"
        heading = "Poll the list"
        answer = client.step(heading, "GET", poll, headers={"Prefer": "wait=10"}, status=(200, 202))
    client.check("job.status", answer.value_at("job.status"), "succeeded")
    client.check("result.items.1.outcome", answer.value_at("result.items.1.outcome"), "found")


def _report_bounce(client: DemoClient, found: HttpResponse) -> None:
    body = {
        "contact_id": found.value_at("result.contact_id"),
        "email": found.value_at("result.emails.0.email"),
        "kind": "bounce",
    }
    heading = "Say that an address bounced: within 30 days the credit comes back, once"
    expect = {"feedback.kind": "bounce", "refund": PRESENT, "credits.balance": PRESENT}
    client.step(heading, "POST", "/api/feedback", body, expect=expect)


def _save_profile(client: DemoClient) -> None:
    url = f"https://www.linkedin.com/in/demo-{uuid4().hex[:8]}"
    profile: dict[str, object] = {"linkedin_url": url, "full_name": "Robin Example", "title": "Engineer"}
    path, heading = "/api/ext/linkedin-save", "Save a profile: free, and for this workspace only"
    body = {"profile": profile, "list": "demo"}
    client.step(
        heading, "POST", path, body, status=201, expect={"created": True, "saved_profile.id": PRESENT}
    )
    body = {"profile": {**profile, "title": "Head of Engineering"}, "list": "demo"}
    heading = "Save it again with another title: what changed is answered"
    client.step(heading, "POST", path, body, expect={"created": False, "changes.0.field": "title"})


def _look_up_by_hash(client: DemoClient, sample: SamplePerson) -> None:
    digest = hashlib.sha256(sample.domain.encode()).hexdigest()
    session = client.step("Ask how long a hash's prefix is here", "GET", "/api/ext/session")
    length, path = session.value_at("hash_lookup.prefix_length"), "/api/ext/company-by-hash"
    expect = {"result.matched_hash": digest, "result.company.domain": sample.domain, "credits.charged": 0}
    client.step("Find the company of a website by its hash", "POST", path, {"hash": digest}, expect=expect)
    heading = "The same by the hash's first characters: the service cannot tell which of many was meant"
    answer = client.step(heading, "POST", path, {"prefix": digest[:length]})
    suffixes = [match["suffix"] for match in answer.value_at("result.matches") or []]
    client.check("our suffix among result.matches", digest[length:] in suffixes, expected=True)
    heading, path = "List who works there", "/api/ext/leads-by-website-hash"
    expect = {"result.leads.0.contact_id": PRESENT, "result.total": PRESENT, "credits.charged": 0}
    client.step(heading, "POST", path, {"hash": digest, "limit": 2}, expect=expect)


def _use_api_key(client: DemoClient, sample: SamplePerson) -> None:
    body: Mapping[str, object] = {"name": "demo", "scopes": ["lookup"]}
    heading = "Make an API key for a program: shown this once"
    made = client.step(heading, "POST", "/api/keys", body, status=201, expect={"id": PRESENT, "key": PRESENT})
    session, client.token = client.token, str(made.value_at("key"))
    subject = {"subject": {"linkedin_url": sample.linkedin_url}}
    heading = "Use the key: same header, same endpoints"
    client.step(heading, "POST", "/api/ext/lookup", subject, expect={"outcome": "matched"})
    heading = "It has the scope for lookups only, so a reveal is refused"
    expect: Mapping[str, object] = {"code": "insufficient_scope"}
    client.step(heading, "POST", "/api/ext/reveal/email", subject, status=403, expect=expect)
    client.token = session
    client.step("Revoke the key", "DELETE", f"/api/keys/{made.value_at('id')}", status=(200, 204))


def _sign_out(client: DemoClient) -> None:
    client.step("List the latest jobs, as a restarted client would", "GET", "/api/ext/jobs?limit=2")
    client.step("Sign out", "POST", "/api/ext/logout", {}, status=(200, 204))
    expect = {"code": PRESENT, "request_id": PRESENT}
    client.step("The token is worth nothing now", "GET", "/api/ext/session", status=401, expect=expect)


def _check_price(client: DemoClient, answer: HttpResponse) -> None:
    price = 0 if answer.value_at("credits.already_owned") else 1
    client.check("credits.charged", answer.value_at("credits.charged"), price)
