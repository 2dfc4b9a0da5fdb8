"""Uploads over the API, with a worker that continues them."""

from __future__ import annotations

import csv
import dataclasses
import io
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from apiflask import APIFlask
from audit_log_support import recorded
from settings_support import change_settings, require_purpose
from sqlalchemy import select
from upload_support import a_list, people
from users_support import SignedInUser, bearer, create_user
from werkzeug.http import parse_options_header
from werkzeug.test import TestResponse

from app.domain.callers import Scope
from app.domain.permissions import Permission
from app.engine.accounts import permissions
from app.engine.jobs.jobs import Job
from app.features.uploads import files, work
from app.features.uploads.tables import Upload, UploadFile, UploadStatus
from app.server.spool import Spool
from workers.execution import job_runner
from workers.execution.worker_services import WorkerServices
from workers.jobs.enrichment_request import enrichment_request

CSV = {"content_type": "text/csv"}


def upload(user: SignedInUser, content: bytes, **headers: str) -> TestResponse:
    path = "/api/uploads?name=people.csv"
    return user.client.post(path, data=content, headers=user.headers | headers, **CSV)


def get(user: SignedInUser, upload_id: str) -> Any:
    return user.client.get(f"/api/uploads/{upload_id}", headers=user.headers).json


def put_mapping(user: SignedInUser, upload_id: str, **body: Any) -> TestResponse:
    return user.client.put(f"/api/uploads/{upload_id}/mapping", json=body, headers=user.headers)


def start(user: SignedInUser, upload_id: str, **body: Any) -> TestResponse:
    return user.client.post(f"/api/uploads/{upload_id}/start", json=body, headers=user.headers)


def priced(user: SignedInUser, services: WorkerServices, content: bytes) -> str:
    """Upload a list and have a worker read and price it; return its id."""
    upload_id: str = upload(user, content).json["id"]  # type: ignore[index]
    work.advance_upload(upload_id, services)
    work.advance_upload(upload_id, services)
    return upload_id


def test_a_list_is_uploaded_mapped_started_and_downloaded(
    user: SignedInUser, services: WorkerServices
) -> None:
    upload_id = priced(user, services, a_list(*people(2)))
    proposed = get(user, upload_id)
    put_mapping(user, upload_id, columns=["full_name", "email", None], fields=["email", "phone"])
    work.advance_upload(upload_id, services)
    ready = get(user, upload_id)

    started = start(user, upload_id, max_credits=3)
    work.advance_upload(upload_id, services)
    with services.database.reading() as session:
        [job_id] = session.scalars(select(Job.id))
    job_runner.run(job_id, enrichment_request, services)
    result = user.client.get(f"/api/uploads/{upload_id}/result", headers=user.headers)

    assert [(column["field"], column["samples"][0]) for column in proposed["columns"]] == [
        ("full_name", "Ruth Person0"),
        ("work_email", "person.0@acme.com"),
        (None, "note 0"),
    ]
    assert (proposed["status"], proposed["estimate"]["credits_max"]) == ("ready", 2)
    assert (ready["fields"], ready["estimate"]["credits_max"]) == (["email", "phone"], 4)
    assert (started.status_code, started.json["status"]) == (200, "running")  # type: ignore[index]
    rows = list(csv.reader(io.StringIO(result.data.decode("utf-8-sig"))))
    assert [row[6] for row in rows[1:]] == ["not_found", "not_found"]
    assert result.headers["Content-Disposition"] == 'attachment; filename="people - result.csv"'


def test_the_result_is_also_returned_in_pages_of_json(user: SignedInUser, services: WorkerServices) -> None:
    path = f"/api/uploads/{priced(user, services, a_list(*people(3)))}/result?format=json&limit=2"

    first: Any = user.client.get(path, headers=user.headers).json
    second: Any = user.client.get(f"{path}&cursor={first['next_cursor']}", headers=user.headers).json

    assert [row["row"] for row in first["rows"] + second["rows"]] == [1, 2, 3]
    assert first["rows"][0]["outcome"] == "pending"
    assert second["next_cursor"] is None


