"""The code in the pages, run: it verifies webhooks, hashes websites and asks a vendor as it says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pages import API, code_blocks
from pytest_httpserver import HTTPServer
from standardwebhooks import Webhook
from werkzeug import Response

from app.domain.kinds import TraceOutcome
from app.domain.records.subjects import Subject
from app.provider_settings import ProviderSettings
from tools.state import ROOT
from workers.providers.base import ProviderField, ProviderRequest, ProviderResponse
from workers.providers.web import Vendor

SECRET = "whsec_" + "c2VjcmV0LWZvci10ZXN0cw=="
BODY = '{"type": "job.finished", "data": {"job": {"id": "job_1", "note": "Käfer"}}}'
NODE = shutil.which("node")

needs_node = pytest.mark.skipif(NODE is None, reason="no node on this machine")


def run_python(block: str) -> dict[str, Any]:
    """Run a block, and return what it defines."""
    namespace: dict[str, Any] = {"__name__": "page"}
    exec(block, namespace)  # noqa: S102 - the code of our own pages
    return namespace


def python_function(name: str) -> Callable[..., Any]:
    """Return a function of the Python blocks of the pages about the API."""
    (block,) = (block for page in API for block in code_blocks(page, "python") if f"def {name}(" in block)
    function: Callable[..., Any] = run_python(block)[name]
    return function


def run_js(name: str, call: str) -> Any:
    """Call a function of the JavaScript blocks of these pages, and return its value, or None if it throws."""
    (block,) = (block for page in API for block in code_blocks(page, "js") if f"function {name}(" in block)
    script = f"{block}\nconsole.log(JSON.stringify(await {call} ?? null));\n"
    done = subprocess.run(
        [str(NODE), "--input-type=module"], input=script, capture_output=True, text=True, check=False
    )
    return json.loads(done.stdout) if done.returncode == 0 else None


def headers(body: str = BODY, *, age: timedelta = timedelta(0)) -> dict[str, str]:
    """Return the headers with which the service sends a message of this age."""
    sent = datetime.now(UTC) - age
    return {
        "webhook-id": "whk_1",
        "webhook-timestamp": str(int(sent.timestamp())),
        "webhook-signature": "v1,other " + Webhook(SECRET).sign("whk_1", sent, body),
    }


def websites() -> list[tuple[str, str]]:
    """Return the published vectors that are plain URLs, with the hash of their normal form."""
    vectors = json.loads((ROOT / "app" / "domain" / "data" / "vectors.json").read_text())["website"]
    plain = re.compile(r"https?://[^\\@%]+")
    return [
        (vector["input"], vector["sha256"])
        for vector in vectors
        if vector.get("sha256") and plain.fullmatch(vector["input"])
    ]


def test_the_python_code_accepts_what_the_service_signs() -> None:
    event = python_function("verified_event")(BODY.encode(), headers(), SECRET)

    assert event == json.loads(BODY)


@pytest.mark.parametrize(
    ("body", "sent"),
    [(BODY + " ", headers()), (BODY, headers(age=timedelta(minutes=6))), (BODY, headers("{}"))],
)
def test_the_python_code_rejects_what_was_changed_or_is_old(body: str, sent: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"signature|timestamp"):
        python_function("verified_event")(body.encode(), sent, SECRET)


@needs_node
def test_the_javascript_code_accepts_only_what_the_service_signs() -> None:
    def verified(body: str, sent: dict[str, str]) -> Any:
        return run_js("verifiedEvent", f"verifiedEvent({json.dumps(body)}, {json.dumps(sent)}, '{SECRET}')")

    assert verified(BODY, headers()) == json.loads(BODY)
    assert verified(BODY + " ", headers()) is None
    assert verified(BODY, headers(age=timedelta(minutes=6))) is None


def test_the_python_code_hashes_websites_as_the_published_vectors() -> None:
    website_hashes = python_function("website_hashes")

    missed = [url for url, digest in websites() if digest not in website_hashes(url)]

    assert len(websites()) > 5
    assert missed == []


@needs_node
def test_the_javascript_code_hashes_websites_as_the_published_vectors() -> None:
    urls = json.dumps([url for url, _ in websites()])

    found = run_js("websiteHashes", f"Promise.all({urls}.map(websiteHashes))")

    pairs = zip(websites(), found, strict=True)
    assert [url for (url, digest), hashes in pairs if digest not in hashes] == []


@pytest.fixture
def example(httpserver: HTTPServer) -> Vendor:
    """The provider that CONTRIBUTING.md shows, with its vendor on loopback."""
    block, _recording = code_blocks("CONTRIBUTING.md", "python")
    settings = ProviderSettings(api_key="k", base_url=httpserver.url_for(""))
    provider: Vendor = run_python(block)["Acme"](settings)
    return provider


@pytest.mark.parametrize(
    ("reply", "outcome", "addresses"),
    [
        (Response('{"email": "ada@acme.example"}', 200), TraceOutcome.HIT, ["ada@acme.example"]),
        (Response('{"email": null}', 200), TraceOutcome.MISS, []),
        (Response('{"error": "overloaded"}', 503), TraceOutcome.ERROR, []),
    ],
)
def test_the_provider_in_contributing_calls_its_vendor(
    httpserver: HTTPServer, example: Vendor, reply: Response, outcome: TraceOutcome, addresses: list[str]
) -> None:
    subject = Subject(full_name="Ada Lovelace", company_domain="acme.example")
    request = ProviderRequest(field=ProviderField.EMAIL, subject=subject, types=("work",))
    httpserver.expect_request("/find", method="POST", headers={"X-Key": "k"}).respond_with_response(reply)

    response = example.call(request, seconds=5)

    assert isinstance(response, ProviderResponse)
    assert (response.outcome, [found.email for found in response.emails]) == (outcome, addresses)


def test_the_provider_in_contributing_overrides_what_providers_have(example: Vendor) -> None:
    own = {name for name in vars(type(example)) if not name.startswith("__")}

    assert own <= set(dir(Vendor)) | set(Vendor.__annotations__)
