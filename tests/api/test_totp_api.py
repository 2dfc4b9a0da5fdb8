from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import cast

import pyotp
import pytest
import structlog
from apiflask import APIFlask
from jobs_support import set_clock
from settings_support import change_settings
from structlog.testing import capture_logs
from users_support import PASSWORD, SignedInUser, bearer
from werkzeug.test import TestResponse

from app.engine.accounts import totp
from app.infra import clock
from app.infra.database.session import Session
from app.web.sign_in import login_attempts
from app.web.sign_in.login_attempts import LoginAttempt

STEP = timedelta(seconds=30)
NOW = clock.now()
AT_ONCE = 10


@pytest.fixture(autouse=True)
def _fixed_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock, so that no step begins between two requests."""
    set_clock(monkeypatch, lambda: NOW)


@pytest.fixture
def app_codes(user: SignedInUser) -> pyotp.TOTP:
    """The user's authenticator app, which has read the QR code; two-factor sign-in is not on yet."""
    response = send(user, "", current_password=PASSWORD)
    return cast("pyotp.TOTP", pyotp.parse_uri(response.get_json()["uri"]))


@pytest.fixture
def recovery_codes(user: SignedInUser, app_codes: pyotp.TOTP) -> list[str]:
    """The recovery codes, after two-factor sign-in was turned on with the code of the previous step."""
    response = send(user, "/confirm", code=app_codes.at(NOW - STEP))
    codes: list[str] = response.get_json()["recovery_codes"]
    return codes


def send(user: SignedInUser, path: str, **body: str) -> TestResponse:
    return user.client.post(f"/api/totp{path}", json=body, headers=user.headers)


def state(user: SignedInUser) -> tuple[bool, int]:
    body = user.client.get("/api/totp", headers=user.headers).get_json()
    return body["enabled"], body["recovery_codes_left"]


def outcome(response: TestResponse) -> tuple[int, str | None]:
    return response.status_code, response.get_json().get("code")


def test_it_is_on_only_after_the_first_code_of_the_app(user: SignedInUser, app_codes: pyotp.TOTP) -> None:
    before = state(user)
    wrong = send(user, "/confirm", code=app_codes.at(NOW + 10 * STEP))
    right = send(user, "/confirm", code=app_codes.at(NOW))

    assert before == (False, 0)
    assert wrong.status_code == 422
    assert wrong.get_json()["errors"][0]["pointer"] == "/code"
    assert len(right.get_json()["recovery_codes"]) == 10
    assert state(user) == (True, 10)


def test_the_first_code_of_the_app_cannot_be_guessed_with_a_session(
    user: SignedInUser, app_codes: pyotp.TOTP
) -> None:
    guesses = [outcome(send(user, "/confirm", code="000000")) for _ in range(21)]

    right = send(user, "/confirm", code=app_codes.at(NOW))

    assert guesses == [(422, "validation_error")] * 20 + [(429, "too_many_attempts")]
    assert outcome(right) == (429, "too_many_attempts")
    assert state(user) == (False, 0)


def test_a_session_that_was_started_without_a_code_ends_when_it_is_turned_on(
    user: SignedInUser, app_codes: pyotp.TOTP
) -> None:
    key = user.make_key()
    others = bearer(user.sign_in().get_json()["access_token"])
    wrong = send(user, "/confirm", code=app_codes.at(NOW + 10 * STEP))
    before = user.client.get("/api/ext/session", headers=others)

    send(user, "/confirm", code=app_codes.at(NOW))

    after = user.client.get("/api/ext/session", headers=others)
    assert (wrong.status_code, before.status_code) == (422, 200)
    assert outcome(after) == (401, "token_revoked")
    assert state(user) == (True, 10)
    assert user.client.get("/api/ext/session", headers=bearer(key)).status_code == 200


