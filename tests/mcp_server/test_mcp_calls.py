"""The MCP server's calls of the API: polling, retries and errors, against an API on loopback."""

from __future__ import annotations

import json
import re
import threading
import time
from typing import Any, get_args

import async_support
import httpx2
import pytest
from apiflask import APIFlask
from mcp import Client
from mcp_types import CallToolResult
from pytest_httpserver import HTTPServer
from stored_support import a_contact, an_email
from users_support import create_user
from werkzeug import Request, Response
from werkzeug.serving import make_server

from app.domain.callers import Scope
from app.domain.errors import PermissionDenied
from app.domain.permissions import Permission
from mcp_server import api, inputs
from mcp_server.server import build
from mcp_server.settings import Settings, SettingsError
from mcp_server.websites import website_hashes
from tools.state import ROOT

REVEAL = "/api/ext/reveal/email"
PERSON = {"subject": {"contact_id": "con_1"}}
ITEMS = {"entity": "person", "items": [PERSON]}


def job_response(status: str, *, http: int, charged: int = 0, **headers: str) -> Response:
    """Return the response of a queued endpoint."""
    body = {
        "job": {"id": "job_1", "status": status, "outcome": "found", "progress": {"done": 0, "total": 1}},
        "result": None,
        "trace": [],
        "credits": {"charged": charged, "reserved": 1 - charged, "balance": 9, "already_owned": False},
    }
    return Response(json.dumps(body), http, content_type="application/json", headers=headers)


def problem(status: int, **fields: Any) -> Response:
    body = json.dumps({"code": "some_code", "detail": "Do this.", **fields})
    return Response(body, status, content_type="application/problem+json")


def call(httpserver: HTTPServer, name: str, arguments: dict[str, Any]) -> CallToolResult:
    """Call a tool of a server in this process, as over stdio."""

    async def run() -> CallToolResult:
        async with Client(build(Settings(httpserver.url_for("").rstrip("/"), "key_test"))) as client:
            return await client.call_tool(name, arguments)

    return async_support.run(run)


def test_a_job_that_takes_longer_is_polled_until_it_has_finished(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "POLL_SECONDS", 0.0)
    httpserver.expect_request(REVEAL).respond_with_response(job_response("queued", http=202))
    polled = iter([job_response("running", http=202), job_response("succeeded", http=200, charged=1)])
    httpserver.expect_request("/api/ext/jobs", query_string={"id": "job_1"}).respond_with_handler(
        lambda _request: next(polled)
    )

    result = call(httpserver, "reveal_email", PERSON).structured_content

    assert result is not None
    assert (result["finished"], result["cost"]["charged"]) == (True, 1)


def test_a_service_that_does_not_wait_for_the_job_is_polled_once_a_second(httpserver: HTTPServer) -> None:
    httpserver.expect_request(REVEAL).respond_with_response(job_response("queued", http=202))
    polled = iter([("running", 202), ("running", 202), ("succeeded", 200)])
    times = []

    def respond(_request: Request) -> Response:
        times.append(time.monotonic())
        status, http = next(polled)
        return job_response(status, http=http)

    httpserver.expect_request("/api/ext/jobs").respond_with_handler(respond)

    call(httpserver, "reveal_email", PERSON)

    assert len(times) == 3
    assert times[2] - times[0] > 1.9


def test_a_job_that_outlasts_the_call_is_returned_with_the_way_to_its_result(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "BUDGET_SECONDS", 0.0)
    httpserver.expect_request(REVEAL).respond_with_response(job_response("queued", http=202))
    httpserver.expect_request("/api/ext/jobs").respond_with_response(job_response("running", http=202))

    result = call(httpserver, "reveal_email", PERSON).structured_content

    assert result is not None
    assert (result["finished"], result["cost"]["reserved"]) == (False, 1)
    assert "job_1 is still running" in result["summary"]


def test_a_retry_after_a_lost_answer_has_the_same_key_and_reports_what_the_call_cost(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "RETRY_DELAYS", (0.0, 0.01))
    keys = []

    def respond(request: Request) -> Response:
        keys.append(request.headers["Idempotency-Key"])
        if len(keys) == 1:
            return problem(503)
        return job_response("succeeded", http=200, charged=1, **{"Idempotent-Replay": "true"})

    httpserver.expect_request(REVEAL).respond_with_handler(respond)

    result = call(httpserver, "reveal_email", PERSON).structured_content

    assert result is not None
    assert result["cost"]["charged"] == 1
    assert (len(keys), len(set(keys))) == (2, 1)


