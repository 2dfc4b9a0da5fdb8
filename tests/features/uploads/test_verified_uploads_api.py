"""Lists to verify over HTTP and on the pages: what is refused, what they cost, and what comes back."""

from __future__ import annotations

import io
from datetime import timedelta
from typing import Any

import pytest
from apiflask import APIFlask
from fake_providers import FakeProvider, hit
from fake_providers import email as found_email
from page_support import Visitor
from sqlalchemy import select
from users_support import SignedInUser
from worker_harness import make_services

from app.domain.findings import EmailStatus
from app.domain.lists import verified_rows
from app.domain.permissions import Permission
from app.engine.accounts import permissions
from app.engine.jobs.jobs import Job
from app.features.uploads import actions, schemas, work
from app.features.uploads.pages import uploads as uploads_page
from app.features.uploads.tables import Operation
from workers.execution import job_runner
from workers.providers import registry

verification = pytest.importorskip("app.features.verifications.work").verification
PATH = "/api/uploads"
CONTENT = "Name;Mail;Tel\nÄda;ada@acme.com;+49 30 901820\nBob;bob@acme.com;\nEve;;\n".encode()


@pytest.fixture(autouse=True)
def _without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "PAUSE", timedelta(0))


def send(user: SignedInUser, content: bytes = CONTENT, query: str = "?operation=verify") -> Any:
    headers = {**user.headers, "Content-Type": "text/csv"}
    return user.client.post(f"{PATH}{query}", data=content, headers=headers)


def run(app: APIFlask, user: SignedInUser, upload_id: str, turns: int = 3) -> None:
    """Give workers some turns at the upload, and run its jobs."""
    settings = app.extensions["services"].settings
    services = make_services(settings, user.database)
    fake = FakeProvider(lambda request: hit(found_email(str(request.subject.email), EmailStatus.VALID)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "load", lambda _settings: {"one": fake})
        patch.setattr(type(settings), "providers", lambda *_arguments: ("one",))
        for _ in range(turns):
            work.advance_upload(upload_id, services)
            with user.database.reading() as session:
                ids = session.scalars(select(Job.id).where(Job.finished_at.is_(None))).all()
            for job_id in ids:
                job_runner.run(job_id, verification, services)


def call(user: SignedInUser, method: str, path: str, body: Any = None) -> Any:
    return user.client.open(f"{PATH}/{path}", method=method, json=body, headers=user.headers)


def test_a_list_is_verified_over_the_api(app: APIFlask, user: SignedInUser) -> None:
    upload_id = send(user).get_json()["id"]
    run(app, user, upload_id, turns=2)
    ready = call(user, "GET", upload_id).get_json()
    call(user, "POST", f"{upload_id}/start", {"max_credits": 5})

    run(app, user, upload_id)

    done = call(user, "GET", upload_id).get_json()
    page = call(user, "GET", f"{upload_id}/result?format=json").get_json()
    text = call(user, "GET", f"{upload_id}/result").get_data(as_text=True)
    assert (ready["operation"], ready["status"], ready["fields"]) == ("verify", "ready", [])
    assert [column["field"] for column in ready["columns"]] == [None, "email", "phone"]
    assert (ready["estimate"]["credits_max"], ready["estimate"]["invalid"]) == (2, 1)
    summary = "2 addresses to verify for at most 2 credits, 1 number free"
    assert (ready["estimate"]["summary"], done["estimate"]["summary"]) == (summary, summary)
    assert (done["status"], done["credits"]["charged"], done["outcomes"]) == ("finished", 2, {"valid": 2})
    assert done["progress"] == {"done": 2, "total": 2}
    ada, _bob, eve = page["rows"]
    assert (ada["outcome"], ada["phone_line_type"], eve["note"]) == (
        "valid",
        "landline",
        verified_rows.NOTHING_TO_VERIFY,
    )
    assert text.splitlines()[1].startswith('"Äda";"ada@acme.com";"+49 30 901820";"ada@acme.com";"valid"')


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["email", "email", None], verified_rows.CHOSEN_TWICE),
        ([None, None, "country"], verified_rows.NOTHING_CHOSEN),
        (["full_name", "email", None], verified_rows.OTHER_FIELD),
        (["email"], "The list has 3 columns"),
    ],
)
def test_columns_that_cannot_be_verified_are_refused(
    app: APIFlask, user: SignedInUser, columns: list[str | None], message: str
) -> None:
    upload_id = send(user).get_json()["id"]
    run(app, user, upload_id, turns=2)

    refused = call(user, "PUT", f"{upload_id}/mapping", {"columns": columns})

    problem = refused.get_json()
    assert (refused.status_code, problem["errors"][0]["pointer"]) == (422, "/columns")
    assert problem["detail"].startswith(message)