def test_setting_it_up_and_turning_it_off_need_the_password(
    user: SignedInUser, recovery_codes: list[str]
) -> None:
    enrolment = send(user, "", current_password="not the password")
    disabling = send(user, "/disable", current_password="not the password")

    assert (enrolment.status_code, disabling.status_code) == (422, 422)
    assert state(user) == (True, 10)


@pytest.mark.usefixtures("recovery_codes")
def test_a_sign_in_without_a_code_is_asked_for_one_after_the_right_password_only(user: SignedInUser) -> None:
    assert outcome(user.sign_in()) == (401, "totp_required")
    assert outcome(user.sign_in(password="not the password")) == (401, "invalid_credentials")


@pytest.mark.usefixtures("recovery_codes")
def test_a_sign_in_with_the_password_and_a_code_succeeds_once_per_code(
    user: SignedInUser, app_codes: pyotp.TOTP
) -> None:
    first = user.sign_in(totp=app_codes.at(NOW))
    again = user.sign_in(totp=app_codes.at(NOW))
    next_step = user.sign_in(totp=app_codes.at(NOW + STEP))

    assert first.status_code == 200
    assert outcome(again) == (401, "invalid_totp")
    assert next_step.status_code == 200


@pytest.mark.usefixtures("recovery_codes")
def test_a_code_does_not_replace_the_password(user: SignedInUser, app_codes: pyotp.TOTP) -> None:
    response = user.sign_in(password="not the password", totp=app_codes.at(NOW))

    assert outcome(response) == (401, "invalid_credentials")
    assert user.sign_in(totp=app_codes.at(NOW)).status_code == 200


def test_a_recovery_code_replaces_the_app_once(user: SignedInUser, recovery_codes: list[str]) -> None:
    first = user.sign_in(totp=recovery_codes[0])
    again = user.sign_in(totp=recovery_codes[0])

    assert first.status_code == 200
    assert outcome(again) == (401, "invalid_totp")
    assert state(user) == (True, 9)


@pytest.mark.usefixtures("recovery_codes")
def test_wrong_codes_count_as_failed_sign_ins(app: APIFlask, user: SignedInUser) -> None:
    change_settings(app, limit_login_account="3/minute")

    statuses = [user.sign_in(totp="000000").status_code for _ in range(4)]

    assert statuses == [401, 401, 401, 429]