@pytest.mark.parametrize(
    ("tool", "path", "arguments"),
    [
        ("reveal_email", REVEAL, PERSON),
        ("reveal_phone", "/api/ext/reveal/phone", PERSON),
        ("enrichment_request", "/api/ext/enrichment-request", {**ITEMS, "max_credits": 1}),
        ("people_searches", "/api/people-searches", {"company_domain": "acme.com", "max_credits": 1}),
    ],
)
@pytest.mark.parametrize("purpose", [{"purpose": "recruiting"}, {}])
def test_a_purpose_is_sent_and_its_absence_is_told_with_those_that_can_be_stated(
    httpserver: HTTPServer, tool: str, path: str, arguments: dict[str, Any], purpose: dict[str, str]
) -> None:
    def respond(request: Request) -> Response:
        if "purpose" not in request.get_json():
            return problem(422, code="purpose_required", detail="Send 'purpose': recruiting, support.")
        assert request.get_json()["purpose"] == "recruiting"
        return job_response("succeeded", http=200, charged=1)

    httpserver.expect_request(path).respond_with_handler(respond)

    result = call(httpserver, tool, {**arguments, **purpose})

    refused = "422 purpose_required: Send 'purpose': recruiting, support." in str(result.content)
    assert (result.is_error, refused) == ((not purpose), (not purpose))


def test_an_estimate_of_a_search_says_what_is_known_and_what_it_may_cost(httpserver: HTTPServer) -> None:
    sent = {"company_domain": "acme.com", "titles": ["cto"], "limit": 5, "page": 1, "max_credits": 3}
    estimate = {"credits_min": 0, "credits_max": 3, "summary": "2 people shown free"}
    httpserver.expect_request(
        "/api/people-searches", method="POST", json={**sent, "dry_run": True}
    ).respond_with_json({"estimate": estimate})
    httpserver.expect_request("/api/ext/session").respond_with_json({"credits": {"balance": 9}})

    result = call(httpserver, "people_searches", {**sent, "dry_run": True}).structured_content

    assert result is not None
    assert "2 people shown free. It would cost 0 to 3 credits." in result["summary"]


def test_the_summary_of_an_enrichment_says_why_items_failed(httpserver: HTTPServer) -> None:
    body = job_response("succeeded", http=200).get_json()
    refused = {"index": 0, "error": {"code": "purpose_required", "detail": "Send 'purpose': recruiting."}}
    body["result"] = {"items": [refused, {"index": 1, "error": None}, refused | {"index": 2}]}
    httpserver.expect_request("/api/ext/enrichment-request").respond_with_json(body)

    result = call(httpserver, "enrichment_request", {**ITEMS, "max_credits": 1}).structured_content

    assert result is not None
    assert "Items with an error: 2. Send 'purpose': recruiting. It was free." in result["summary"]


def test_the_summary_of_an_excluded_person_says_why(httpserver: HTTPServer) -> None:
    body = job_response("succeeded", http=200).get_json()
    body["job"] |= {"outcome": "excluded", "excluded": {"message": "Your workspace excludes this person."}}
    httpserver.expect_request(REVEAL).respond_with_json(body)

    result = call(httpserver, "reveal_email", PERSON).structured_content

    assert result is not None
    assert result["summary"].startswith("Your workspace excludes this person. It was free.")


def test_an_estimate_says_who_is_in_the_crm_and_what_it_costs_without_them(httpserver: HTTPServer) -> None:
    skips = {"skip": ["crm", "owned"], "skip_when": "has_field"}
    sent = {"entity": "person", "items": [PERSON] * 2, "max_credits": 1, **skips}
    sentence = "2 people: 1 in HubSpot (1 with an address), 1 to buy for at most 1 credit"
    estimate = {"credits_min": 0, "credits_max": 1, "summary": sentence}
    httpserver.expect_request(
        "/api/ext/enrichment-request", method="POST", json={**sent, "dry_run": True}
    ).respond_with_json({"estimate": estimate})
    httpserver.expect_request("/api/ext/session").respond_with_json({"credits": {"balance": 9}})

    result = call(httpserver, "enrichment_request", {**sent, "dry_run": True}).structured_content

    assert result is not None
    assert result["summary"] == (
        f"{sentence}. It would cost 0 to 1 credits. Nothing was done or charged. 9 credits left."
    )


