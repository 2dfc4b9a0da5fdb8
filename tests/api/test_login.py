from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import redis
import structlog
from apiflask import APIFlask
from argon2 import PasswordHasher
from jobs_support import set_clock
from prometheus_client import REGISTRY
from settings_support import change_settings
from sqlalchemy import select, update
from structlog.testing import capture_logs
from users_support import PASSWORD, SignedInUser, bearer

from app.domain.errors import InvalidCredentials
from app.engine.accounts import accounts, login_throttle
from app.engine.accounts.accounts import Account
from app.engine.accounts.login_throttle import FailedSignIns
from app.engine.accounts.sessions import LoginSession
from app.infra import clock
from app.infra.crypto import passwords
from app.web.sign_in import login_attempts


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Record the parameters of each hash that is verified."""
    costs: list[str] = []
    real = PasswordHasher.verify

    def record_cost(hasher: PasswordHasher, password_hash: str, password: str) -> bool:
        costs.append(password_hash.rpartition("$")[0].rpartition("$")[0])
        return real(hasher, password_hash, password)

    monkeypatch.setattr(PasswordHasher, "verify", record_cost)
    return costs


def besiege(user: SignedInUser) -> None:
    """Bring the account into its state after 10,000 wrong passwords from other networks."""
    with user.database.transaction() as session:
        login_throttle.record_failure(session, user.email, now=clock.now())
        session.execute(update(FailedSignIns).values(failures=10_000))


def test_login_returns_a_token_and_the_session(user: SignedInUser) -> None:
    response = user.sign_in(client={"name": "chrome-extension", "version": "1.0.0"})

    body = response.get_json()
    session = user.client.get("/api/ext/session", headers=bearer(body["access_token"])).get_json()
    assert response.status_code == 200
    assert body["token_type"] == "Bearer"
    assert body["expires_at"] == body["auth"]["expires_at"]
    assert {key: body[key] for key in session} == session
    assert set(body) - set(session) == {"access_token", "token_type", "expires_at"}


def test_a_sign_in_above_the_limit_ends_the_session_that_was_not_used_for_longest(
    user: SignedInUser, app: APIFlask
) -> None:
    change_settings(app, session_max_per_account=2)
    tokens = [user.sign_in().get_json()["access_token"] for _ in range(3)]

    statuses = [user.client.get("/api/ext/session", headers=bearer(token)).status_code for token in tokens]

    assert statuses == [401, 200, 200]


def test_the_email_is_case_insensitive(user: SignedInUser) -> None:
    assert user.sign_in(email="  ADA@Acme.Example ").status_code == 200


def test_the_session_stores_the_client_but_no_ip_address(user: SignedInUser) -> None:
    user.sign_in(client={"name": "chrome-extension", "version": "1.0.0"})

    with user.database.reading() as session:
        row = session.scalars(
            select(LoginSession).where(LoginSession.client_name == "chrome-extension")
        ).one()
    assert row.client_version == "1.0.0"
    assert b"127.0.0" not in row.network_digest


def test_a_wrong_password_and_an_unknown_email_get_the_same_response(user: SignedInUser) -> None:
    wrong = user.sign_in(password="not the password")
    unknown = user.sign_in(email="eve@acme.example")

    assert wrong.status_code == unknown.status_code == 401
    assert wrong.headers["WWW-Authenticate"] == unknown.headers["WWW-Authenticate"]
    assert wrong.get_json() | {"request_id": ""} == unknown.get_json() | {"request_id": ""}
    assert wrong.get_json()["code"] == "invalid_credentials"


@pytest.mark.usefixtures("production_settings")
def test_an_unknown_email_costs_the_same_hash_as_a_known_one(user: SignedInUser, verified: list[str]) -> None:
    user.sign_in(password="not the password")
    user.sign_in(email="eve@acme.example")

    assert verified == ["$argon2id$v=19$m=19456,t=2,p=1"] * 2


@pytest.mark.usefixtures("production_settings")
def test_a_hash_with_old_parameters_is_renewed_at_login(user: SignedInUser) -> None:
    old = PasswordHasher(time_cost=1, memory_cost=8192, parallelism=1).hash(PASSWORD)
    with user.database.transaction() as session:
        session.execute(update(Account).values(password_hash=old))

    response = user.sign_in()

    with user.database.reading() as session:
        renewed = session.get_one(Account, user.account_id).password_hash
    assert response.status_code == 200
    assert "m=19456,t=2,p=1" in renewed
    assert passwords.verify(renewed, PASSWORD)


def test_a_disabled_account_is_reported_only_for_the_right_password(user: SignedInUser) -> None:
    with user.database.transaction() as session:
        accounts.disable(session, user.account_id, now=clock.now())

    right = user.sign_in()
    wrong = user.sign_in(password="not the password")

    assert (right.status_code, right.get_json()["code"]) == (403, "account_disabled")
    assert (wrong.status_code, wrong.get_json()["code"]) == (401, "invalid_credentials")


def test_a_password_changed_during_the_check_starts_no_session(
    user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    new_hash = passwords.hash_password("another password")
    real = passwords.verify

    def change_meanwhile(password_hash: str | None, password: str) -> bool:
        with user.database.transaction() as session:
            accounts.set_password(session, user.account_id, new_hash, now=clock.now())
        return real(password_hash, password)

    monkeypatch.setattr(passwords, "verify", change_meanwhile)

    response = user.sign_in()

    assert response.get_json()["code"] == InvalidCredentials.code


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"email": "no e-mail"}, "/email"),
        ({"email": None}, "/email"),
        ({"password": ""}, "/password"),
        ({"password": "x" * 129}, "/password"),
        ({"password": 12345678}, "/password"),
        ({"client": {"version": "1"}}, "/client/name"),
        ({"client": {"name": "x" * 101}}, "/client/name"),
        ({"remember": True}, "/remember"),
    ],
)
def test_invalid_fields_are_named(user: SignedInUser, change: dict[str, Any], pointer: str) -> None:
    response = user.sign_in(**change)

    assert (response.status_code, response.get_json()["code"]) == (422, "validation_error")
    assert [error["pointer"] for error in response.get_json()["errors"]] == [pointer]


def test_the_eleventh_wrong_password_within_a_minute_gets_429(user: SignedInUser) -> None:
    responses = user.fails(11)

    refused = user.sign_in()
    assert responses == [401] * 10 + [429]
    assert refused.get_json()["code"] == "too_many_attempts"
    assert 1 <= int(refused.headers["Retry-After"]) <= 60


def test_an_unknown_email_is_limited_like_a_known_one(user: SignedInUser) -> None:
    responses = user.fails(11, email="eve@acme.example")

    assert responses == [401] * 10 + [429]


def test_successful_logins_are_not_counted(user: SignedInUser) -> None:
    responses = [user.sign_in().status_code for _ in range(12)]

    assert responses == [200] * 12


def test_failures_from_one_network_are_counted_whatever_the_email(app: APIFlask, user: SignedInUser) -> None:
    change_settings(app, limit_login_address="3/minute")
    for name in "bcd":
        user.sign_in(email=f"{name}@acme.example", address="198.51.100.7")

    neighbour = user.sign_in(address="198.51.100.200")
    elsewhere = user.sign_in(address="198.51.101.7")

    assert (neighbour.status_code, elsewhere.status_code) == (429, 200)


def test_an_existing_session_keeps_working_while_logins_are_limited(user: SignedInUser) -> None:
    user.fails(11)

    response = user.client.get("/api/ext/session", headers=user.headers)

    assert response.status_code == 200


def test_failures_elsewhere_do_not_lock_out_a_known_network(user: SignedInUser) -> None:
    user.sign_in(address="203.0.113.5")
    with user.database.transaction() as session:
        for _ in range(50):
            login_throttle.record_failure(session, user.email, now=clock.now())

    owner = user.sign_in(address="203.0.113.9")

    assert owner.status_code == 200


def test_failures_are_counted_per_email_until_a_success(user: SignedInUser) -> None:
    user.fails(2, address="198.51.100.7")
    with user.database.reading() as session:
        counted = session.scalars(select(FailedSignIns.failures)).all()

    user.sign_in()

    with user.database.reading() as session:
        assert (counted, session.scalars(select(FailedSignIns)).all()) == ([2], [])


def test_an_unknown_network_is_delayed_after_many_failures_elsewhere(user: SignedInUser) -> None:
    with user.database.transaction() as session:
        for _ in range(20):
            login_throttle.record_failure(session, user.email, now=clock.now())

    response = user.sign_in(address="198.51.77.1")

    assert (response.status_code, response.get_json()["code"]) == (429, "too_many_attempts")
    assert 50 <= int(response.headers["Retry-After"]) <= 60


def test_parallel_attempts_over_the_limit_do_not_reveal_their_outcome(
    app: APIFlask, user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_settings(app, limit_login_account="3/minute")
    real = passwords.verify

    def while_others_fail(password_hash: str | None, password: str) -> bool:
        monkeypatch.setattr(passwords, "verify", real)
        user.fails(3)
        return real(password_hash, password)

    monkeypatch.setattr(passwords, "verify", while_others_fail)

    response = user.sign_in()

    assert response.get_json()["code"] == "too_many_attempts"


def test_ten_thousand_failures_elsewhere_do_not_lock_out_the_owner(user: SignedInUser) -> None:
    user.sign_in(address="203.0.113.5")
    besiege(user)

    at_home = user.sign_in(address="203.0.113.9")

    assert at_home.status_code == 200


def test_a_minute_after_ten_thousand_failures_the_owner_can_sign_in_from_anywhere(
    user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    besiege(user)

    at_once = user.sign_in(address="198.51.77.1")
    later_on = clock.now() + timedelta(seconds=int(at_once.headers["Retry-After"]))
    set_clock(monkeypatch, lambda: later_on)
    later = user.sign_in(address="198.51.77.1")

    assert int(at_once.headers["Retry-After"]) <= 60
    assert (at_once.status_code, later.status_code) == (429, 200)


def test_guesses_from_many_networks_are_slowed_down_for_known_and_unknown_emails(user: SignedInUser) -> None:
    networks = [f"198.51.{number}.1" for number in range(15)]

    responses = {
        email: [
            user.sign_in(email=email, password="not the password", address=address).status_code
            for address in networks
        ]
        for email in (user.email, "eve@acme.example")
    }

    assert responses[user.email] == [401] * 10 + [429] * 5
    assert responses["eve@acme.example"] == responses[user.email]


@pytest.mark.parametrize("password", [PASSWORD, "not the password"])
def test_every_login_response_has_limit_headers(user: SignedInUser, password: str) -> None:
    response = user.sign_in(password=password)

    assert response.headers["RateLimit-Policy"] == '"login";q=60;w=60, "login_account";q=10;w=60'
    assert [part.partition(";t=")[0] for part in response.headers["RateLimit"].split(", ")] == (
        ['"login";r=60', '"login_account";r=10']
        if password == PASSWORD
        else ['"login";r=59', '"login_account";r=9']
    )


def test_a_limited_login_reports_zero_remaining_attempts(user: SignedInUser) -> None:
    user.fails(10)

    refused = user.sign_in()

    assert refused.status_code == 429
    assert '"login_account";r=0;t=' in refused.headers["RateLimit"]


def test_attempts_are_counted_in_the_metrics_by_outcome(user: SignedInUser) -> None:
    def counted() -> list[float]:
        outcomes = ("right", "wrong", "too_many_attempts")
        return [
            REGISTRY.get_sample_value("ext_sign_ins_total", {"outcome": outcome}) or 0 for outcome in outcomes
        ]

    before = counted()

    user.sign_in()
    user.fails(11)

    assert [after - was for after, was in zip(counted(), before, strict=True)] == [1, 10, 1]


def test_one_network_cannot_fill_the_queue_of_checks(
    app: APIFlask, user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, begun = threading.Event(), threading.Semaphore(0)

    def hold(_stored: str | None, _password: str) -> bool:
        begun.release()
        return gate.wait(10)

    monkeypatch.setattr(passwords, "verify", hold)
    responses: list[int] = []

    def sign_in() -> None:
        body = {"email": user.email, "password": PASSWORD}
        responses.append(app.test_client().post("/api/ext/login", json=body).status_code)

    threads = [threading.Thread(target=sign_in) for _ in range(login_attempts.MAX_PER_NETWORK)]
    for thread in threads:
        thread.start()
    for _ in threads:
        begun.acquire(timeout=10)

    refused = user.sign_in()
    gate.set()
    elsewhere = user.sign_in(address="198.51.77.1")

    for thread in threads:
        thread.join()
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1")
    assert elsewhere.status_code == 200
    assert responses == [200] * login_attempts.MAX_PER_NETWORK


def test_with_a_full_queue_of_checks_the_next_attempt_is_rejected_at_once(
    user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passwords, "_queue_slots", threading.BoundedSemaphore(1))
    passwords._queue_slots.acquire()  # noqa: SLF001 -- occupy the only slot

    response = user.sign_in()

    assert (response.status_code, response.get_json()["code"]) == (503, "unavailable")
    assert response.headers["Retry-After"] == "1"


def test_logins_are_limited_without_redis_too(app: APIFlask, user: SignedInUser) -> None:
    change_settings(app, redis_url="redis://127.0.0.1:1/0")

    responses = user.fails(4)

    assert responses == [401, 401, 429, 429]


def test_neither_log_nor_redis_contains_personal_data_of_a_login(user: SignedInUser, redis_url: str) -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(0))

    with capture_logs() as events:
        body = user.sign_in(address="203.0.113.5").get_json()
        user.fails(2, address="203.0.113.5")

    with redis.Redis.from_url(redis_url) as store:
        stored = str(store.keys()) + str(events)
    assert "signed in" in stored
    for secret in (user.email, "203.0.113", PASSWORD, body["access_token"]):
        assert secret not in stored


def test_many_can_sign_in_at_once(app: APIFlask, user: SignedInUser) -> None:
    responses: list[int] = []

    def sign_in() -> None:
        client = app.test_client()
        body = {"email": user.email, "password": PASSWORD}
        responses.append(client.post("/api/ext/login", json=body).status_code)

    threads = [threading.Thread(target=sign_in) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert responses == [200] * 12
