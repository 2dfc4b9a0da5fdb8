from __future__ import annotations

import dataclasses

import pytest
from apiflask import APIBlueprint, APIFlask
from flask import Response
from members import Member, bearer, join

from app.api.answer import reply
from app.api.auth import bearer as bearer_auth
from app.api.auth import caller
from app.core import accounts
from app.domain.callers import Scope
from app.domain.tokens import TokenKind, new_token
from app.infra import clock

PATH = "/api/ext/session"


@pytest.fixture
def member(app: APIFlask) -> Member:
    blueprint = APIBlueprint("scoped", __name__)

    @blueprint.get("/for-revealing")
    @blueprint.auth_required(bearer_auth, roles=[Scope.REVEAL])
    def for_revealing() -> Response:
        return reply({"account": caller().account_id})

    app.register_blueprint(blueprint)
    return join(app)


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Basic YTpi"}, {"Authorization": "Bearer"}])
def test_without_a_token_the_challenge_names_no_error(member: Member, headers: dict[str, str]) -> None:
    answer = member.client.get(PATH, headers=headers)

    assert (answer.status_code, answer.get_json()["code"]) == (401, "missing_token")
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="ext"'


@pytest.mark.parametrize(
    "token",
    [
        "nonsense",
        "ses_" + "0" * 49,
        "a=b",
        "ses_é",
        pytest.param(new_token(TokenKind.API_KEY), id="well-formed"),
        "a b",
    ],
)
def test_a_token_that_was_never_handed_out_is_invalid(member: Member, token: str) -> None:
    answer = member.client.get(PATH, headers={"Authorization": f"Bearer {token}"})

    assert (answer.status_code, answer.get_json()["code"]) == (401, "invalid_token")
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="ext", error="invalid_token"'
    assert answer.mimetype == "application/problem+json"


def test_the_scheme_may_be_written_in_any_case(member: Member) -> None:
    answer = member.client.get(PATH, headers={"Authorization": f"bearer {member.session_token}"})

    assert answer.status_code == 200


def test_a_session_has_every_scope(member: Member) -> None:
    answer = member.client.get("/for-revealing", headers=member.headers)

    assert answer.get_json() == {"account": member.account_id}


def test_a_key_without_the_scope_is_refused(member: Member) -> None:
    answer = member.client.get("/for-revealing", headers=bearer(member.make_key(Scope.LOOKUP)))

    assert (answer.status_code, answer.get_json()["code"]) == (403, "insufficient_scope")
    assert answer.mimetype == "application/problem+json"


def test_a_key_with_the_scope_passes(member: Member) -> None:
    answer = member.client.get("/for-revealing", headers=bearer(member.make_key(Scope.REVEAL)))

    assert answer.status_code == 200


@pytest.mark.parametrize("ends", ["disable", "set_password"])
def test_what_an_account_handed_out_ends_with_it(member: Member, ends: str) -> None:
    key = member.make_key()
    changes = {"disable": {}, "set_password": {"password_hash": "new"}}[ends]

    with member.database.transaction() as session:
        getattr(accounts, ends)(session, member.account_id, **changes, now=clock.now())

    for token in (member.session_token, key):
        answer = member.client.get(PATH, headers=bearer(token))
        assert (answer.status_code, answer.get_json()["code"]) == (401, "token_revoked")


def test_taking_api_access_away_ends_keys_and_no_session(member: Member) -> None:
    key = member.make_key()

    with member.database.transaction() as session:
        accounts.revoke_api_access(session, member.account_id, now=clock.now())

    assert member.client.get(PATH, headers=bearer(key)).get_json()["code"] == "token_revoked"
    assert member.client.get(PATH, headers=member.headers).status_code == 200


def test_guessing_tokens_is_answered_401_and_then_429_and_hurts_no_real_token(
    app: APIFlask, member: Member
) -> None:
    app.extensions["settings"] = dataclasses.replace(
        app.extensions["settings"], limit_login_address="5/minute"
    )

    answers = [
        member.client.get(PATH, headers=bearer(new_token(TokenKind.SESSION))).status_code for _ in range(7)
    ]

    assert answers == [401] * 5 + [429] * 2
    assert member.client.get(PATH, headers=member.headers).status_code == 200


def test_mistyped_tokens_are_not_counted_as_guesses(app: APIFlask, member: Member) -> None:
    app.extensions["settings"] = dataclasses.replace(
        app.extensions["settings"], limit_login_address="1/minute"
    )

    answers = [member.client.get(PATH, headers=bearer("ses_typo")).status_code for _ in range(5)]

    assert answers == [401] * 5