def test_the_summary_says_that_everybody_was_skipped(httpserver: HTTPServer) -> None:
    body = job_response("succeeded", http=200).get_json()
    body["job"]["outcome"] = "skipped"
    httpserver.expect_request("/api/ext/enrichment-request").respond_with_json(body)

    arguments = {**ITEMS, "max_credits": 1, "skip": ["crm"]}
    result = call(httpserver, "enrichment_request", arguments).structured_content

    assert result is not None
    assert result["summary"].startswith("Everybody was skipped: the workspace has them already. It was free.")


def test_a_search_for_stored_people_repeats_the_parameters_of_the_api(httpserver: HTTPServer) -> None:
    query = "title=VP+Sales&title=CTO&country=DE&company_domain=acme.example&limit=25"
    httpserver.expect_request("/api/people", query_string=query).respond_with_json({"people": [], "total": 0})
    httpserver.expect_request("/api/ext/session").respond_with_json({"credits": {"balance": 9}})
    criteria = {"title": ["VP Sales", "CTO"], "country": ["DE"], "company_domain": "acme.example"}

    result = call(httpserver, "people", criteria)

    assert result.structured_content is not None
    assert result.structured_content["cost"] == {"charged": 0, "balance": 9, "reserved": 0}
    assert result.structured_content["answer"] == {"people": [], "total": 0}


def test_a_call_that_gets_no_response_in_time_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "TIMEOUT", httpx2.Timeout(0.1))
    monkeypatch.setattr(api, "RETRY_DELAYS", (0.0, 0.01))
    received, released = [], threading.Event()

    def hang(request: Request) -> Response:
        received.append(request.path)
        released.wait(5)
        return problem(503)

    with HTTPServer(host="127.0.0.1", threaded=True) as hanging:
        hanging.expect_request(REVEAL).respond_with_handler(hang)
        result = call(hanging, "reveal_email", PERSON)
        released.set()

    assert "cannot be reached. It is safe to make this call again" in str(result.content)
    assert received == [REVEAL]


def test_a_service_that_cannot_be_reached_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "RETRY_DELAYS", (0.0, 0.01))

    with HTTPServer(host="127.0.0.1") as stopped:
        address = stopped.url_for("").rstrip("/")

    async def run() -> CallToolResult:
        async with Client(build(Settings(address, "key_test"))) as client:
            return await client.call_tool("session", {})

    assert f"The service at {address} cannot be reached" in str(async_support.run(run).content)


@pytest.mark.parametrize(
    ("response", "sentence"),
    [
        (problem(402, required=2, balance=1), "402 some_code: Do this. Required: 2 credits; balance: 1."),
        (problem(429, retry_after=30), "429 some_code: Do this. Try again in 30 seconds."),
        (problem(422, errors=[{"pointer": "/subject", "detail": "No."}]), "Do this. /subject: No."),
        (Response("<html>", 200), "The response with status 200 is not from the API."),
    ],
)
def test_a_refusal_is_an_error_with_the_sentence_of_the_api(
    httpserver: HTTPServer, response: Response, sentence: str
) -> None:
    httpserver.expect_request(REVEAL).respond_with_response(response)

    result = call(httpserver, "reveal_email", PERSON)

    assert result.is_error
    assert sentence in str(result.content)


def test_the_key_is_in_no_text_that_is_printed() -> None:
    settings = Settings("http://127.0.0.1:1", "key_secret")

    assert "key_secret" not in f"{settings} {api.Api(settings.base_url, 'key_secret')}"


@pytest.mark.parametrize(
    ("environment", "missing"),
    [
        ({}, "CONTACT_LOOKUP_URL"),
        ({"CONTACT_LOOKUP_URL": "lookup.example.com"}, "CONTACT_LOOKUP_URL"),
        ({"CONTACT_LOOKUP_URL": "https://lookup.example.com"}, "CONTACT_LOOKUP_KEY"),
    ],
)
def test_a_missing_setting_is_named(environment: dict[str, str], missing: str) -> None:
    with pytest.raises(SettingsError, match=missing):
        Settings.read(environment, with_key=True)