def test_each_page_of_a_result_is_in_the_audit_log(
    app: APIFlask, user: SignedInUser, services: WorkerServices
) -> None:
    upload_id = priced(user, services, a_list(*people(3)))
    path = f"/api/uploads/{upload_id}/result?format=json&limit=2"
    stranger = create_user(app, email="eve@babbage.example")

    answers = [
        user.client.get(f"{path}&cursor={cursor}", headers=each.headers).status_code
        for each, cursor in ((user, 0), (user, 2), (stranger, 0))
    ]

    exports = [each.object_id for each in recorded(user.database) if each.action == "export.upload"]
    assert (answers, exports) == ([200, 200, 404], [upload_id, upload_id])


def test_a_result_has_no_costs_for_whoever_may_not_see_them(
    user: SignedInUser, services: WorkerServices
) -> None:
    path = f"/api/uploads/{priced(user, services, a_list(*people(1)))}/result"
    with user.database.transaction() as session:
        permissions.set_of_account(session, user.account_id, {Permission.SEE_COSTS: False})

    listed: Any = user.client.get(f"{path}?format=json", headers=user.headers).json
    file = user.client.get(path, headers=user.headers).get_data(as_text=True).lstrip("\ufeff")

    [row] = csv.DictReader(io.StringIO(file))
    assert (listed["rows"][0]["credits"], row["Result credits"], row["Result"]) == (None, "", "pending")


def test_a_file_may_be_a_part_of_a_form(user: SignedInUser) -> None:
    form = {"file": (io.BytesIO(a_list(*people(1))), "lists/prospects.csv")}

    response = user.client.post("/api/uploads", data=form, headers=user.headers)

    assert response.status_code == 201
    assert response.json["file_name"] == "prospects.csv"  # type: ignore[index]


@pytest.mark.parametrize("name", ["Příklad", "名簿", "naïve", "😀", 'a "b"', "a\u200bb", "a;b%0a"])
def test_a_result_is_downloaded_under_the_name_of_its_file(
    user: SignedInUser, services: WorkerServices, name: str
) -> None:
    path = f"/api/uploads?name={quote(name)}.csv"
    sent: Any = user.client.post(path, data=a_list(*people(1)), headers=user.headers, **CSV).json
    work.advance_upload(sent["id"], services)

    result = user.client.get(f"/api/uploads/{sent['id']}/result", headers=user.headers)

    disposition = result.headers["Content-Disposition"]
    assert disposition.isascii()
    assert parse_options_header(disposition)[1]["filename"] == f"{name} - result.csv"


def test_the_name_of_a_file_cannot_change_the_direction_of_what_follows(user: SignedInUser) -> None:
    path = "/api/uploads?name=%E2%80%AEvsc.exe%E2%81%A9"

    sent: Any = user.client.post(path, data=a_list(*people(1)), headers=user.headers, **CSV).json

    assert sent["file_name"] == "vsc.exe"


def test_a_replay_with_the_same_key_returns_the_first_upload_and_another_file_is_refused(
    user: SignedInUser,
) -> None:
    key = {"Idempotency-Key": "one"}
    first = upload(user, a_list(*people(1)), **key)

    replay = upload(user, a_list(*people(1)), **key)
    other = upload(user, a_list(*people(2)), **key)

    assert (replay.status_code, replay.json["id"]) == (200, first.json["id"])  # type: ignore[index]
    assert replay.headers["Idempotent-Replay"] == "true"
    assert other.json["code"] == "idempotency_key_reused"  # type: ignore[index]


def test_a_file_larger_than_other_bodies_is_accepted(user: SignedInUser) -> None:
    content = a_list(*people(20_000))

    response = upload(user, content)

    assert len(content) > 256 * 1024
    assert response.status_code == 201


