from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from chaos.system.vendor import PROFILE, CannedResponse, Vendor
from tools import http_client


@pytest.fixture
def vendor() -> Iterator[Vendor]:
    vendor = Vendor(
        lambda call: CannedResponse(429, retry_after=4) if call.person == "busy" else CannedResponse()
    )
    yield vendor
    vendor.stop()


@pytest.fixture
def url(vendor: Vendor, tmp_path: Path) -> str:
    settings = vendor.start(tmp_path, rates="5/second")
    return str(tomllib.loads(Path(settings["PROVIDERS_FILE"]).read_text())["vendor"]["url"])


def test_a_vendor_knows_some_people_and_not_others(url: str) -> None:
    hit = http_client.send("GET", f"{url}/people?profile={PROFILE}ada")
    miss = http_client.send("GET", f"{url}/people?profile={PROFILE}unknown-7")

    assert hit.body == {"found": True, "email": "ada@vendor.example", "status": "valid"}
    assert miss.body == {"found": False}


def test_a_vendor_responds_as_its_behaviour_says_and_records_each_call(vendor: Vendor, url: str) -> None:
    response = http_client.send("GET", f"{url}/people?profile={PROFILE}busy")

    assert (response.status, response.headers["retry-after"]) == (429, "4")
    assert [call.person for call in vendor.calls] == ["busy"]
