from __future__ import annotations

import pytest
from apiflask import APIBlueprint, APIFlask, Schema
from flask import Response
from flask.testing import FlaskClient
from marshmallow import fields
from settings_support import change_settings
from users_support import SignedInUser, bearer

from app.web.bodies.body import json_response
from app.web.failure_limits import network
from app.web.rate_limits import Policy, limited
from app.web.sign_in.auth import bearer as bearer_auth

PATH = "/api/ext/session"


def test_a_response_has_the_policy_and_the_remaining_requests(user: SignedInUser) -> None:
    response = user.client.get(PATH, headers=user.headers)

    assert response.headers["RateLimit-Policy"] == '"read";q=12000;w=60'
    assert response.headers["RateLimit"].startswith('"read";r=11999;t=')


def test_a_request_over_the_limit_gets_429_with_retry_after(app: APIFlask, user: SignedInUser) -> None:
    change_settings(app, limit_read="2/hour")
    responses = [user.client.get(PATH, headers=user.headers).status_code for _ in range(2)]

    refused = user.client.get(PATH, headers=user.headers)

    assert responses == [200, 200]
    assert (refused.status_code, refused.get_json()["code"]) == (429, "rate_limited")
    assert refused.headers["RateLimit-Policy"] == '"read";q=2;w=3600'
    assert refused.headers["RateLimit"] == f'"read";r=0;t={refused.headers["Retry-After"]}'
    assert 1 <= int(refused.headers["Retry-After"]) <= 3600


def test_every_token_is_counted_separately(app: APIFlask, user: SignedInUser) -> None:
    change_settings(app, limit_read="1/hour")
    user.client.get(PATH, headers=user.headers)

    response = user.client.get(PATH, headers=bearer(user.make_key()))

    assert response.status_code == 200


def test_every_policy_is_counted_separately(app: APIFlask, user: SignedInUser) -> None:
    change_settings(app, limit_read="1/hour", limit_write="1/hour")
    user.client.get(PATH, headers=user.headers)

    response = user.client.post("/api/keys", json={"name": "CRM"}, headers=user.headers)

    assert response.status_code == 201


def test_errors_of_a_limited_view_have_limit_headers_too(user: SignedInUser) -> None:
    response = user.client.post("/api/keys", json={}, headers=user.headers)

    assert response.status_code == 422
    assert response.headers["RateLimit-Policy"] == '"write";q=6000;w=60'


def test_requests_without_a_token_are_rejected_before_they_are_counted(client: FlaskClient) -> None:
    response = client.get(PATH)

    assert response.status_code == 401
    assert "RateLimit" not in response.headers


def test_without_redis_a_quarter_of_the_requests_is_allowed(app: APIFlask, user: SignedInUser) -> None:
    change_settings(app, limit_read="8/hour", redis_url="redis://127.0.0.1:1/0")

    responses = [user.client.get(PATH, headers=user.headers) for _ in range(4)]

    assert [response.status_code for response in responses] == [200, 200, 429, 429]
    assert responses[0].headers["RateLimit-Policy"] == '"read";q=2;w=3600'


def test_every_policy_has_a_setting(app: APIFlask) -> None:
    names = [f"limit_{policy}" for policy in Policy]

    assert all(hasattr(app.extensions["services"].settings, name) for name in names)


def test_a_limited_view_is_described_like_any_other(own_app: APIFlask) -> None:
    class Answer(Schema):
        word = fields.String()

    blueprint = APIBlueprint("described", __name__)

    @blueprint.get("/described")
    @blueprint.auth_required(bearer_auth)
    @limited(Policy.LOOKUP)
    @blueprint.output(Answer)
    def described() -> Response:
        """Say a word."""
        return json_response({"word": "hello"})

    own_app.register_blueprint(blueprint)

    operation = own_app.spec["paths"]["/described"]["get"]
    assert operation["summary"] == "Say a word."
    assert "200" in operation["responses"]
    assert operation["security"]


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("203.0.113.77", "203.0.113.0/24"),
        ("::ffff:203.0.113.77", "203.0.113.0/24"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", "unknown"),
        ("unix:", "unknown"),
    ],
)
def test_an_address_is_counted_by_its_network(app: APIFlask, address: str, expected: str) -> None:
    with app.test_request_context(environ_base={"REMOTE_ADDR": address}):
        assert network() == expected