def test_a_file_over_the_limit_is_refused_with_the_limit(app: APIFlask, user: SignedInUser) -> None:
    change_settings(app, upload_max_mb=1)

    response = upload(user, b"x" * (1 << 20) + b"y" * 20_000)
    slightly = upload(user, b"x" * (1 << 20) + b"y")

    assert (response.status_code, slightly.status_code) == (413, 413)
    assert "at most 1 MB" in response.json["detail"]  # type: ignore[index]


def as_form(content: bytes) -> dict[str, Any]:
    return {"data": {"file": (io.BytesIO(content), "people.csv")}, "content_type": "multipart/form-data"}


def test_a_large_file_is_the_same_as_a_body_and_as_a_part_of_a_form(user: SignedInUser) -> None:
    content = b"name\n" + b"Ada Lovelace\n" * 30_000  # the test client leaves files of forms over 500 kB open

    sent = upload(user, content)
    form = user.client.post("/api/uploads", headers=user.headers, **as_form(content))

    with user.database.reading() as session:
        stored = {
            file.upload_id: files.decrypted(session, file.upload_id, file.content)
            for file in session.scalars(select(UploadFile))
        }
    assert stored == {sent.json["id"]: content, form.json["id"]: content}  # type: ignore[index]


@pytest.fixture
def spool(app: APIFlask, tmp_path: Path) -> Spool:
    """A spool with room for two files of a megabyte."""
    spool = Spool(tmp_path / "spool", 2 << 20)
    app.extensions["services"] = dataclasses.replace(app.extensions["services"], spool=spool)
    return spool


def test_a_large_file_is_received_on_disk_and_its_room_is_free_afterwards(
    user: SignedInUser, spool: Spool
) -> None:
    free = spool.free

    statuses = {upload(user, b"name\n" + b"x" * 700_000).status_code for _ in range(4)}

    assert (statuses, spool.free) == ({201}, free)


def test_a_workspace_with_many_unfinished_files_is_refused_and_another_is_not(
    app: APIFlask, user: SignedInUser, spool: Spool
) -> None:
    another = create_user(app, email="eve@babbage.example")

    with spool.receive(io.BytesIO(), 1 << 20, user.workspace_id):
        refused = upload(user, b"x" * 300_000)
        accepted = upload(another, b"name\n" + b"x" * 300_000)

    assert (refused.status_code, refused.json["code"]) == (429, "rate_limited")  # type: ignore[index]
    assert refused.headers["Retry-After"] == "5"
    assert accepted.status_code == 201