def test_websites_are_hashed_as_the_published_vectors() -> None:
    vectors = json.loads((ROOT / "app" / "domain" / "data" / "vectors.json").read_text())["website"]
    url = re.compile(r"https?://[^\\@%]+")
    plain = [vector for vector in vectors if vector.get("sha256") and url.fullmatch(vector["input"])]

    missed = [vector["input"] for vector in plain if vector["sha256"] not in website_hashes(vector["input"])]

    assert len(plain) > 5
    assert missed == []


@pytest.mark.parametrize("website", ["acme.com/login?next=https://app.acme.com", "acme.com//about"])
def test_a_website_without_a_scheme_may_have_a_path(website: str) -> None:
    assert website_hashes(website) == website_hashes("acme.com")


@pytest.mark.parametrize("website", ["", "localhost", "not a website", "https://"])
def test_what_is_not_a_website_is_an_error_that_shows_one(httpserver: HTTPServer, website: str) -> None:
    result = call(httpserver, "company_by_website", {"website": website})

    assert result.is_error
    assert "Pass a domain such as acme.com" in str(result.content)


@pytest.mark.parametrize(
    ("model", "schema"),
    [(inputs.Person, "Subject"), (inputs.NamedCompany, "NamedCompany"), (inputs.Profile, "Profile")],
)
def test_the_inputs_have_the_fields_of_the_api(
    app: APIFlask, model: type[inputs.StrictModel], schema: str
) -> None:
    document = app.test_client().get("/openapi.json").get_json()

    assert (
        model.model_fields.keys() == document["components"]["schemas"][f"{schema}Schema"]["properties"].keys()
    )


@pytest.mark.parametrize(
    ("literal", "schema", "name"),
    [
        (inputs.EmailType, "RevealEmail", "types"),
        (inputs.PhoneType, "RevealPhone", "types"),
        (inputs.MinStatus, "RevealEmail", "min_status"),
        (inputs.EnrichedField, "Enrichment", "fields"),
        (inputs.Known, "LeadsByWebsiteHash", "has"),
        (inputs.SkipSource, "Enrichment", "skip"),
        (inputs.SkipCondition, "Enrichment", "skip_when"),
    ],
)
def test_the_inputs_have_the_values_of_the_api(app: APIFlask, literal: Any, schema: str, name: str) -> None:
    document = app.test_client().get("/openapi.json").get_json()
    field = document["components"]["schemas"][f"{schema}Schema"]["properties"][name]

    assert set(get_args(literal)) == set(field.get("items", field)["enum"])


def test_an_agent_confirms_no_guess_above_the_limit_of_its_workspace(app: APIFlask) -> None:
    user = create_user(app)
    with user.database.transaction() as session:
        for number in range(20):
            an_email(session, a_contact(session, None, "Ada Lovelace"), f"ada{number}@acme.com")
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()

    async def run() -> CallToolResult:
        settings = Settings(f"http://127.0.0.1:{server.port}", user.make_key(*Scope))
        async with Client(build(settings)) as client:
            people = [{"email": f"ada{number}@acme.com"} for number in range(20)]
            return await client.call_tool("lookup", {"subjects": people})

    answer = async_support.run(run).structured_content
    server.shutdown()
    thread.join()
    server.server_close()

    assert answer is not None
    outcomes = [result["outcome"] for result in answer["answer"]["results"]]
    assert outcomes == ["matched"] * 5 + ["none"] * 15


def test_a_refusal_for_want_of_a_permission_reaches_the_agent_as_a_sentence(httpserver: HTTPServer) -> None:
    refusal = PermissionDenied.of(Permission.REVEAL_PHONES, of_key=True)
    body = json.dumps(refusal.as_dict())
    httpserver.expect_request("/api/ext/reveal/phone").respond_with_response(
        Response(body, refusal.status, content_type="application/problem+json")
    )

    result = call(httpserver, "reveal_phone", PERSON)

    assert result.is_error
    assert f"403 permission_denied: {refusal.detail}" in result.content[0].text  # type: ignore[union-attr]
    assert "This API key may not reveal phone numbers." in refusal.detail


def test_a_key_that_may_not_see_costs_gets_its_answer_without_them(httpserver: HTTPServer) -> None:
    body = job_response("succeeded", http=200).get_json()
    body["credits"] |= {"charged": None, "reserved": None, "balance": None}
    httpserver.expect_request(REVEAL).respond_with_json(body)

    result = call(httpserver, "reveal_email", PERSON).structured_content

    assert result is not None
    assert result["cost"] == {"charged": None, "balance": None, "reserved": None}
    assert result["summary"] == "Found."
