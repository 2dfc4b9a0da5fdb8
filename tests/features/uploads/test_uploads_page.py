"""The pages of uploads, as a browser without scripts shows them."""

from __future__ import annotations

import dataclasses
import io
import re
from pathlib import Path
from typing import Any

import pytest
from apiflask import APIFlask
from page_support import Visitor, visitor
from settings_support import change_settings
from sqlalchemy import func, select
from stored_support import a_contact, an_email
from upload_support import a_list, addresses, people
from users_support import SignedInUser, create_user
from werkzeug.test import TestResponse

from app.engine.contacts.saved.contact_lists import ListMember
from app.engine.jobs.jobs import Job
from app.features.uploads import actions, work
from app.server.spool import Spool
from app.web.bodies.received_files import XLSX
from workers.execution import job_runner
from workers.execution.worker_services import WorkerServices
from workers.jobs.enrichment_request import enrichment_request

CSV = a_list(*people(2), ("", "", "nobody"))


def send_file(browser: Visitor, content: bytes, name: str = "people.csv") -> TestResponse:
    return browser.send("/uploads", file=(io.BytesIO(content), name))


def path_of(page: TestResponse) -> str:
    return page.request.path


def advance(services: WorkerServices, path: str, times: int = 2) -> None:
    for _ in range(times):
        work.advance_upload(path.rpartition("/")[2], services)


def ready(browser: Visitor, services: WorkerServices, content: bytes = CSV) -> str:
    """Upload a list, and have it read and priced; return the path of its page."""
    path = path_of(send_file(browser, content))
    advance(services, path)
    return path


def test_a_list_is_uploaded_mapped_started_and_downloaded(browser: Visitor, services: WorkerServices) -> None:
    uploaded = send_file(browser, CSV)
    path = path_of(uploaded)
    advance(services, path)
    priced = browser.open(path)
    mapped = browser.send(f"{path}/mapping", columns=["full_name", "email", ""], fields=["email", "phone"])
    advance(services, path, 1)
    again = browser.open(path)
    started = browser.send(f"{path}/start", max_credits="3")
    advance(services, path, 1)
    with services.database.reading() as session:
        [job_id] = session.scalars(select(Job.id))
    job_runner.run(job_id, enrichment_request, services)
    result = browser.open(f"{path}/result")

    assert "The file is being read" in uploaded.text
    assert "<dd>2</dd>" in priced.text
    assert '<option value="work_email" selected>' in priced.text
    assert "Rows looked up" in mapped.text
    assert "<dd>4</dd>" in again.text
    assert "People finished" in started.text
    assert result.mimetype == "text/csv"
    assert result.data.decode("utf-8-sig").count("\r\n") == 4


def test_a_price_that_another_tab_made_obsolete_is_not_accepted(
    browser: Visitor, services: WorkerServices
) -> None:
    path = ready(browser, services)
    shown = browser.open(path).text
    browser.send(f"{path}/mapping", columns=["full_name", "email", ""], fields=["email", "phone"])
    advance(services, path, 1)

    refused = browser.send(f"{path}/start", max_credits="", revision="0")

    assert 'name="revision" value="0"' in shown
    assert refused.status_code == 409
    assert "mapping was changed" in refused.text
    assert 'name="revision" value="1"' in refused.text


def test_the_people_who_were_found_are_put_on_a_list(
    browser: Visitor, user: SignedInUser, services: WorkerServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "LIST_BATCH", 1)
    with user.database.transaction() as session:
        for address in addresses(2):
            an_email(session, a_contact(session, None, address.partition("@")[0]), address)
    path = ready(browser, services, a_list(*people(2)))
    browser.send(f"{path}/start", max_credits="")
    advance(services, path, 1)
    with services.database.reading() as session:
        [job_id] = session.scalars(select(Job.id))
    job_runner.run(job_id, enrichment_request, services)
    advance(services, path, 1)

    page = browser.send(f"{path}/list", name="Fair")
    again = browser.send(f"{path}/list", name="Fair")
    unnamed = browser.send(f"{path}/list", name=" ")

    assert "2 people are new on the list." in page.text
    with services.database.reading() as session:
        assert session.scalars(select(func.count()).select_from(ListMember)).one() == 2
    assert "0 people are new on the list." in again.text
    assert unnamed.status_code == 422


def test_the_rows_that_name_nobody_are_listed_with_the_reason(
    browser: Visitor, services: WorkerServices
) -> None:
    page = browser.open(ready(browser, services))

    assert "Rows without a result" in page.text
    assert "The row does not identify a person." in page.text


def test_a_mapping_that_names_nobody_is_shown_again_with_the_reason(
    browser: Visitor, services: WorkerServices
) -> None:
    path = ready(browser, services)

    page = browser.send(f"{path}/mapping", columns=["", "", ""], fields=["email"])

    assert page.status_code == 422
    assert "No person can be named by these columns" in page.text


@pytest.mark.parametrize("text", ["many", "-1", "1.5", "9" * 5000])
def test_a_maximum_that_is_no_number_is_refused(
    browser: Visitor, services: WorkerServices, text: str
) -> None:
    page = browser.send(f"{ready(browser, services)}/start", max_credits=text)

    assert page.status_code == 422
    assert 'id="max_credits-error"' in page.text


def test_a_file_that_is_missing_or_too_large_is_refused_beside_the_field(
    app: APIFlask, browser: Visitor
) -> None:
    missing = send_file(browser, b"", "")
    change_settings(app, upload_max_mb=0)
    large = send_file(browser, CSV)

    assert (missing.status_code, large.status_code) == (422, 413)
    assert all('id="file-error"' in page.text for page in (missing, large))


