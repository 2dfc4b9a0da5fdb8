"""The language of mails: the account's, or that of the request, or English."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from apiflask import APIFlask
from inbox_support import running_inbox
from page_support import Visitor, visitor
from settings_support import change_settings
from sqlalchemy import select
from users_support import PASSWORD, SignedInUser, create_user
from worker_harness import WorkerHarness, worker_harness

from app.engine.accounts.accounts import Account
from app.engine.work.items import WorkItem
from app.features.password_resets.work import mail_reset
from app.features.privacy_requests.work import mail_code
from app.infra.database.db import Database
from app.settings import Settings

MAIL = {"smtp_url": "smtp://127.0.0.1:1", "mail_from": "a@acme.example", "public_url": "http://localhost"}
RESETS = {
    "en": ("A new password for Contact lookup", "Open this link within an hour"),
    "de": ("Ein neues Passwort für die Kontaktsuche", "Öffnen Sie diesen Link"),
    "fr": ("Un nouveau mot de passe pour la recherche de contacts", "Ouvrez ce lien"),
    "es": ("Una contraseña nueva para la búsqueda de contactos", "Abra este enlace"),
}
CODES = {"en": "Your code: ", "de": "Ihr Code: ", "fr": "Votre code\xa0: ", "es": "Su código: "}


@pytest.fixture
def user(app: APIFlask) -> SignedInUser:
    change_settings(app, **MAIL)
    return create_user(app)


@pytest.fixture
def harness(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> WorkerHarness:
    harness = worker_harness(settings, database, monkeypatch)
    harness.change_settings(**MAIL)
    return harness


def mailed(
    harness: WorkerHarness, task: Callable[..., object], request: Callable[[], object]
) -> tuple[str, str, str]:
    """Return the subject, the language and the text of the message that the request leads to."""
    request()
    with harness.database.reading() as session:
        [work_id] = session.scalars(select(WorkItem.id).where(WorkItem.due_at.is_not(None))).all()
    with running_inbox() as inbox:
        harness.change_settings(smtp_url=inbox.url)
        task(work_id, harness.services)
    [message] = inbox.messages
    return str(message["Subject"]), str(message["Content-Language"]), message.get_content()


def asking(browser: Visitor, path: str, email: str, accepted: str) -> Callable[[], object]:
    return lambda: browser.send(path, headers={"Accept-Language": accepted}, email=email)


def choose(browser: Visitor, language: str) -> None:
    browser.client.post("/language", data={"language": language}, headers={"Sec-Fetch-Site": "same-origin"})


def chosen(user: SignedInUser) -> str | None:
    with user.database.reading() as session:
        return session.get_one(Account, user.account_id).language


@pytest.mark.parametrize(("accepted", "language"), [(name, name) for name in RESETS] + [("pl", "en")])
def test_a_reset_is_in_the_language_of_the_request(
    app: APIFlask, user: SignedInUser, harness: WorkerHarness, accepted: str, language: str
) -> None:
    request = asking(visitor(app), "/sign-in/forgotten", user.email, accepted)

    subject, written, text = mailed(harness, mail_reset, request)

    assert (subject, written) == (RESETS[language][0], language)
    assert RESETS[language][1] in text
    assert "http://localhost/sign-in/reset?token=" in text
    assert max(map(len, text.splitlines())) < 100


def test_the_language_that_the_user_chose_counts_more(
    app: APIFlask, user: SignedInUser, harness: WorkerHarness
) -> None:
    choose(visitor(app, user), "es")
    request = asking(visitor(app), "/sign-in/forgotten", user.email, "fr")

    subject, written, _text = mailed(harness, mail_reset, request)

    assert (subject, written) == (RESETS["es"][0], "es")
    session = user.client.get("/api/ext/session", headers=user.headers).get_json()
    assert session["account"]["language"] == "es"


@pytest.mark.parametrize(("accepted", "language"), [(name, name) for name in CODES] + [("pl", "en")])
def test_a_code_is_in_the_language_of_the_request(
    app: APIFlask, user: SignedInUser, harness: WorkerHarness, accepted: str, language: str
) -> None:
    request = asking(visitor(app), "/privacy", "stranger@babbage.example", accepted)

    subject, written, text = mailed(harness, mail_code, request)

    code = subject.removeprefix(CODES[language])
    assert (len(code), written) == (14, language)
    assert code in text


def test_a_code_for_the_address_of_an_account_is_in_its_language(
    app: APIFlask, user: SignedInUser, harness: WorkerHarness
) -> None:
    choose(visitor(app, user), "de")

    subject, written, _text = mailed(harness, mail_code, asking(visitor(app), "/privacy", user.email, "fr"))

    assert (subject.startswith("Ihr Code: "), written) == (True, "de")


def test_a_choice_before_the_sign_in_becomes_the_account_s_unless_it_has_one(
    app: APIFlask, user: SignedInUser
) -> None:
    first, second = visitor(app), visitor(app)
    choose(first, "fr")
    first.send("/sign-in", email=user.email, password=PASSWORD)
    choose(second, "de")
    second.send("/sign-in", email=user.email, password=PASSWORD)

    assert chosen(user) == "fr"


def test_a_browser_whose_session_has_ended_keeps_the_choice_itself(app: APIFlask, user: SignedInUser) -> None:
    browser = visitor(app, user)
    user.client.post("/api/ext/logout", headers=user.headers)

    choose(browser, "de")

    assert chosen(user) is None
    assert '<html lang="de">' in browser.open("/sign-in").text
