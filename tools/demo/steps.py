"""The steps of the demo: every endpoint once, in the order in which an extension would call them."""

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
    """Run all steps, from signing in to signing out.

    Raises:
        DemoError: a response was not as expected.

    """
    person = first_person()
    _sign_in(client, email, password)
    contact = _look_up(client, person)
    _reveal_stored_email(client, contact)
    _reveal_through_providers(client)
    _reveal_without_waiting(client)
    _enrich(client, person)
    _report_bounce(client)
    _save_profile(client)
    _look_up_by_hash(client, person)
    _use_api_key(client, person)
    _sign_out(client)


def _sign_in(client: DemoClient, email: str, password: str) -> None:
    body = {"email": email, "password": password, "client": {"name": "demo", "version": "1"}}
    expect = {
        "token_type": "Bearer",
        "access_token": PRESENT,
        "account.email": email,
        "credits.balance": PRESENT,
    }
    heading = "Sign in: returns a token, and everything a popup needs"
    response = client.step(heading, "POST", "/api/ext/login", body, expect=expect)
    client.token = str(response.value_at("access_token"))
    expect = {"account.email": email, "auth.kind": "session", "prices": PRESENT, "hash_lookup": PRESENT}
    client.step("Get the session: account, credits and prices", "GET", "/api/ext/session", expect=expect)


def _look_up(client: DemoClient, person: SamplePerson) -> str:
    response = client.step(
        "Look up a person: free, with contact data masked",
        "POST",
        "/api/ext/lookup",
        {"subject": {"linkedin_url": person.linkedin_url}},
        expect={"outcome": "matched", "contact.id": PRESENT, "suppressed": False},
    )
    return str(response.value_at("contact.id"))


def _reveal_stored_email(client: DemoClient, contact: str) -> None:
    body = {"subject": {"contact_id": contact}, "client_reference": "demo"}
    path, expect = "/api/ext/reveal/email", {"job.outcome": "found", "result.emails.0.email": PRESENT}
    first = client.step("Reveal the e-mail: one credit", "POST", path, body, expect=expect)
    _check_price(client, first)
    heading = "Reveal it again: already owned, so it costs nothing"
    second = client.step(heading, "POST", path, body, expect=expect)
    client.check("credits.balance", second.value_at("credits.balance"), first.value_at("credits.balance"))


def _reveal_through_providers(client: DemoClient) -> None:
    path = "/api/ext/reveal/email"
    revealed = client.step(
        "Reveal a person who is not stored: providers are queried, and the trace has each reply",
        "POST",
        path,
        {"subject": {"linkedin_url": f"{SANDBOX_PROFILE}found"}},
        expect={"job.outcome": "found", "result.emails.0.status": "valid", "trace": PRESENT},
    )
    _check_price(client, revealed)
    client.step(
        "Reveal a person whom no provider knows: a result rather than an error, and free",
        "POST",
        path,
        {"subject": {"linkedin_url": f"{SANDBOX_PROFILE}not-found"}},
        expect={"job.outcome": "not_found", "credits.charged": 0},
    )


def _reveal_without_waiting(client: DemoClient) -> None:
    body = {"subject": {"linkedin_url": f"{SANDBOX_PROFILE}slow"}}
    heading = "Reveal a phone number from a slow provider without waiting: 202, and where to poll"
    # 200 if the demo has run before: the earlier result is still fresh.
    path, headers = "/api/ext/reveal/phone", {**NO_WAIT, "Idempotency-Key": str(uuid4())}
    response = client.step(heading, "POST", path, body, headers=headers, status=(202, 200))
    job = str(response.value_at("job.id"))
    for _ in range(MAX_POLLS):
        if response.status == 200:  # noqa: PLR2004 - HTTP's OK
            break
        location = response.headers.get("location", "no Location header")
        client.check("Location", location.endswith(f"/api/ext/jobs?id={job}"), expected=True)
        path = location[location.index("/api/") :]
        heading = "Poll the job: the request may wait, so one is often enough"
        response = client.step(heading, "GET", path, headers={"Prefer": "wait=5"}, status=(200, 202))
    client.check("job.status", response.value_at("job.status"), "succeeded")
    client.check("result.phones.0.e164", response.value_at("result.phones.0.e164"), PRESENT)


def _enrich(client: DemoClient, person: SamplePerson) -> None:
    subjects = [{"linkedin_url": person.linkedin_url}, {"linkedin_url": f"{SANDBOX_PROFILE}found"}]
    items = [
        {"subject": subject, "client_reference": f"row {row}"} for row, subject in enumerate(subjects, 1)
    ]
    body = {"entity": "person", "items": items, "fields": ["profile", "email"]}
    path = "/api/ext/enrichment-request"
    heading = "Estimate the cost of enriching a list: nothing is queued"
    expect = {"estimate.credits_max": PRESENT, "estimate.credits_min": PRESENT}
    client.step(heading, "POST", path, {**body, "dry_run": True}, expect=expect)
    heading = "Enrich the list: one job, completed row by row"
    response = client.step(heading, "POST", path, body, headers={"Prefer": "wait=20"}, status=(200, 202))
    for _ in range(MAX_POLLS):
        if response.status == 200:  # noqa: PLR2004 - HTTP's OK
            break
        poll = f"/api/ext/jobs?id={response.value_at('job.id')}"
        heading = "Poll the job of the list"
        response = client.step(heading, "GET", poll, headers={"Prefer": "wait=10"}, status=(200, 202))
    client.check("job.status", response.value_at("job.status"), "succeeded")
    client.check("result.items.1.outcome", response.value_at("result.items.1.outcome"), "found")


