"""The documented behaviour of every endpoint, checked on real processes."""

from __future__ import annotations

import hashlib
import json
import re
import urllib.error
import urllib.request

import pytest
from e2e_stack import PASSWORD, Stack
from sqlalchemy import select

from app.core.contacts import companies, contacts, suppressions
from app.core.contacts.emails import Email
from app.core.contacts.suppressions import Identifier
from app.core.jobs.jobs import Job
from app.domain.findings import (
    EmailStatus,
    FoundCompany,
    FoundContact,
    FoundEmail,
    FoundPhone,
    Source,
    SourceKind,
)
from app.infra import clock

FOUND = {"subject": {"linkedin_url": "https://www.linkedin.com/in/sandbox-found"}}


def test_a_person_is_looked_up_masked_revealed_and_then_shown_in_full(stack: Stack) -> None:
    _workspace, token = stack.workspace(grant=5)
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
    _workspace, token = stack.workspace()
    headers = {"Authorization": token, "Idempotency_Key": "click-1"}

    first = stack.call("POST", "/api/ext/reveal/email", FOUND, **headers)
    replay = stack.call("POST", "/api/ext/reveal/email", FOUND, **headers)
    other = stack.call("POST", "/api/ext/reveal/email", {"subject": {"email": "a@b.example"}}, **headers)

    assert replay.headers["Idempotent-Replay"] == "true"
    assert "Idempotent-Replay" not in first.headers
    assert replay.body["job"] == first.body["job"]
    assert replay.body["credits"]["charged"] == 1
    assert (other.status, other.code) == (422, "idempotency_key_reused")


def test_whoever_joins_a_question_gets_their_own_reference_back(stack: Stack) -> None:
    _workspace, token = stack.workspace()

    first, joined, bare = (
        stack.call("POST", "/api/ext/reveal/email", FOUND | reference, Authorization=token).body
        for reference in ({"client_reference": "row-1"}, {"client_reference": "row-2"}, {})
    )

    assert first["job"]["id"] == joined["job"]["id"] == bare["job"]["id"]
    assert [
        (answer["job"].get("client_reference"), answer["result"].get("client_reference"))
        for answer in (first, joined, bare)
    ] == [("row-1", "row-1"), ("row-2", "row-2"), (None, None)]


def test_a_refusal_is_not_remembered_so_a_top_up_and_the_same_key_work(stack: Stack) -> None:
    workspace, token = stack.workspace(grant=0)
    headers = {"Authorization": token, "Idempotency_Key": "click-1"}

    refused = stack.call("POST", "/api/ext/reveal/email", FOUND, **headers)
    stack.grant(workspace, 1)
    paid = stack.call("POST", "/api/ext/reveal/email", FOUND, **headers)

    assert (refused.status, refused.code) == (402, "insufficient_credits")
    assert (refused.headers["X-Credits-Charged"], refused.headers["X-Credits-Balance"]) == ("0", "0")
    assert (paid.status, paid.body["credits"]["charged"]) == (200, 1)


def test_an_enrichment_fills_in_item_by_item_and_one_bad_item_fails_alone(stack: Stack) -> None:
    _workspace, token = stack.workspace(grant=10)
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


def test_an_enrichment_shows_nothing_of_a_suppressed_person_and_says_who_was_asked(stack: Stack) -> None:
    _workspace, token = stack.workspace(grant=5)
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
        {"entity": "person", "items": [{"subject": one} for one in subjects], "fields": ["profile"]},
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


def test_a_company_is_enriched_from_what_is_stored_or_a_provider_knows(stack: Stack) -> None:
    _workspace, token = stack.workspace(grant=0)
    _engineer(stack, "walker-seven")
    named = [{"domain": "www.walker-seven.example"}, {"domain": "nobody-knows.example"}, {"name": ""}]

    job = stack.call(
        "POST",
        "/api/ext/enrichment-request",
        {"entity": "company", "items": [{"company": one} for one in named]},
        Authorization=token,
        Prefer="wait=25",
    ).body

    items = job["result"]["items"]
    assert [item["outcome"] for item in items] == ["found", "not_found", None]
    assert items[0]["company"]["domain"] == "walker-seven.example"
    assert items[2]["error"]["code"] == "validation_error"