def test_a_large_file_is_uploaded_by_the_form_with_its_other_fields(browser: Visitor) -> None:
    large = b"name;company\n" + b"Ada Lovelace;Acme\n" * 20_000
    content = {"file": (io.BytesIO(large), "people.csv"), "delimiter": ";"}

    page = browser.send("/uploads", **content)

    assert page.status_code == 200
    assert path_of(page).startswith("/uploads/upl_")


def test_a_file_for_which_there_is_no_room_now_is_refused_beside_the_field(
    app: APIFlask, browser: Visitor, tmp_path: Path
) -> None:
    services = app.extensions["services"]
    app.extensions["services"] = dataclasses.replace(services, spool=Spool(tmp_path, 1000))

    page = send_file(browser, b"x" * 300_000)

    assert page.status_code == 503
    assert 'id="file-error"' in page.text


def test_an_upload_is_canceled_and_deleted(browser: Visitor, services: WorkerServices) -> None:
    path = ready(browser, services)

    canceled = browser.send(f"{path}/cancel")
    deleted = browser.send(f"{path}/delete")

    assert "Canceled" in canceled.text
    assert path_of(deleted) == "/uploads"
    assert "The upload is deleted." in deleted.text
    assert browser.open(path).status_code == 404


def test_another_workspace_finds_no_upload(app: APIFlask, browser: Visitor, services: WorkerServices) -> None:
    path = ready(browser, services)
    stranger = visitor(app, create_user(app, email="eve@babbage.example"))

    pages = [stranger.open(path), stranger.open(f"{path}/result"), stranger.send(f"{path}/start")]

    assert [page.status_code for page in pages] == [404, 404, 404]
    assert "people.csv" not in stranger.open("/uploads").text


def test_the_names_of_files_and_their_cells_are_escaped(browser: Visitor, services: WorkerServices) -> None:
    path = path_of(send_file(browser, a_list(("<b>Ada</b>", "ada@acme.com", "x")), "<i>.csv"))
    advance(services, path)

    page = browser.open(path)

    assert "<b>Ada" not in page.text
    assert "<i>.csv" not in page.text


def test_older_uploads_are_on_further_pages(browser: Visitor) -> None:
    for number in range(21):
        send_file(browser, CSV, f"list-{number:02}.csv")

    first = browser.open("/uploads")
    older: Any = re.search(r'href="(/uploads\?before=[^"]+)"', first.text)
    second = browser.open(older[1])

    assert "list-20.csv" in first.text
    assert "list-00.csv" not in first.text
    assert "list-00.csv" in second.text


def test_the_page_says_how_a_file_was_read_if_that_was_guessed(
    browser: Visitor, services: WorkerServices
) -> None:
    czech = ready(browser, services, "Jméno;Příjmení;E-mail\nJiří;Dvořák;j@acme.com\n".encode("cp1250"))
    unsure = ready(browser, services, "Name;Email\nŞtefan Ionescu;s@acme.com\n".encode("cp1250"))
    plain = ready(browser, services, b"ada@acme.com\nbob@acme.com\n")
    ordinary = ready(browser, services)

    text = browser.open(czech).text
    assert "read as Central European (Windows-1250), with semicolons between the cells." in text
    assert "chosen by the words" in text
    assert "say how to read it there" in text
    assert "It may be Baltic (Windows-1257) instead." in browser.open(unsure).text
    assert "without a header; what the columns contain is guessed" in browser.open(plain).text
    assert "say how to read it there" not in browser.open(ordinary).text


def test_how_a_file_is_read_is_chosen_in_the_form(browser: Visitor, services: WorkerServices) -> None:
    file = (io.BytesIO(b"ada@acme.com\nbob@acme.com\n"), "people.csv")
    page = browser.send("/uploads", file=file, encoding="cp1252", delimiter="tab", has_header="true")
    advance(services, path_of(page))
    refused = browser.send("/uploads", file=(io.BytesIO(b"a,b\n"), "people.csv"), encoding="hex")

    text = browser.open(path_of(page)).text
    assert "read as Western European (Windows-1252), with tabs between the cells." in text
    assert "Columns of the file" in text
    assert "Column 1" not in text
    assert refused.status_code == 422
    assert 'id="encoding-error"' in refused.text


def test_the_country_of_numbers_is_said_and_named_before_the_price(
    browser: Visitor, services: WorkerServices
) -> None:
    path = ready(browser, services, b"Name,Mobile,Country\nAda Low,0171 1234567,DE\nCy Dee,07911 123456,\n")
    before = browser.open(path).text
    columns = ["full_name", "mobile_phone", "country"]
    browser.send(f"{path}/mapping", columns=columns, fields=["email"], country="GB")
    advance(services, path)
    after = browser.open(path).text
    refused = browser.send(f"{path}/mapping", columns=columns, fields=["email"], country="Nowhere")

    assert "read as numbers of DE, as most of the list" in before
    assert "read as numbers of" not in after
    assert 'value="GB"' in after
    assert refused.status_code == 422
    assert 'id="country-error"' in refused.text


def test_a_price_above_the_balance_is_said_and_not_proposed(
    browser: Visitor, services: WorkerServices
) -> None:
    rows = b"".join(b"a%d@acme.com\n" % number for number in range(300))

    page = browser.open(ready(browser, services, b"E-mail\n" + rows)).text

    assert "may cost up to 300 credits, and your workspace has 250" in page
    assert re.search(r'id="max_credits"[^>]*value="250"', page)


def test_a_result_is_offered_in_the_other_format_too(browser: Visitor, services: WorkerServices) -> None:
    path = ready(browser, services)

    as_text, as_workbook = browser.open(f"{path}/result"), browser.open(f"{path}/result?format=xlsx")

    assert (as_text.mimetype, as_workbook.mimetype) == ("text/csv", XLSX)
    assert browser.open(f"{path}/result?format=ods").status_code == 404