def _report_bounce(client: DemoClient) -> None:
    """Report an address that the other steps do not need: once it has bounced, it is not valid any more."""
    revealed = client.step(
        "Reveal an address of any status, also one that may bounce",
        "POST",
        "/api/ext/reveal/email",
        {"subject": {"linkedin_url": f"{SANDBOX_PROFILE}risky"}, "min_status": "any"},
        expect={"job.outcome": "found", "result.emails.0.status": "risky"},
    )
    body = {
        "contact_id": revealed.value_at("result.contact_id"),
        "email": revealed.value_at("result.emails.0.email"),
        "kind": "bounce",
    }
    heading = "Report that an address bounced: within 30 days the credit is refunded, once"
    expect = {"feedback.kind": "bounce", "refund": PRESENT, "credits.balance": PRESENT}
    client.step(heading, "POST", "/api/feedback", body, expect=expect)


def _save_profile(client: DemoClient) -> None:
    url = f"https://www.linkedin.com/in/demo-{uuid4().hex[:8]}"
    profile: dict[str, object] = {"linkedin_url": url, "full_name": "Robin Example", "title": "Engineer"}
    path, heading = "/api/ext/linkedin-save", "Save a profile: free, and visible to this workspace only"
    body = {"profile": profile, "list": "demo"}
    client.step(
        heading, "POST", path, body, status=201, expect={"created": True, "saved_profile.id": PRESENT}
    )
    body = {"profile": {**profile, "title": "Head of Engineering"}, "list": "demo"}
    heading = "Save it again with another title: the response lists the changes"
    client.step(heading, "POST", path, body, expect={"created": False, "changes.0.field": "title"})


def _look_up_by_hash(client: DemoClient, person: SamplePerson) -> None:
    digest = hashlib.sha256(person.domain.encode()).hexdigest()
    session = client.step("Get the length of hash prefixes", "GET", "/api/ext/session")
    length, path = session.value_at("hash_lookup.prefix_length"), "/api/ext/company-by-hash"
    expect = {"result.matched_hash": digest, "result.company.domain": person.domain, "credits.charged": 0}
    client.step("Find the company of a website by its hash", "POST", path, {"hash": digest}, expect=expect)
    heading = "The same by the first digits of the hash: many websites have them in common"
    response = client.step(heading, "POST", path, {"prefix": digest[:length]})
    suffixes = [match["suffix"] for match in response.value_at("result.matches") or []]
    client.check("our suffix among result.matches", digest[length:] in suffixes, expected=True)
    heading, path = "List the people who work there", "/api/ext/leads-by-website-hash"
    expect = {"result.leads.0.contact_id": PRESENT, "result.total": PRESENT, "credits.charged": 0}
    client.step(heading, "POST", path, {"hash": digest, "limit": 2}, expect=expect)


def _use_api_key(client: DemoClient, person: SamplePerson) -> None:
    body: Mapping[str, object] = {"name": "demo", "scopes": ["lookup"]}
    expect: Mapping[str, object] = {"id": PRESENT, "key": PRESENT}
    heading = "Create an API key for a program: it is shown only once"
    created = client.step(heading, "POST", "/api/keys", body, status=201, expect=expect)
    session, client.token = client.token, str(created.value_at("key"))
    subject = {"subject": {"linkedin_url": person.linkedin_url}}
    heading = "Use the key: same header, same endpoints"
    client.step(heading, "POST", "/api/ext/lookup", subject, expect={"outcome": "matched"})
    heading = "Reveal with this key: refused, because its scope is lookups only"
    expect = {"code": "insufficient_scope"}
    client.step(heading, "POST", "/api/ext/reveal/email", subject, status=403, expect=expect)
    client.token = session
    client.step("Revoke the key", "DELETE", f"/api/keys/{created.value_at('id')}", status=(200, 204))


def _sign_out(client: DemoClient) -> None:
    client.step("List the latest jobs, as a restarted client would", "GET", "/api/ext/jobs?limit=2")
    client.step("Sign out", "POST", "/api/ext/logout", {}, status=(200, 204))
    expect = {"code": PRESENT, "request_id": PRESENT}
    heading = "Use the token after signing out: refused"
    client.step(heading, "GET", "/api/ext/session", status=401, expect=expect)


def _check_price(client: DemoClient, response: HttpResponse) -> None:
    price = 0 if response.value_at("credits.already_owned") else 1
    client.check("credits.charged", response.value_at("credits.charged"), price)