def test_an_enrichment_with_a_webhook_is_taken_but_not_to_a_private_network(stack: Stack) -> None:
    _workspace, token = stack.workspace()
    item = {"subject": {"linkedin_url": "https://www.linkedin.com/in/sandbox-not-found"}}
    body = {"entity": "person", "items": [item], "webhook_url": "https://hooks.acme.example/done"}

    taken = stack.call("POST", "/api/ext/enrichment-request", body, Authorization=token)
    refused = stack.call(
        "POST",
        "/api/ext/enrichment-request",
        body | {"webhook_url": "https://10.1.2.3/"},
        Authorization=token,
    )

    assert taken.status == 200
    assert (refused.status, refused.body["errors"][0]["pointer"]) == (422, "/webhook_url")


def test_when_credits_run_out_the_rest_of_an_enrichment_says_so(stack: Stack) -> None:
    _workspace, token = stack.workspace(grant=2)
    items = [{"subject": {"contact_id": person}} for person in stack.contacts(4)]

    job = stack.call(
        "POST",
        "/api/ext/enrichment-request",
        {"entity": "person", "items": items, "fields": ["email"]},
        Authorization=token,
        Prefer="wait=25",
    ).body

    said = [(item["outcome"], item["error"] and item["error"]["code"]) for item in job["result"]["items"]]
    assert said == [("found", None)] * 2 + [(None, "insufficient_credits")] * 2
    assert (job["job"]["outcome"], job["credits"]["charged"]) == ("partial", 2)


def test_after_a_top_up_the_same_enrichment_gives_the_rest(stack: Stack) -> None:
    workspace_id, token = stack.workspace(grant=1)
    items = [{"subject": {"contact_id": person}} for person in stack.contacts(2)]
    body = {"entity": "person", "items": items, "fields": ["email"]}
    short = stack.call("POST", "/api/ext/enrichment-request", body, Authorization=token).body
    stack.grant(workspace_id, 1)

    whole = stack.call("POST", "/api/ext/enrichment-request", body, Authorization=token).body

    assert (short["job"]["outcome"], whole["job"]["outcome"]) == ("partial", "found")
    assert [item["credits_charged"] for item in whole["result"]["items"]] == [0, 1]


def test_an_address_that_is_not_there_leaves_the_credit_for_the_number(stack: Stack) -> None:
    _workspace, token = stack.workspace(grant=1)
    source = Source("walk", SourceKind.IMPORT, clock.now())
    number = FoundPhone(e164="+12025550143", type="mobile", status="valid", source=source)
    found = FoundContact(source=source, full_name="Only Phone", phones=(number,))
    with stack.database.transaction() as session:
        contact_id = contacts.upsert(session, found, now=clock.now()).id

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


def test_a_company_is_found_by_hash_by_suffixes_and_by_prefix(stack: Stack) -> None:
    _workspace, token = stack.workspace()
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
        "POST", "/api/ext/company-by-hash", {"prefix": digest[:4]}, Authorization=token
    ).body
    empty = stack.call("POST", "/api/ext/company-by-hash", {"prefix": "0000"}, Authorization=token).body
    leads = stack.call("POST", "/api/ext/leads-by-website-hash", {"hash": digest}, Authorization=token).body

    assert by_hash["result"]["company"]["domain"] == "walker-three.example"
    assert by_suffixes["result"]["matched_hash"] == digest
    match = next(m for m in by_prefix["result"]["matches"] if m["suffix"] == digest[4:])
    assert match["company"]["domain"] == "walker-three.example"
    assert len(json.dumps(by_prefix["result"])) == len(json.dumps(empty["result"]))
    assert [lead["full_name"] for lead in leads["result"]["leads"]] == ["Walker walker-three"]


