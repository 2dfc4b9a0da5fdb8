"""The documented behaviour of every endpoint, checked on real processes."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import urllib.error
import urllib.request

import pytest
from e2e_stack import PASSWORD, Stack
from polling import wait_until
from sqlalchemy import select

from app.domain.findings import (
    EmailStatus,
    FoundCompany,
    FoundContact,
    FoundEmail,
    FoundPhone,
    Source,
    SourceKind,
)
from app.engine.contacts import companies, contacts
from app.engine.contacts.emails import Email
from app.engine.contacts.suppressions import suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.jobs.jobs import Job
from app.infra import clock

FOUND = {"subject": {"linkedin_url": "https://www.linkedin.com/in/sandbox-found"}}


def test_a_person_is_looked_up_masked_revealed_and_then_shown_in_full(stack: Stack) -> None:
    _workspace, token = stack.create_workspace(grant=5)
    contact_id = _engineer(stack, "walker-one")
    subject = {"subject": {"contact_id": contact_id}}

    masked = stack.call("POST", "/api/ext/lookup", subject, Authorization=token).body
    email = stack.call("POST", "/api/ext/reveal/email", subject, Authorization=token).body
    phone = stack.call("POST", "/api/ext/reveal/phone", subject, Authorization=token).body
    full = stack.call("POST", "/api/ext/lookup", subject, Authorization=token).body

    assert [entry["masked"] for entry in masked["available"]] == ["w•••••@walker-one.example", "+1 •••••••43"]
    assert masked["revealed"] == {"emails": [], "phones": []}
    assert email["result"]["emails"][0]["email"] == "walker@walker-one.example"
    assert phone["result"]["phones"][0]["e164"] == "+12025550143"
    assert phone["credits"]["balance"] == 3
    assert full["revealed"]["emails"][0]["email"] == "walker@walker-one.example"
    assert [entry["credits"] for entry in full["available"]] == [0, 0]


def test_a_replayed_key_joins_the_first_request_and_another_body_is_refused(stack: Stack) -> None:
    _workspace, token = stack.create_workspace()
    headers = {"Authorization": token, "Idempotency_Key": "click-1"}

    first = stack.call("POST", "/api/ext/reveal/email", FOUND, **headers)
    replay = stack.call("POST", "/api/ext/reveal/email", FOUND, **headers)
    other = stack.call("POST", "/api/ext/reveal/email", {"subject": {"email": "a@b.example"}}, **headers)

    assert replay.headers["Idempotent-Replay"] == "true"
    assert "Idempotent-Replay" not in first.headers
    assert replay.body["job"] == first.body["job"]
    assert replay.body["credits"]["charged"] == 1
    assert (other.status, other.code) == (422, "idempotency_key_reused")


def test_a_request_that_joins_a_job_gets_its_own_reference_back(stack: Stack) -> None:
    _workspace, token = stack.create_workspace()

    first, joined, bare = (
        stack.call("POST", "/api/ext/reveal/email", FOUND | reference, Authorization=token).body
        for reference in ({"client_reference": "row-1"}, {"client_reference": "row-2"}, {})
    )

    assert first["job"]["id"] == joined["job"]["id"] == bare["job"]["id"]
    assert [
        (response["job"].get("client_reference"), response["result"].get("client_reference"))
        for response in (first, joined, bare)
    ] == [("row-1", "row-1"), ("row-2", "row-2"), (None, None)]


def test_a_refused_request_can_be_repeated_with_the_same_key_after_a_top_up(stack: Stack) -> None:
    workspace, token = stack.create_workspace(grant=0)
    headers = {"Authorization": token, "Idempotency_Key": "click-1"}

    refused = stack.call("POST", "/api/ext/reveal/email", FOUND, **headers)
    stack.grant(workspace, 1)
    paid = stack.call("POST", "/api/ext/reveal/email", FOUND, **headers)

    assert (refused.status, refused.code) == (402, "insufficient_credits")
    assert (refused.headers["X-Credits-Charged"], refused.headers["X-Credits-Balance"]) == ("0", "0")
    assert (paid.status, paid.body["credits"]["charged"]) == (200, 1)


def test_an_enrichment_fills_in_item_by_item_and_one_bad_item_fails_alone(stack: Stack) -> None:
    _workspace, token = stack.create_workspace(grant=10)
    profile = "https://www.linkedin.com/in/sandbox-"
    items = [
        {"subject": {"linkedin_url": f"{profile}found"}, "client_reference": "a"},
        {"subject": {"linkedin_url": f"{profile}not-found"}, "client_reference": "b"},
        {"subject": {"first_name": "Only"}, "client_reference": "c"},
        {"subject": {"contact_id": _engineer(stack, "walker-two")}},
    ]
    body = {"entity": "person", "items": items, "fields": ["profile", "email"]}

    estimate = stack.call(
        "POST", "/api/ext/enrichment-request", body | {"dry_run": True}, Authorization=token
    ).body["estimate"]
    job = stack.call("POST", "/api/ext/enrichment-request", body, Authorization=token, Prefer="wait=25").body

    filled = job["result"]["items"]
    assert (estimate["credits_max"], estimate["owned"], estimate["ineligible"]) == (3, 0, 1)
    assert 1 <= estimate["credits_min"] <= 2
    assert job["job"]["progress"] == {"done": 4, "total": 4}
    assert [item["outcome"] for item in filled] == ["found", "not_found", None, "found"]
    assert [item["client_reference"] for item in filled] == ["a", "b", "c", None]
    assert filled[2]["error"]["code"] == "insufficient_identifiers"
    assert filled[3]["emails"][0]["email"] == "walker@walker-two.example"
    assert [item["credits_charged"] for item in filled] == [1, 0, 0, 1]
    assert job["credits"] == {"charged": 2, "reserved": 0, "balance": 8, "already_owned": False}


def test_an_enrichment_hides_suppressed_people_and_lists_the_queried_providers(stack: Stack) -> None:
    _workspace, token = stack.create_workspace(grant=5)
    hidden = _engineer(stack, "walker-six")
    with stack.database.transaction() as session:
        identifier = Identifier("email", "walker@walker-six.example")
        suppressions.suppress(session, [identifier], reason="asked to", now=clock.now())
    profile = "https://www.linkedin.com/in/sandbox-"
    subjects = [
        {"contact_id": hidden},
        {"linkedin_url": f"{profile}suppressed"},
        {"linkedin_url": f"{profile}risky"},
    ]

    job = stack.call(
        "POST",
        "/api/ext/enrichment-request",
        {"entity": "person", "items": [{"subject": subject} for subject in subjects], "fields": ["profile"]},
        Authorization=token,
        Prefer="wait=25",
    ).body

    items = job["result"]["items"]
    assert [item["outcome"] for item in items] == ["suppressed", "suppressed", "found"]
    assert [item["contact"] and item["contact"]["full_name"] for item in items] == [
        None,
        None,
        "Risky Sandbox",
    ]
    assert [(line["item"], line["outcome"]) for line in job["trace"]] == [(1, "suppressed"), (2, "hit")]


def test_a_company_is_enriched_from_stored_data_and_providers(stack: Stack) -> None:
    _workspace, token = stack.create_workspace(grant=0)
    _engineer(stack, "walker-seven")
    subjects = [{"domain": "www.walker-seven.example"}, {"domain": "nobody-knows.example"}, {"name": ""}]

    job = stack.call(
        "POST",
        "/api/ext/enrichment-request",
        {"entity": "company", "items": [{"company": company} for company in subjects]},
        Authorization=token,
        Prefer="wait=25",
    ).body

    items = job["result"]["items"]
    assert [item["outcome"] for item in items] == ["found", "not_found", None]
    assert items[0]["company"]["domain"] == "walker-seven.example"
    assert items[2]["error"]["code"] == "validation_error"


def test_an_enrichment_accepts_a_public_webhook_url_and_refuses_a_private_one(stack: Stack) -> None:
    _workspace, token = stack.create_workspace()
    item = {"subject": {"linkedin_url": "https://www.linkedin.com/in/sandbox-not-found"}}
    body = {"entity": "person", "items": [item], "webhook_url": "https://hooks.acme.example/done"}

    accepted = stack.call("POST", "/api/ext/enrichment-request", body, Authorization=token)
    refused = stack.call(
        "POST",
        "/api/ext/enrichment-request",
        body | {"webhook_url": "https://10.1.2.3/"},
        Authorization=token,
    )

    assert accepted.status == 200
    assert (refused.status, refused.body["errors"][0]["pointer"]) == (422, "/webhook_url")


def test_when_credits_run_out_the_remaining_items_of_an_enrichment_report_it(stack: Stack) -> None:
    _workspace, token = stack.create_workspace(grant=2)
    items = [{"subject": {"contact_id": person}} for person in stack.create_contacts(4)]

    job = stack.call(
        "POST",
        "/api/ext/enrichment-request",
        {"entity": "person", "items": items, "fields": ["email"]},
        Authorization=token,
        Prefer="wait=25",
    ).body

    outcomes = [(item["outcome"], item["error"] and item["error"]["code"]) for item in job["result"]["items"]]
    assert outcomes == [("found", None)] * 2 + [(None, "insufficient_credits")] * 2
    assert (job["job"]["outcome"], job["credits"]["charged"]) == ("partial", 2)


def test_after_a_top_up_the_same_enrichment_returns_the_remaining_items(stack: Stack) -> None:
    workspace_id, token = stack.create_workspace(grant=1)
    items = [{"subject": {"contact_id": person}} for person in stack.create_contacts(2)]
    body = {"entity": "person", "items": items, "fields": ["email"]}
    partial = stack.call("POST", "/api/ext/enrichment-request", body, Authorization=token).body
    stack.grant(workspace_id, 1)

    complete = stack.call("POST", "/api/ext/enrichment-request", body, Authorization=token).body

    assert (partial["job"]["outcome"], complete["job"]["outcome"]) == ("partial", "found")
    assert [item["credits_charged"] for item in complete["result"]["items"]] == [0, 1]


def test_a_credit_that_no_address_used_pays_for_the_phone_number(stack: Stack) -> None:
    _workspace, token = stack.create_workspace(grant=1)
    source = Source("test", SourceKind.IMPORT, clock.now())
    number = FoundPhone(e164="+12025550143", type="mobile", status="valid", source=source)
    contact = FoundContact(source=source, full_name="Only Phone", phones=(number,))
    with stack.database.transaction() as session:
        contact_id = contacts.upsert(session, contact, now=clock.now()).id

    job = stack.call(
        "POST",
        "/api/ext/enrichment-request",
        {
            "entity": "person",
            "items": [{"subject": {"contact_id": contact_id}}],
            "fields": ["email", "phone"],
        },
        Authorization=token,
    ).body

    (item,) = job["result"]["items"]
    assert [phone["e164"] for phone in item["phones"]] == ["+12025550143"]
    assert (item["outcome"], item["error"], item["credits_charged"]) == ("partial", None, 1)


def test_a_company_is_found_by_hash_by_several_hashes_and_by_prefix(stack: Stack) -> None:
    _workspace, token = stack.create_workspace()
    _engineer(stack, "walker-three")
    digest = _hash("walker-three.example")

    by_hash = stack.call("POST", "/api/ext/company-by-hash", {"hash": digest}, Authorization=token).body
    by_suffixes = stack.call(
        "POST",
        "/api/ext/company-by-hash",
        {"hashes": [_hash("shop.walker-three.example"), digest, _hash("example")]},
        Authorization=token,
    ).body
    by_prefix = stack.call(
        "POST", "/api/ext/company-by-hash", {"prefix": digest[:2]}, Authorization=token
    ).body
    empty = stack.call("POST", "/api/ext/company-by-hash", {"prefix": "00"}, Authorization=token).body
    leads = stack.call("POST", "/api/ext/leads-by-website-hash", {"hash": digest}, Authorization=token).body

    assert by_hash["result"]["company"]["domain"] == "walker-three.example"
    assert by_suffixes["result"]["matched_hash"] == digest
    match = next(m for m in by_prefix["result"]["matches"] if m["suffix"] == digest[2:])
    assert match["company"]["domain"] == "walker-three.example"
    assert len(json.dumps(by_prefix["result"])) == len(json.dumps(empty["result"]))
    assert [lead["full_name"] for lead in leads["result"]["leads"]] == ["Walker walker-three"]


@pytest.mark.parametrize("prefer", ["wait=20", "respond-async"])
def test_a_prefix_request_is_deleted_once_it_is_answered(stack: Stack, prefer: str) -> None:
    _workspace, token = stack.create_workspace()
    response = stack.call(
        "POST",
        "/api/ext/company-by-hash",
        {"prefix": "b3"},
        Authorization=token,
        Prefer=prefer,
        Idempotency_Key="k",
    )
    path = f"/api/ext/jobs?id={response.body['job']['id']}"

    if response.status == 202:
        response = stack.call("GET", path, Authorization=token, Prefer="wait=20")
    second = stack.call("GET", path, Authorization=token)

    assert response.body["result"]["prefix"] == "b3"
    assert (second.status, second.code) == (404, "job_not_found")
    with stack.database.reading() as session:
        requests = session.scalars(select(Job.request)).all()
    assert not any("prefix" in request for request in requests)
    # As a word of its own: the random identifiers in a log may contain the same two characters.
    assert not re.search(r"\bb3\b", "".join(log.read_text() for log in stack.redis_folder.glob("*.log")))


def test_a_job_of_another_workspace_looks_like_an_unknown_one(stack: Stack) -> None:
    _mine, token = stack.create_workspace()
    _theirs, stranger = stack.create_workspace()
    job_id = stack.call("POST", "/api/ext/reveal/email", FOUND, Authorization=token).body["job"]["id"]
    unknown = job_id[:-1] + ("0" if job_id[-1] != "0" else "1")

    foreign = stack.call("GET", f"/api/ext/jobs?id={job_id}", Authorization=stranger)
    missing = stack.call("GET", f"/api/ext/jobs?id={unknown}", Authorization=stranger)
    listed = stack.call("GET", "/api/ext/jobs", Authorization=token)

    assert foreign.status == missing.status == 404
    assert {**foreign.body, "request_id": 0} == {**missing.body, "request_id": 0}
    assert [job["id"] for job in listed.body["jobs"]] == [job_id]


def test_jobs_are_listed_newest_first_page_by_page(stack: Stack) -> None:
    _workspace, token = stack.create_workspace()
    submitted = [
        stack.call(
            "POST", "/api/ext/reveal/email", {"subject": {"contact_id": person}}, Authorization=token
        ).body["job"]["id"]
        for person in stack.create_contacts(3)
    ]

    first = stack.call("GET", "/api/ext/jobs?limit=2&status=succeeded", Authorization=token).body
    second = stack.call(
        "GET", f"/api/ext/jobs?limit=2&cursor={first['next_cursor']}", Authorization=token
    ).body

    assert [job["id"] for job in first["jobs"] + second["jobs"]] == submitted[::-1]
    assert second["next_cursor"] is None


def test_a_suppressed_person_is_not_shown_not_queried_and_not_charged(stack: Stack) -> None:
    _workspace, token = stack.create_workspace(grant=1)
    contact_id = _engineer(stack, "walker-four")
    with stack.database.transaction() as session:
        identifier = Identifier("email", "walker@walker-four.example")
        suppressions.suppress(session, [identifier], reason="asked to", now=clock.now())
    subject = {"subject": {"contact_id": contact_id}}

    looked_up = stack.call("POST", "/api/ext/lookup", subject, Authorization=token).body
    revealed = stack.call("POST", "/api/ext/reveal/email", subject, Authorization=token).body

    assert (looked_up["suppressed"], looked_up["contact"], looked_up["available"]) == (True, None, [])
    assert (revealed["job"]["outcome"], revealed["trace"]) == ("suppressed", [])
    assert revealed["credits"]["balance"] == 1


def test_a_suppressed_address_from_a_provider_is_neither_shown_nor_stored(stack: Stack) -> None:
    _workspace, token = stack.create_workspace(grant=1)
    with stack.database.transaction() as session:
        identifier = Identifier("email", "unknown@sandbox.example")
        suppressions.suppress(session, [identifier], reason="asked to", now=clock.now())
    subject = {"linkedin_url": "https://www.linkedin.com/in/sandbox-unknown"}

    response = stack.call(
        "POST", "/api/ext/reveal/email", {"subject": subject, "min_status": "any"}, Authorization=token
    ).body

    assert (response["job"]["outcome"], response["result"]) == ("suppressed", None)
    assert response["credits"] == {"charged": 0, "reserved": 0, "balance": 1, "already_owned": False}
    with stack.database.reading() as session:
        indexes = session.keys.ring.indexes("email", "unknown@sandbox.example")
        stored = session.scalars(select(Email.id).where(Email.email_index.in_(indexes))).all()
    assert stored == []


def test_a_saved_profile_is_stored_once_under_its_canonical_url(stack: Stack) -> None:
    _workspace, token = stack.create_workspace()
    profile = {"linkedin_url": "https://de.linkedin.com/in/Ada-Walker/?trk=x", "full_name": "Ada Walker"}
    body = {"profile": profile, "list": "Engineers", "tags": ["a"], "note": "met"}

    new = stack.call("POST", "/api/ext/linkedin-save", body, Authorization=token)
    known = stack.call("POST", "/api/ext/linkedin-save", body, Authorization=token)

    assert (new.status, known.status) == (201, 200)
    assert new.body["saved_profile"]["linkedin_url"] == "https://www.linkedin.com/in/ada-walker"
    assert (known.body["created"], known.body["changes"]) == (False, [])


def test_an_api_key_works_until_it_is_revoked_and_only_within_its_scopes(stack: Stack) -> None:
    _workspace, token = stack.create_workspace()
    key = stack.call("POST", "/api/keys", {"name": "crm", "scopes": ["lookup"]}, Authorization=token).body
    bearer = f"Bearer {key['key']}"

    lookup = stack.call("POST", "/api/ext/lookup", FOUND, Authorization=bearer)
    reveal = stack.call("POST", "/api/ext/reveal/email", FOUND, Authorization=bearer)
    revoked = stack.call("DELETE", f"/api/keys/{key['id']}", Authorization=token)
    after = stack.call("POST", "/api/ext/lookup", FOUND, Authorization=bearer)

    assert lookup.status == 200
    assert (reveal.status, reveal.code) == (403, "insufficient_scope")
    assert revoked.status == 204
    assert (after.status, after.code) == (401, "token_revoked")


def test_a_session_ends_with_logout(stack: Stack) -> None:
    _workspace, token = stack.create_workspace()

    stack.call("POST", "/api/ext/logout", {}, Authorization=token)
    after = stack.call("GET", "/api/ext/session", Authorization=token)

    assert (after.status, after.code) == (401, "token_revoked")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"hash": "0" * 63}, "bad_hash"),
        ({"hash": "G" * 64}, "bad_hash"),
        ({"hash": "A" * 64}, "bad_hash"),
        ({"prefix": "00000"}, "bad_hash"),
        ({"hashes": []}, "validation_error"),
        ({}, "validation_error"),
        ({"hash": "0" * 64, "prefix": "0000"}, "validation_error"),
    ],
)
def test_a_malformed_hash_request_is_refused(stack: Stack, body: dict[str, object], code: str) -> None:
    _workspace, token = stack.create_workspace()

    response = stack.call("POST", "/api/ext/company-by-hash", body, Authorization=token)

    assert (response.status, response.code) == (422, code)


def test_leads_cannot_be_requested_by_prefix(stack: Stack) -> None:
    _workspace, token = stack.create_workspace()

    response = stack.call("POST", "/api/ext/leads-by-website-hash", {"prefix": "00"}, Authorization=token)

    assert (response.status, response.code) == (422, "prefix_not_allowed")


def test_unknown_paths_and_methods_get_a_problem_document(stack: Stack) -> None:
    _workspace, token = stack.create_workspace()

    nowhere = stack.call("GET", "/nowhere")
    method = stack.call("GET", "/api/ext/login")
    media = _raw(stack, "/api/ext/login", b"a=1", token, kind="application/x-www-form-urlencoded")
    anonymous = stack.call("GET", "/api/ext/session")
    wrong = stack.call("GET", "/api/ext/session", Authorization="Bearer nonsense")

    assert (nowhere.status, nowhere.code) == (404, "not_found")
    assert (method.status, method.code, method.headers["Allow"]) == (
        405,
        "method_not_allowed",
        "OPTIONS, POST",
    )
    assert media["code"] == "unsupported_media_type"
    assert (anonymous.code, anonymous.headers["WWW-Authenticate"]) == ("missing_token", 'Bearer realm="ext"')
    assert wrong.headers["WWW-Authenticate"] == 'Bearer realm="ext", error="invalid_token"'


def test_an_unknown_account_and_a_wrong_password_get_the_same_response(stack: Stack) -> None:
    workspace, _token = stack.create_workspace()
    email = f"{workspace.replace('_', '-')}@customer.example"

    wrong = stack.call("POST", "/api/ext/login", {"email": email, "password": PASSWORD + "x"})
    unknown_login = {"email": "nobody@customer.example", "password": PASSWORD}
    unknown = stack.call("POST", "/api/ext/login", unknown_login)

    assert (wrong.status, wrong.code) == (401, "invalid_credentials")
    assert {**wrong.body, "request_id": 0} == {**unknown.body, "request_id": 0}


def test_the_log_of_the_worker_names_the_request_of_a_job(stack: Stack) -> None:
    _workspace, token = stack.create_workspace()
    headers = {"Authorization": token, "X-Request-Id": f"walk-{secrets.token_hex(4)}"}
    stack.call("POST", "/api/ext/reveal/email", FOUND, **headers)

    def settled() -> list[str]:
        lines = [line for log in stack.redis_folder.glob("*.log") for line in log.read_text().splitlines()]
        return [line for line in lines if "job settled" in line and headers["X-Request-Id"] in line]

    assert len(wait_until(settled)) == 1


def test_the_logs_contain_no_personal_data_and_no_secret(stack: Stack) -> None:
    _workspace, token = stack.create_workspace()
    stack.call("POST", "/api/ext/reveal/email", FOUND, Authorization=token)
    person = {"contact_id": _engineer(stack, "walker-five")}
    stack.call("POST", "/api/ext/reveal/phone", {"subject": person}, Authorization=token)

    logs = "".join(log.read_text() for log in stack.redis_folder.glob("*.log"))

    assert "job settled" in logs
    secret = token.removeprefix("Bearer ")
    people = ("@sandbox.example", "@walker", "+1202555", "Walker walker", "linkedin.com/in/")
    for canary in (*people, PASSWORD, secret):
        assert canary not in logs


def test_a_browser_gets_an_explanation_of_a_problem(stack: Stack) -> None:
    request = urllib.request.Request(f"{stack.base_url}/problems/bad_hash", headers={"Accept": "text/html"})

    with urllib.request.urlopen(request) as response:
        page = response.read().decode()

    assert "<h1>" in page
    assert "bad_hash" in page


def test_the_docs_page_needs_no_internet(stack: Stack) -> None:
    page = stack.call("GET", "/docs").body.decode()

    assert "/docs/assets/swagger-ui-bundle.js" in page
    assert "https://" not in page.replace("https://swagger.io", "")
    assert stack.call("GET", "/docs/assets/swagger-ui-bundle.js").status == 200


def _engineer(stack: Stack, slug: str) -> str:
    """Store a contact with a valid address and phone number, at a separate company."""
    now = clock.now()
    source = Source("test", SourceKind.IMPORT, now)
    contact = FoundContact(
        source=source,
        full_name=f"Walker {slug}",
        company=FoundCompany(source=source, name=slug, domain=f"{slug}.example"),
        emails=(
            FoundEmail(email=f"walker@{slug}.example", type="work", status=EmailStatus.VALID, source=source),
        ),
        phones=(FoundPhone(e164="+12025550143", type="mobile", status="valid", source=source),),
    )
    with stack.database.transaction() as session:
        companies.upsert(session, contact.company, now=now)
        return contacts.upsert(session, contact, now=now).id


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _raw(
    stack: Stack, path: str, body: bytes, token: str, kind: str = "application/json"
) -> dict[str, object]:
    request = urllib.request.Request(stack.base_url + path, body, method="POST")
    request.add_header("Content-Type", kind)
    request.add_header("Authorization", token)
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request)
    with caught.value as error:
        assert error.headers["Content-Type"] == "application/problem+json"
        response: dict[str, object] = json.loads(error.read())
        return response