@pytest.mark.usefixtures("recovery_codes")
def test_wrong_codes_from_many_networks_are_limited_for_the_account(
    user: SignedInUser, app_codes: pyotp.TOTP, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(login_attempts, "TOTP_RATE", "5/hour")

    statuses = [user.sign_in(totp="000000", address=f"10.0.{n}.1").status_code for n in range(5)]
    right = user.sign_in(totp=app_codes.at(NOW), address="10.1.0.1")

    assert statuses == [401] * 5
    assert outcome(right) == (429, "too_many_attempts")


@pytest.mark.usefixtures("recovery_codes")
def test_a_stranger_with_the_password_does_not_keep_the_owner_out(
    app: APIFlask, user: SignedInUser, app_codes: pyotp.TOTP, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_settings(app, limit_login_address="1000/minute", limit_login_account="1000/minute")
    monkeypatch.setattr(login_attempts, "TOTP_RATE", "5/hour")
    user.sign_in(totp=app_codes.at(NOW), address="10.9.0.1")
    stranger = [user.sign_in(totp="000000", address=f"10.0.{n}.1") for n in range(20)]

    at_home = user.sign_in(totp=app_codes.at(NOW + STEP), address="10.9.0.1")

    assert Counter(response.status_code for response in stranger) == {401: 5, 429: 15}
    assert at_home.status_code == 200


def test_a_stranger_with_the_password_does_not_use_up_the_limit_of_recovery_codes(
    app: APIFlask, user: SignedInUser, recovery_codes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    change_settings(app, limit_login_address="1000/minute", limit_login_account="1000/minute")
    monkeypatch.setattr(login_attempts, "TOTP_RATE", "5/hour")
    monkeypatch.setattr(login_attempts, "RECOVERY_RATE", "5/hour")
    wrong = ("000000", "AAAAAA-AAAAAA")
    stranger = [user.sign_in(totp=wrong[n % 2], address="10.0.0.1") for n in range(40)]

    without_a_code = user.sign_in(address="10.9.0.1")
    elsewhere = user.sign_in(totp=recovery_codes[0], address="10.9.0.1")

    assert Counter(response.status_code for response in stranger) == {401: 10, 429: 30}
    assert outcome(without_a_code) == (401, "totp_required")
    assert elsewhere.status_code == 200


@pytest.mark.usefixtures("recovery_codes")
def test_a_network_of_the_account_has_no_more_codes_than_the_others(
    app: APIFlask, user: SignedInUser, app_codes: pyotp.TOTP, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(login_attempts, "TOTP_RATE", "5/hour")
    user.sign_in(totp=app_codes.at(NOW))

    statuses = [user.sign_in(totp="000000").status_code for _ in range(5)]
    right = user.sign_in(totp=app_codes.at(NOW + STEP))

    assert statuses == [401] * 5
    assert outcome(right) == (429, "too_many_attempts")


@pytest.mark.usefixtures("recovery_codes")
def test_of_many_codes_at_once_no_more_are_compared_than_may_be_wrong(
    app: APIFlask, user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_settings(app, limit_login_address="1000/minute", limit_login_account="1000/minute")
    monkeypatch.setattr(login_attempts, "TOTP_RATE", "5/hour")
    at_once, compared = threading.Barrier(AT_ONCE, timeout=30), Counter[str]()
    check_limits, use = LoginAttempt.check_limits, totp.use

    def wait_for_the_others(attempt: LoginAttempt) -> None:
        check_limits(attempt)
        at_once.wait()

    def counted(session: Session, account_id: str, code: str, *, now: datetime) -> bool:
        compared["codes"] += 1
        return use(session, account_id, code, now=now)

    monkeypatch.setattr(LoginAttempt, "check_limits", wait_for_the_others)
    monkeypatch.setattr(totp, "use", counted)
    body = {"email": user.email, "password": PASSWORD, "totp": "000000"}

    with ThreadPoolExecutor(AT_ONCE) as threads:
        sent = [threads.submit(app.test_client().post, "/api/ext/login", json=body) for _ in range(AT_ONCE)]

    assert Counter(request.result().status_code for request in sent) == {401: 5, 429: AT_ONCE - 5}
    assert compared["codes"] == 5


@pytest.mark.usefixtures("recovery_codes")
def test_after_it_is_turned_off_the_password_is_enough(user: SignedInUser) -> None:
    response = send(user, "/disable", current_password=PASSWORD)

    assert response.status_code == 204
    assert user.sign_in().status_code == 200
    assert state(user) == (False, 0)


@pytest.mark.usefixtures("recovery_codes")
def test_an_account_with_an_app_cannot_set_up_another(user: SignedInUser) -> None:
    assert outcome(send(user, "", current_password=PASSWORD)) == (422, "totp_already_on")


def test_no_code_and_no_secret_is_logged(user: SignedInUser) -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(0))

    with capture_logs() as events:
        secret = send(user, "", current_password=PASSWORD).get_json()["secret"]
        app_codes = pyotp.TOTP(secret)
        recovery_codes = send(user, "/confirm", code=app_codes.at(NOW)).get_json()["recovery_codes"]
        user.sign_in(totp=recovery_codes[0])

    assert "two-factor sign-in turned on" in str(events)
    assert not any(text in str(events) for text in (secret, app_codes.at(NOW), *recovery_codes))


def test_passwords_can_be_turned_off(app: APIFlask, user: SignedInUser) -> None:
    change_settings(app, password_sign_in=False)

    response = user.sign_in()

    assert outcome(response) == (403, "password_sign_in_off")
    assert user.client.get("/api/ext/session", headers=user.headers).status_code == 200