@pytest.mark.parametrize("prefer", ["wait=20", "respond-async"])
def test_nothing_of_a_prefix_is_kept_once_it_is_answered(stack: Stack, prefer: str) -> None:
    _workspace, token = stack.workspace()
    answer = stack.call(
        "POST",
        "/api/ext/company-by-hash",
        {"prefix": "beef"},
        Authorization=token,
        Prefer=prefer,
        Idempotency_Key="k",
    )
    where = f"/api/ext/jobs?id={answer.body['job']['id']}"

    if answer.status == 202:
        answer = stack.call("GET", where, Authorization=token, Prefer="wait=20")
    gone = stack.call("GET", where, Authorization=token)

    assert answer.body["result"]["prefix"] == "beef"
    assert (gone.status, gone.code) == (404, "job_not_found")
    with stack.database.reading() as session:
        requests = session.scalars(select(Job.request)).all()
    assert not any("prefix" in request for request in requests)
    # As a word of its own: the random identifiers in a log may contain the same four characters.
    assert not re.search(r"\bbeef\b", "".join(log.read_text() for log in stack.redis_folder.glob("*.log")))


def test_a_job_of_another_workspace_looks_like_one_that_never_was(stack: Stack) -> None:
    _mine, token = stack.workspace()
    _theirs, stranger = stack.workspace()
    job_id = stack.call("POST", "/api/ext/reveal/email", FOUND, Authorization=token).body["job"]["id"]
    unknown = job_id[:-1] + ("0" if job_id[-1] != "0" else "1")

    theirs = stack.call("GET", f"/api/ext/jobs?id={job_id}", Authorization=stranger)
    nobodys = stack.call("GET", f"/api/ext/jobs?id={unknown}", Authorization=stranger)
    listed = stack.call("GET", "/api/ext/jobs", Authorization=token)

    assert theirs.status == nobodys.status == 404
    assert {**theirs.body, "request_id": 0} == {**nobodys.body, "request_id": 0}
    assert [job["id"] for job in listed.body["jobs"]] == [job_id]


def test_jobs_are_listed_newest_first_page_by_page(stack: Stack) -> None:
    _workspace, token = stack.workspace()
    made = [
        stack.call(
            "POST", "/api/ext/reveal/email", {"subject": {"contact_id": person}}, Authorization=token
        ).body["job"]["id"]
        for person in stack.contacts(3)
    ]

    first = stack.call("GET", "/api/ext/jobs?limit=2&status=succeeded", Authorization=token).body
    second = stack.call(
        "GET", f"/api/ext/jobs?limit=2&cursor={first['next_cursor']}", Authorization=token
    ).body

    assert [job["id"] for job in first["jobs"] + second["jobs"]] == made[::-1]
    assert second["next_cursor"] is None


def test_a_suppressed_person_is_not_shown_not_asked_about_and_not_charged(stack: Stack) -> None:
    _workspace, token = stack.workspace(grant=1)
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


def test_a_provider_that_gives_a_suppressed_address_finds_somebody_who_is_left_alone(stack: Stack) -> None:
    _workspace, token = stack.workspace(grant=1)
    with stack.database.transaction() as session:
        identifier = Identifier("email", "unknown@sandbox.example")
        suppressions.suppress(session, [identifier], reason="asked to", now=clock.now())
    subject = {"linkedin_url": "https://www.linkedin.com/in/sandbox-unknown"}

    answer = stack.call(
        "POST", "/api/ext/reveal/email", {"subject": subject, "min_status": "any"}, Authorization=token
    ).body

    assert (answer["job"]["outcome"], answer["result"]) == ("suppressed", None)
    assert answer["credits"] == {"charged": 0, "reserved": 0, "balance": 1, "already_owned": False}
    with stack.database.reading() as session:
        stored = session.scalars(select(Email.id).where(Email.email == "unknown@sandbox.example")).all()
    assert stored == []


