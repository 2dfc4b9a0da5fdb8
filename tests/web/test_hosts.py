from __future__ import annotations

import pytest
from flask.testing import FlaskClient

GOOD = ["localhost", "api.acme.example", "web_1:8000", "127.0.0.1:65535", "[::1]", "[2001:db8::1]:8000"]
BAD = [
    "",
    " ",
    "a b",
    "a/b",
    "a@b",
    'a"><script>',
    "a:b",
    "a:123456",
    "[::1",
    "[]",
    "ä.example",
    "a\\b",
    "x" * 300,
]


@pytest.mark.parametrize("host", GOOD)
def test_a_valid_host_is_accepted(client: FlaskClient, host: str) -> None:
    assert client.get("/healthz", environ_overrides={"HTTP_HOST": host}).status_code == 200


@pytest.mark.parametrize("host", BAD)
def test_an_invalid_host_gets_400(client: FlaskClient, host: str) -> None:
    response = client.get("/healthz", environ_overrides={"HTTP_HOST": host})

    assert (response.status_code, response.mimetype) == (400, "application/problem+json")


@pytest.mark.parametrize(("protocol", "status"), [("HTTP/1.0", 200), ("HTTP/1.1", 400)])
def test_only_http_1_0_may_omit_the_host(client: FlaskClient, protocol: str, status: int) -> None:
    environ = {"SERVER_PROTOCOL": protocol, "HTTP_HOST": None}

    response = client.get("/healthz", environ_overrides=environ)

    assert response.status_code == status


def test_extra_slashes_do_not_redirect_to_the_sent_host(client: FlaskClient) -> None:
    response = client.get("/api//ext/session", environ_overrides={"HTTP_HOST": "evil.example"})

    assert (response.status_code, response.mimetype) == (404, "application/problem+json")
    assert "Location" not in response.headers