def test_a_folder_that_cannot_be_written_to_is_unavailable(
    app: APIFlask, user: SignedInUser, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    services = app.extensions["services"]
    app.extensions["services"] = dataclasses.replace(services, spool=Spool(tmp_path / "file", 4 << 20))

    response = upload(user, b"x" * 300_000)

    assert (response.status_code, response.json["code"]) == (503, "unavailable")  # type: ignore[index]
    assert upload(user, a_list(*people(1))).status_code == 201  # a short one needs no folder


@pytest.mark.parametrize("sent", [300_000, 10])
def test_a_truncated_file_is_refused(user: SignedInUser, sent: int) -> None:
    length = {"CONTENT_LENGTH": str(2 * sent)}

    response = user.client.post(
        "/api/uploads", data=b"x" * sent, headers=user.headers, environ_overrides=length, **CSV
    )

    assert (response.status_code, response.json["code"]) == (400, "malformed_json")  # type: ignore[index]


@pytest.mark.parametrize(
    ("token", "content_type", "status"), [("ses_unknown", "text/csv", 401), (None, "image/png", 415)]
)
def test_no_byte_of_a_large_body_is_read_before_the_caller_and_its_type_are_known(
    user: SignedInUser, token: str | None, content_type: str, status: int
) -> None:
    stream = io.BytesIO(b"x" * 1_000_000)
    headers = bearer(token) if token else user.headers

    response = user.client.post(
        "/api/uploads",
        input_stream=stream,
        content_length=1_000_000,
        content_type=content_type,
        headers=headers,
    )

    assert response.status_code == status
    assert stream.tell() == 0


def test_other_paths_keep_their_limit(user: SignedInUser) -> None:
    response = user.client.post("/api/ext/lookup", data=b" " * 300_000, headers=user.headers)

    assert response.status_code == 413


@pytest.mark.parametrize(
    ("content", "content_type", "status"),
    [(b"", "text/csv", 422), (b"{}", "application/json", 415), (b"x", "image/png", 415)],
)
def test_a_body_that_is_no_list_is_refused(
    user: SignedInUser, content: bytes, content_type: str, status: int
) -> None:
    response = user.client.post("/api/uploads", data=content, content_type=content_type, headers=user.headers)

    assert response.status_code == status


@pytest.mark.parametrize("columns", [["email"], [None, None, None], ["first_name", None, None]])
def test_a_mapping_that_does_not_fit_or_names_nobody_is_refused(
    user: SignedInUser, services: WorkerServices, columns: list[str | None]
) -> None:
    upload_id = priced(user, services, a_list(*people(1)))

    response = put_mapping(user, upload_id, columns=columns)

    assert (response.status_code, response.json["errors"][0]["pointer"]) == (422, "/columns")  # type: ignore[index]


def test_an_upload_cannot_be_started_before_it_has_a_price(user: SignedInUser) -> None:
    upload_id = upload(user, a_list(*people(1))).json["id"]  # type: ignore[index]

    response = start(user, upload_id)

    assert (response.status_code, response.json["code"]) == (409, "upload_not_ready")  # type: ignore[index]


def test_starting_twice_changes_nothing(user: SignedInUser, services: WorkerServices) -> None:
    upload_id = priced(user, services, a_list(*people(1)))
    start(user, upload_id, max_credits=1)

    again = start(user, upload_id, max_credits=9)

    assert (again.status_code, again.json["max_credits"]) == (200, 1)  # type: ignore[index]


def test_an_upload_that_was_mapped_anew_is_not_started_at_its_earlier_price(
    user: SignedInUser, services: WorkerServices
) -> None:
    upload_id = priced(user, services, a_list(*people(1)))
    seen = get(user, upload_id)
    put_mapping(user, upload_id, columns=[column["field"] for column in seen["columns"]])
    work.advance_upload(upload_id, services)

    refused = start(user, upload_id, revision=seen["revision"])
    started = start(user, upload_id, revision=seen["revision"] + 1)

    assert (refused.status_code, refused.json["code"]) == (409, "upload_not_ready")  # type: ignore[index]
    assert started.status_code == 200


def test_a_deleted_upload_is_gone_at_once(user: SignedInUser, services: WorkerServices) -> None:
    upload_id = priced(user, services, a_list(*people(1)))

    deleted = user.client.delete(f"/api/uploads/{upload_id}", headers=user.headers)

    assert deleted.status_code == 204
    assert get(user, upload_id)["code"] == "upload_not_found"


def test_another_workspace_sees_no_upload(app: APIFlask, user: SignedInUser) -> None:
    upload(user, a_list(*people(1)))
    stranger = create_user(app, email="eve@babbage.example")

    listed: Any = user.client.get("/api/uploads", headers=stranger.headers).json

    assert listed == {"uploads": [], "next_cursor": None}


def test_uploads_are_listed_in_pages_newest_first(user: SignedInUser) -> None:
    ids = [upload(user, a_list(*people(1))).json["id"] for _ in range(3)]  # type: ignore[index]

    first: Any = user.client.get("/api/uploads?limit=2", headers=user.headers).json
    path = f"/api/uploads?limit=2&cursor={first['next_cursor']}"
    second: Any = user.client.get(path, headers=user.headers).json

    assert [one["id"] for one in first["uploads"] + second["uploads"]] == ids[::-1]
    assert second["next_cursor"] is None


def test_a_key_starts_an_upload_in_its_own_name(user: SignedInUser, services: WorkerServices) -> None:
    upload_id = priced(user, services, a_list(*people(1)))
    key = bearer(user.make_key(Scope.ENRICH))

    response = user.client.post(f"/api/uploads/{upload_id}/start", json={}, headers=key)

    assert response.status_code == 200


def test_an_upload_is_started_for_a_purpose(
    app: APIFlask, user: SignedInUser, services: WorkerServices
) -> None:
    require_purpose(app, "*")
    upload_id = priced(user, services, a_list(*people(2)))

    refused, unknown = start(user, upload_id), start(user, upload_id, purpose="fun")
    started = start(user, upload_id, purpose="recruiting")

    assert (refused.status_code, refused.json["code"]) == (422, "purpose_required")  # type: ignore[index]
    assert (unknown.status_code, unknown.json["code"]) == (422, "validation_error")  # type: ignore[index]
    assert (started.status_code, get(user, upload_id)["purpose"]) == (200, "recruiting")
    work.advance_upload(upload_id, services)
    with services.database.reading() as session:
        assert [job.request["purpose"] for job in session.scalars(select(Job))] == ["recruiting"]


def test_a_purpose_that_can_no_longer_be_stated_is_not_used_by_a_continued_upload(
    app: APIFlask, user: SignedInUser, services: WorkerServices
) -> None:
    upload_id = priced(user, services, a_list(*people(2)))
    start(user, upload_id, purpose="recruiting")
    with user.database.transaction() as session:
        session.get_one(Upload, upload_id).status = UploadStatus.PAUSED
    change_settings(app, purposes=("due_diligence",))
    require_purpose(app, "*")

    refused = start(user, upload_id)

    assert (refused.status_code, refused.json["code"]) == (422, "purpose_required")  # type: ignore[index]


def test_a_replayed_start_or_cancellation_changes_nothing(
    user: SignedInUser, services: WorkerServices
) -> None:
    upload_id = priced(user, services, a_list(*people(2)))
    path, key = f"/api/uploads/{upload_id}", user.headers | {"Idempotency-Key": "start"}
    started = user.client.post(f"{path}/start", json={"max_credits": 1}, headers=key)
    cancelled = user.client.post(f"{path}/cancel", headers=user.headers | {"Idempotency-Key": "cancel"})

    again = user.client.post(f"{path}/start", json={"max_credits": 1}, headers=key)
    more = user.client.post(f"{path}/start", json={"max_credits": 2}, headers=key)
    twice = user.client.post(f"{path}/cancel", headers=user.headers | {"Idempotency-Key": "cancel"})

    assert "Idempotent-Replay" not in started.headers
    assert again.headers["Idempotent-Replay"] == twice.headers["Idempotent-Replay"] == "true"
    assert again.json == twice.json == cancelled.json
    assert more.json["code"] == "idempotency_key_reused"  # type: ignore[index]


NATIONAL = b"Name,Mobile,Country\nAda Low,0171 1234567,DE\nBob Ray,0171 7654321,DE\nCy Dee,07911 123456,\n"


def test_the_country_of_numbers_is_told_and_can_be_named_with_the_mapping(
    user: SignedInUser, services: WorkerServices
) -> None:
    upload_id = priced(user, services, NATIONAL)
    guessed = get(user, upload_id)
    body = {"columns": ["full_name", "mobile_phone", "country"], "country": "United Kingdom"}
    named = user.client.put(f"/api/uploads/{upload_id}/mapping", json=body, headers=user.headers).json
    work.advance_upload(upload_id, services)
    priced_again = get(user, upload_id)
    kept = user.client.put(
        f"/api/uploads/{upload_id}/mapping", json={"columns": body["columns"]}, headers=user.headers
    ).json
    removed = user.client.put(
        f"/api/uploads/{upload_id}/mapping", json={**body, "country": None}, headers=user.headers
    ).json

    assert (guessed["country"], guessed["format"]["phones_read_as"]) == (None, "DE")
    assert (named["country"], named["estimate"]) == ("GB", None)  # type: ignore[index]
    assert (priced_again["country"], priced_again["format"]["phones_read_as"]) == ("GB", None)
    assert (priced_again["warnings"], priced_again["estimate"]["people"]) == ([], 3)
    assert (kept["country"], removed["country"]) == ("GB", None)  # type: ignore[index]


def test_the_country_of_numbers_can_be_named_with_the_file(
    user: SignedInUser, services: WorkerServices
) -> None:
    path, content = "/api/uploads?country=gb", b"Name,Mobile\nAda Low,07911 123456\n"
    answer = user.client.post(path, data=content, headers=user.headers, **CSV)
    upload_id = answer.json["id"]  # type: ignore[index]
    work.advance_upload(upload_id, services)
    work.advance_upload(upload_id, services)
    shown = get(user, upload_id)

    assert (answer.json["country"], shown["country"]) == ("GB", "GB")  # type: ignore[index]
    assert (shown["status"], shown["estimate"]["people"], shown["warnings"]) == ("ready", 1, [])


CZECH = "Jméno;Příjmení;E-mail;Poznámka\nJiří;Dvořák;jiri@acme.com;příště\n"


def test_how_a_file_was_read_is_told_and_its_cells_come_back(
    user: SignedInUser, services: WorkerServices
) -> None:
    upload_id = priced(user, services, CZECH.encode("cp1250"))
    shown = get(user, upload_id)
    result = user.client.get(f"/api/uploads/{upload_id}/result", headers=user.headers)

    assert shown["format"] == {
        "encoding": "cp1250",
        "is_guessed": True,
        "other_encoding": None,
        "delimiter": ";",
        "has_header": True,
        "sheet": None,
        "unread_sheets": [],
        "unsolved_formulas": 0,
        "phones_read_as": None,
    }
    assert [column["field"] for column in shown["columns"]] == ["first_name", "last_name", "email", None]
    assert (
        result.data.decode("cp1250").splitlines()[1].startswith('"Jiří";"Dvořák";"jiri@acme.com";"příště";')
    )


def test_how_a_file_is_read_can_be_said(user: SignedInUser, services: WorkerServices) -> None:
    path = "/api/uploads?encoding=cp1252&delimiter=%3B&has_header=false"
    answer = user.client.post(path, data=CZECH.encode("cp1250"), headers=user.headers, **CSV)
    upload_id = answer.json["id"]  # type: ignore[index]
    work.advance_upload(upload_id, services)
    shown = get(user, upload_id)

    assert answer.json["format"] is None  # type: ignore[index]
    assert (shown["format"]["encoding"], shown["format"]["is_guessed"]) == ("cp1252", False)
    assert (shown["format"]["has_header"], shown["rows"]) == (False, 2)
    assert [column["name"] for column in shown["columns"]] == [f"Column {n}" for n in range(1, 5)]
    assert shown["columns"][1]["samples"] == ["Pøíjmení", "Dvoøák"]


@pytest.mark.parametrize(
    "query",
    [
        "encoding=hex",
        "encoding=cp9999",
        "encoding=punycode",
        "encoding=utf-7",
        "encoding=%00",
        "delimiter=:",
        "has_header=maybe",
        "country=Nowhere",
    ],
)
def test_a_file_cannot_be_read_in_a_way_that_does_not_exist(user: SignedInUser, query: str) -> None:
    answer = user.client.post(f"/api/uploads?{query}", data=b"a,b\n", headers=user.headers, **CSV)

    assert answer.status_code == 422


def test_the_first_person_of_a_list_without_a_header_is_kept(
    user: SignedInUser, services: WorkerServices
) -> None:
    upload_id = priced(user, services, b"ada@acme.com\nbob@acme.com\n")
    shown = get(user, upload_id)

    assert (shown["rows"], shown["format"]["has_header"], shown["status"]) == (2, False, "ready")
    assert [column["field"] for column in shown["columns"]] == ["email"]


def test_a_column_whose_values_do_not_fit_its_header_is_not_proposed(
    user: SignedInUser, services: WorkerServices
) -> None:
    content = b"Attendee,Name,Email\n1001,Ada Low,ada@acme.com\n1002,Bob Ray,bob@acme.com\n"
    shown = get(user, priced(user, services, content))

    assert [column["field"] for column in shown["columns"]] == [None, "full_name", "email"]