def test_a_fresh_verification_is_asked_for_with_the_mapping(app: APIFlask, user: SignedInUser) -> None:
    upload_id = send(user).get_json()["id"]
    run(app, user, upload_id, turns=2)

    body = {"columns": [None, "email", None], "fresh": True}
    mapped = call(user, "PUT", f"{upload_id}/mapping", body).get_json()
    again = call(user, "PUT", f"{upload_id}/mapping", {"columns": [None, "email", None]}).get_json()

    assert (mapped["fresh"], mapped["fields"], again["fresh"], again["revision"]) == (True, [], True, 2)


def test_a_list_to_verify_skips_nobody(app: APIFlask, user: SignedInUser) -> None:
    upload_id = send(user).get_json()["id"]
    run(app, user, upload_id, turns=2)

    refused = call(user, "POST", f"{upload_id}/start", {"skip": ["owned"]})

    assert (refused.status_code, refused.get_json()["detail"]) == (422, actions.NOBODY_TO_SKIP)


def test_another_operation_is_refused(user: SignedInUser) -> None:
    refused = send(user, query="?operation=count")

    assert (refused.status_code, refused.get_json()["code"]) == (422, "validation_error")


def test_numbers_are_verified_without_the_permission_to_reveal_them(
    app: APIFlask, user: SignedInUser
) -> None:
    with user.database.transaction() as session:
        permissions.set_of_account(session, user.account_id, {Permission.REVEAL_PHONES: False})
    upload_id = send(user, b"Tel\n+4930901820\n").get_json()["id"]
    run(app, user, upload_id, turns=2)

    started = call(user, "POST", f"{upload_id}/start", {})
    run(app, user, upload_id)

    assert started.status_code == 200
    assert call(user, "GET", upload_id).get_json()["outcomes"] == {"valid": 1}


def test_the_start_of_a_finished_upload_is_refused_in_words(
    app: APIFlask, user: SignedInUser, browser: Visitor
) -> None:
    upload_id = send(user, b"Tel\n+4930901820\n").get_json()["id"]
    run(app, user, upload_id, turns=2)
    call(user, "POST", f"{upload_id}/start", {})
    run(app, user, upload_id)

    again = browser.send(f"/uploads/{upload_id}/start")

    assert again.status_code == 409
    assert "This upload was started already" in again.text


def test_whoever_may_not_start_uploads_gets_no_form_for_a_list(user: SignedInUser, browser: Visitor) -> None:
    with user.database.transaction() as session:
        permissions.set_of_account(session, user.account_id, {Permission.START_UPLOADS: False})

    form, uploads = browser.open("/verifications").text, browser.open("/uploads").text

    assert "Choose the columns" not in form
    assert 'type="file"' not in form + uploads
    assert "may not upload lists and start them" in form
    assert "may not upload lists and start them" in uploads


def test_a_list_is_not_verified_without_the_feature_that_verifies(
    user: SignedInUser, browser: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads_page, "OPERATIONS", [Operation.ENRICH])

    form = browser.open("/uploads").text

    assert "Enrich a list" in form
    assert 'value="verify"' not in form
    assert list(schemas.OPERATIONS) == list(Operation)  # with it


def test_a_list_is_verified_on_the_pages_without_scripts(
    app: APIFlask, user: SignedInUser, browser: Visitor
) -> None:
    form = browser.open("/verifications").text
    sent = browser.send("/uploads", operation="verify", file=(io.BytesIO(CONTENT), "people.csv"))
    path = sent.request.path
    upload_id = path.rpartition("/")[2]
    run(app, user, upload_id, turns=2)
    ready = browser.open(path).text
    chosen = browser.send(f"{path}/mapping", operation="verify", columns=["", "email", ""], fresh="true")
    run(app, user, upload_id, turns=1)
    priced = browser.open(path).text
    browser.send(f"{path}/start", max_credits="2")
    run(app, user, upload_id)

    done = browser.open(path).text
    index = browser.open("/uploads").text
    text = browser.open(f"{path}/result").text

    assert 'action="/uploads"' in form
    assert '<option value="phone" selected>Phone</option>' in ready
    assert "full_name" not in ready
    assert "credits at most</dt><dd>2</dd>" in ready
    assert "numbers, free</dt><dd>1</dd>" in ready
    assert "numbers, free</dt><dd>0</dd>" in priced
    assert chosen.status_code == 200
    assert "<dt>valid</dt><dd>2</dd>" in done
    assert verified_rows.NOTHING_TO_VERIFY in done
    assert "Put the people who were found" not in done
    assert "verification" in index
    assert '"Eve";"";"";"";"";"";"";"unreadable";"0";"";' in text
