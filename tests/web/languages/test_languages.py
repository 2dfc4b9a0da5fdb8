"""The language of pages and problems: the choice, then Accept-Language, then English."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from apiflask import APIFlask
from page_support import ACCEPT, visitor
from users_support import PASSWORD, SignedInUser

from app.domain import errors
from app.domain.messages import Message
from app.web.languages import formats, texts

pytestmark = pytest.mark.any_database

TITLES = {"en": "Sign in", "de": "Anmelden", "fr": "Se connecter", "es": "Iniciar sesión"}


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("", "en"),
        ("de", "de"),
        ("de-AT,de;q=0.8,en;q=0.5", "de"),
        ("FR-ca", "fr"),
        ("pl,es;q=0.5", "es"),
        ("en-GB,de;q=0.9", "en"),
        ("de-AT,en;q=0.5", "de"),
        ("de;q=0,fr;q=0.1", "fr"),
        ("pl", "en"),
        ("*", "en"),
        ("*;q=0", "en"),
        ("de;q=x", "en"),
        (";;;,,,===", "en"),
        ("\u00e9\u00e8", "en"),
        ("de," * 4_000, "en"),
    ],
)
def test_a_page_is_in_the_best_language_that_the_browser_accepts(
    app: APIFlask, header: str, language: str
) -> None:
    response = app.test_client().get("/sign-in", headers=ACCEPT | {"Accept-Language": header})

    assert response.status_code == 200
    assert f'<html lang="{language}">' in response.text
    assert f"<h1>{TITLES[language]}</h1>" in response.text
    assert response.headers["Content-Language"] == language
    assert {"Accept-Language", "Cookie"} <= set(response.headers["Vary"].split(", "))


def test_the_choice_is_kept_and_counts_more_than_the_browser_s_languages(app: APIFlask) -> None:
    browser = app.test_client()
    headers = ACCEPT | {"Accept-Language": "fr"}

    chosen = browser.post(
        "/language",
        data={"language": "de"},
        headers=headers | {"Referer": "http://localhost/sign-in?next=/keys"},
    )

    assert (chosen.status_code, chosen.headers["Location"]) == (303, "/sign-in?next=/keys")
    assert "SameSite=Lax" in chosen.headers["Set-Cookie"]
    assert TITLES["de"] in browser.get("/sign-in", headers=headers).text


@pytest.mark.parametrize("referrer", ["https://evil.example/keys", "http://localhost//evil.example", "", "x"])
def test_after_the_choice_the_browser_stays_on_this_server(app: APIFlask, referrer: str) -> None:
    response = app.test_client().post("/language", data={"language": "de"}, headers={"Referer": referrer})

    assert response.headers["Location"] == "/"


def test_another_language_and_a_form_of_another_website_are_refused(app: APIFlask) -> None:
    browser = app.test_client()

    unknown = browser.post("/language", data={"language": "tlh"})
    foreign = browser.post("/language", data={"language": "de"}, headers={"Sec-Fetch-Site": "cross-site"})

    assert unknown.status_code == 422
    assert foreign.status_code == 403


@pytest.mark.parametrize(
    ("language", "title", "detail"),
    [
        (None, "Wrong e-mail or password", "Check the e-mail"),
        ("de-CH", "E-Mail oder Passwort ist falsch", "Prüfen Sie E-Mail und Passwort"),
        ("fr", "E-mail ou mot de passe incorrect", "Vérifiez l\u2019e-mail"),
        ("es-MX", "Correo o contraseña incorrectos", "Compruebe el correo"),
    ],
)
def test_a_problem_has_the_same_code_in_every_language(
    app: APIFlask, language: str | None, title: str, detail: str
) -> None:
    headers = {"Accept-Language": language} if language else {}

    response = app.test_client().post(
        "/api/ext/login", json={"email": "nobody@acme.com", "password": "wrong password"}, headers=headers
    )

    assert response.status_code == 401
    assert response.get_json()["code"] == "invalid_credentials"
    assert response.get_json()["title"] == title
    assert response.get_json()["detail"].startswith(detail)
    assert response.headers["Content-Language"] == (language or "en").partition("-")[0]
    assert "Accept-Language" in response.headers["Vary"]


def test_messages_about_fields_are_in_the_caller_s_language(app: APIFlask, user: SignedInUser) -> None:
    response = app.test_client().get(
        "/api/ext/jobs?limit=0", headers=user.headers | {"Accept-Language": "de"}
    )

    (error,) = response.get_json()["errors"]
    assert error["pointer"] == "/limit"
    assert re.fullmatch(r"Muss größer oder gleich 1 und kleiner oder gleich \d+ sein\.", error["detail"])


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", "This needs 1 credit and the workspace has 2000 credits."),
        ("de", "Dafür braucht es 1 Credit, der Arbeitsbereich hat 2.000 Credits."),
        ("fr", "Il faut 1 crédit et l\u2019espace de travail dispose de 2\u202f000 crédits."),
        ("es", "Hace falta 1 crédito y el espacio de trabajo tiene 2.000 créditos."),
    ],
)
def test_numbers_in_a_sentence_have_the_plural_of_the_language(
    app: APIFlask, language: str, expected: str
) -> None:
    problem = errors.InsufficientCredits(required=1, balance=2_000)

    with app.test_request_context(headers={"Accept-Language": language}):
        assert texts.translate(problem.detail).startswith(expected)


@pytest.mark.parametrize(
    ("language", "moment", "day", "number"),
    [
        ("en", "2026-11-03 09:05 UTC", "2026-11-03", "12\u202f345"),
        ("de", "03.11.2026, 09:05 UTC", "03.11.2026", "12.345"),
        ("fr", "3 nov. 2026, 09:05 UTC", "3 nov. 2026", "12\u202f345"),
        ("es", "3 nov 2026, 9:05 UTC", "3 nov 2026", "12.345"),
    ],
)
def test_dates_and_numbers_are_those_of_the_language(
    app: APIFlask, language: str, moment: str, day: str, number: str
) -> None:
    time = datetime(2026, 11, 3, 9, 5, tzinfo=UTC)

    with app.test_request_context(headers={"Accept-Language": language}):
        assert (formats.moment(time), formats.day(time), formats.number(12_345)) == (moment, day, number)
        assert f"{formats.minute(time)} UTC" == moment


def test_a_text_without_translation_stays_english(app: APIFlask) -> None:
    with app.test_request_context(headers={"Accept-Language": "de"}):
        assert texts.translate("Written after the catalogue.") == "Written after the catalogue."
        assert texts.translate(Message("{n} is new.", n=2)) == "2 is new."


def test_a_message_of_a_user_is_shown_as_text(app: APIFlask, user: SignedInUser) -> None:
    browser = visitor(app)
    browser.send("/sign-in", email=user.email, password=PASSWORD)

    page = browser.send("/save", linkedin_url="https://www.linkedin.com/in/ada", list="<b>Bold</b>")

    assert "<b>Bold</b>" not in page.text
    assert "&lt;b&gt;Bold&lt;/b&gt;" in page.text


def test_a_page_in_german_has_german_numbers_and_plurals(app: APIFlask, user: SignedInUser) -> None:
    browser = visitor(app)
    browser.send("/language", language="de")
    browser.send("/sign-in", email=user.email, password=PASSWORD)

    page = browser.open("/account")

    assert "250 Credits" in page.text
    assert "<h1>Konto</h1>" in page.text
    assert "Sitzungen" in page.text
