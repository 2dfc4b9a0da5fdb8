"""The walk itself: every endpoint once, in the order in which an extension would meet them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING
from uuid import uuid4

from tools.sample import Sample, first_sample
from tools.walker import PRESENT, Walker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tools.http import Answer

SANDBOX = "https://www.linkedin.com/in/sandbox-"
POLLS = 6
ASYNC = {"Prefer": "respond-async"}


def take(walker: Walker, email: str, password: str) -> None:
    """Walk from signing in to signing out.

    Raises:
        WalkError: an answer was not the promised one.

    """
    sample = first_sample()
    _sign_in(walker, email, password)
    contact = _look_up(walker, sample)
    _reveal_what_is_known(walker, contact)
    found = _reveal_by_providers(walker)
    _reveal_without_waiting(walker)
    _enrich(walker, sample)
    _say_that_it_bounced(walker, found)
    _save(walker)
    _look_up_by_hash(walker, sample)
    _use_a_key(walker, sample)
    _sign_out(walker)


def _sign_in(walker: Walker, email: str, password: str) -> None:
    body = {"email": email, "password": password, "client": {"name": "demo", "version": "1"}}
    expect = {
        "token_type": "Bearer",
        "access_token": PRESENT,
        "account.email": email,
        "credits.balance": PRESENT,
    }
    answer = walker.step(
        "Sign in: a token, and all a popup needs", "POST", "/api/ext/login", body, expect=expect
    )
    walker.token = str(answer.get("access_token"))
    expect = {"account.email": email, "auth.kind": "session", "prices": PRESENT, "hash_lookup": PRESENT}
    walker.step("Ask who is signed in, and what is left to spend", "GET", "/api/ext/session", expect=expect)


def _look_up(walker: Walker, sample: Sample) -> str:
    answer = walker.step(
        "Look somebody up: free, and what is hidden is shown as a mask",
        "POST",
        "/api/ext/lookup",
        {"subject": {"linkedin_url": sample.linkedin_url}},
        expect={"outcome": "matched", "contact.id": PRESENT, "suppressed": False},
    )
    return str(answer.get("contact.id"))


def _reveal_what_is_known(walker: Walker, contact: str) -> None:
    body = {"subject": {"contact_id": contact}, "client_reference": "demo"}
    path, expect = "/api/ext/reveal/email", {"job.outcome": "found", "result.emails.0.email": PRESENT}
    first = walker.step("Reveal the e-mail: one credit", "POST", path, body, expect=expect)
    _check_price(walker, first)
    second = walker.step(
        "Reveal it again: owned by now, so it costs nothing", "POST", path, body, expect=expect
    )
    walker.check("credits.balance", second.get("credits.balance"), first.get("credits.balance"))


def _reveal_by_providers(walker: Walker) -> Answer:
    path = "/api/ext/reveal/email"
    found = walker.step(
        "Reveal somebody unknown here: the providers are asked, and the trace says who answered what",
        "POST",
        path,
        {"subject": {"linkedin_url": f"{SANDBOX}found"}},
        expect={"job.outcome": "found", "result.emails.0.status": "valid", "trace": PRESENT},
    )
    _check_price(walker, found)
    walker.step(
        "Reveal somebody whom no provider knows: an answer, not an error, and free",
        "POST",
        path,
        {"subject": {"linkedin_url": f"{SANDBOX}not-found"}},
        expect={"job.outcome": "not_found", "credits.charged": 0},
    )
    return found


def _reveal_without_waiting(walker: Walker) -> None:
    body = {"subject": {"linkedin_url": f"{SANDBOX}slow"}}
    heading = "Reveal a phone number from a slow provider, without waiting: 202, and where to ask"
    # 200 when an earlier walk has asked the same: its answer is still fresh.
    path, headers = "/api/ext/reveal/phone", {**ASYNC, "Idempotency-Key": str(uuid4())}
    answer = walker.step(heading, "POST", path, body, headers=headers, status=(202, 200))
    job = str(answer.get("job.id"))
    for _ in range(POLLS):
        if answer.status == 200:  # noqa: PLR2004 - HTTP's OK
            break
        where = answer.headers.get("location", "no Location header")
        walker.check("Location", where.endswith(f"/api/ext/jobs?id={job}"), expected=True)
        path = where[where.index("/api/") :]
        heading = "Poll the job: it may wait, so one request is often enough"
        answer = walker.step(heading, "GET", path, headers={"Prefer": "wait=5"}, status=(200, 202))
    walker.check("job.status", answer.get("job.status"), "succeeded")
    walker.check("result.phones.0.e164", answer.get("result.phones.0.e164"), PRESENT)


def _enrich(walker: Walker, sample: Sample) -> None:
    subjects = [{"linkedin_url": sample.linkedin_url}, {"linkedin_url": f"{SANDBOX}found"}]
    items = [
        {"subject": subject, "client_reference": f"row {row}"} for row, subject in enumerate(subjects, 1)
    ]
    body = {"entity": "person", "items": items, "fields": ["profile", "email"]}
    path = "/api/ext/enrichment-request"
    heading = "Ask what a list would cost: nothing is queued"
    expect = {"estimate.credits_max": PRESENT, "estimate.credits_min": PRESENT}
    walker.step(heading, "POST", path, {**body, "dry_run": True}, expect=expect)
    heading = "Enrich the list: one job, filled in row by row"
    answer = walker.step(heading, "POST", path, body, headers={"Prefer": "wait=20"}, status=(200, 202))
    for _ in range(POLLS):
        if answer.status == 200:  # noqa: PLR2004 - HTTP's OK
            break
        poll = f"/api/ext/jobs?id={answer.get('job.id')}"
        heading = "Poll the list"
        answer = walker.step(heading, "GET", poll, headers={"Prefer": "wait=10"}, status=(200, 202))
    walker.check("job.status", answer.get("job.status"), "succeeded")
    walker.check("result.items.1.outcome", answer.get("result.items.1.outcome"), "found")


def _say_that_it_bounced(walker: Walker, found: Answer) -> None:
    body = {
        "contact_id": found.get("result.contact_id"),
        "email": found.get("result.emails.0.email"),
        "kind": "bounce",
    }
    heading = "Say that an address bounced: within 30 days the credit comes back, once"
    expect = {"feedback.kind": "bounce", "refund": PRESENT, "credits.balance": PRESENT}
    walker.step(heading, "POST", "/api/feedback", body, expect=expect)


def _save(walker: Walker) -> None:
    url = f"https://www.linkedin.com/in/demo-{uuid4().hex[:8]}"
    profile: dict[str, object] = {"linkedin_url": url, "full_name": "Robin Example", "title": "Engineer"}
    path, heading = "/api/ext/linkedin-save", "Save a profile: free, and for this workspace only"
    body = {"profile": profile, "list": "demo"}
    walker.step(
        heading, "POST", path, body, status=201, expect={"created": True, "saved_profile.id": PRESENT}
    )
    body = {"profile": {**profile, "title": "Head of Engineering"}, "list": "demo"}
    heading = "Save it again with another title: what changed is answered"
    walker.step(heading, "POST", path, body, expect={"created": False, "changes.0.field": "title"})


def _look_up_by_hash(walker: Walker, sample: Sample) -> None:
    digest = hashlib.sha256(sample.domain.encode()).hexdigest()
    session = walker.step("Ask how long a hash's prefix is here", "GET", "/api/ext/session")
    length, path = session.get("hash_lookup.prefix_length"), "/api/ext/company-by-hash"
    expect = {"result.matched_hash": digest, "result.company.domain": sample.domain, "credits.charged": 0}
    walker.step("Find the company of a website by its hash", "POST", path, {"hash": digest}, expect=expect)
    heading = "The same by the hash's first characters: the service cannot tell which of many was meant"
    answer = walker.step(heading, "POST", path, {"prefix": digest[:length]})
    suffixes = [match["suffix"] for match in answer.get("result.matches") or []]
    walker.check("our suffix among result.matches", digest[length:] in suffixes, expected=True)
    heading, path = "List who works there", "/api/ext/leads-by-website-hash"
    expect = {"result.leads.0.contact_id": PRESENT, "result.total": PRESENT, "credits.charged": 0}
    walker.step(heading, "POST", path, {"hash": digest, "limit": 2}, expect=expect)


def _use_a_key(walker: Walker, sample: Sample) -> None:
    body: Mapping[str, object] = {"name": "demo", "scopes": ["lookup"]}
    heading = "Make an API key for a program: shown this once"
    made = walker.step(heading, "POST", "/api/keys", body, status=201, expect={"id": PRESENT, "key": PRESENT})
    session, walker.token = walker.token, str(made.get("key"))
    subject = {"subject": {"linkedin_url": sample.linkedin_url}}
    heading = "Use the key: same header, same endpoints"
    walker.step(heading, "POST", "/api/ext/lookup", subject, expect={"outcome": "matched"})
    heading = "It has the scope for lookups only, so a reveal is refused"
    expect: Mapping[str, object] = {"code": "insufficient_scope"}
    walker.step(heading, "POST", "/api/ext/reveal/email", subject, status=403, expect=expect)
    walker.token = session
    walker.step("Revoke the key", "DELETE", f"/api/keys/{made.get('id')}", status=(200, 204))


def _sign_out(walker: Walker) -> None:
    walker.step("List the latest jobs, as a restarted client would", "GET", "/api/ext/jobs?limit=2")
    walker.step("Sign out", "POST", "/api/ext/logout", {}, status=(200, 204))
    expect = {"code": PRESENT, "request_id": PRESENT}
    walker.step("The token is worth nothing now", "GET", "/api/ext/session", status=401, expect=expect)


def _check_price(walker: Walker, answer: Answer) -> None:
    price = 0 if answer.get("credits.already_owned") else 1
    walker.check("credits.charged", answer.get("credits.charged"), price)