def test_a_saved_profile_is_kept_and_shown_in_lookups(stack: Stack) -> None:
    _workspace, token = stack.workspace()
    profile = {"linkedin_url": "https://de.linkedin.com/in/Ada-Walker/?trk=x", "full_name": "Ada Walker"}
    body = {"profile": profile, "list": "Engineers", "tags": ["a"], "note": "met"}

    new = stack.call("POST", "/api/ext/linkedin-save", body, Authorization=token)
    known = stack.call("POST", "/api/ext/linkedin-save", body, Authorization=token)

    assert (new.status, known.status) == (201, 200)
    assert new.body["saved_profile"]["linkedin_url"] == "https://www.linkedin.com/in/ada-walker"
    assert (known.body["created"], known.body["changes"]) == (False, [])


def test_an_api_key_works_until_it_is_revoked_and_only_within_its_scopes(stack: Stack) -> None:
    _workspace, token = stack.workspace()
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
    _workspace, token = stack.workspace()

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
def test_a_bad_hash_is_told(stack: Stack, body: dict[str, object], code: str) -> None:
    _workspace, token = stack.workspace()

    answer = stack.call("POST", "/api/ext/company-by-hash", body, Authorization=token)

    assert (answer.status, answer.code) == (422, code)


def test_leads_take_no_prefix(stack: Stack) -> None:
    _workspace, token = stack.workspace()

    answer = stack.call("POST", "/api/ext/leads-by-website-hash", {"prefix": "0000"}, Authorization=token)

    assert (answer.status, answer.code) == (422, "prefix_not_allowed")


def test_addresses_and_methods_that_are_not_there_are_problems_not_pages(stack: Stack) -> None:
    _workspace, token = stack.workspace()

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


def test_an_unknown_account_and_a_wrong_password_are_answered_alike(stack: Stack) -> None:
    workspace, _token = stack.workspace()
    email = f"{workspace.replace('_', '-')}@walkers.example"

    wrong = stack.call("POST", "/api/ext/login", {"email": email, "password": PASSWORD + "x"})
    nobody = {"email": "nobody@walkers.example", "password": PASSWORD}
    unknown = stack.call("POST", "/api/ext/login", nobody)

    assert (wrong.status, wrong.code) == (401, "invalid_credentials")
    assert {**wrong.body, "request_id": 0} == {**unknown.body, "request_id": 0}


def test_no_personal_data_and_no_secret_is_in_the_logs(stack: Stack) -> None:
    _workspace, token = stack.workspace()
    stack.call("POST", "/api/ext/reveal/email", FOUND, Authorization=token)
    person = {"contact_id": _engineer(stack, "walker-five")}
    stack.call("POST", "/api/ext/reveal/phone", {"subject": person}, Authorization=token)

    logs = "".join(log.read_text() for log in stack.redis_folder.glob("*.log"))

    assert "job settled" in logs
    secret = token.removeprefix("Bearer ")
    people = ("@sandbox.example", "@walker", "+1202555", "Walker walker", "linkedin.com/in/")
    for canary in (*people, PASSWORD, secret):
        assert canary not in logs


def test_a_browser_is_told_what_a_problem_means(stack: Stack) -> None:
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
    source = Source("walk", SourceKind.IMPORT, now)
    found = FoundContact(
        source=source,
        full_name=f"Walker {slug}",
        company=FoundCompany(source=source, name=slug, domain=f"{slug}.example"),
        emails=(
            FoundEmail(email=f"walker@{slug}.example", type="work", status=EmailStatus.VALID, source=source),
        ),
        phones=(FoundPhone(e164="+12025550143", type="mobile", status="valid", source=source),),
    )
    with stack.database.transaction() as session:
        companies.upsert(session, found.company, now=now)
        return contacts.upsert(session, found, now=now).id


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
        answer: dict[str, object] = json.loads(error.read())
        return answer
