"""Uploads of lists of which some people are in the CRM of the workspace."""

from __future__ import annotations

from typing import Any

import pytest
from apiflask import APIFlask
from crm_index_support import a_crm, in_crm
from fake_providers import email, hit
from jobs_support import a_workspace, figures
from page_support import ACCEPT, Visitor, visitor
from sqlalchemy import delete, select
from stored_support import own
from upload_support import Uploader, a_list, addresses, people, uploader
from users_support import SignedInUser, create_user
from worker_harness import worker_harness

from app.domain.errors import PurposeRequired
from app.engine.contacts.contacts import Contact
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.enrichments.skips import OWNED, SkipRule, SkipWhen, source_names
from app.engine.jobs.jobs import Job, JobItem
from app.engine.privacy import erasure, erasure_run
from app.features.crm.connections import CrmConnection
from app.features.uploads import choices, work
from app.features.uploads.tables import UploadStatus
from app.infra.database.db import Database
from app.settings import Settings
from workers.execution.worker_services import WorkerServices

HAS_ADDRESS, HAS_NONE, IS_OWNED, IS_NEW = addresses(4)
IN_CRM = [
    {"emails": [HAS_ADDRESS], "name": "Ruth Person0"},
    {"name": "Ruth Person1", "domain": "acme.com", "company": "Acme"},
]
LIST, LIST_IN_CRM = (
    a_list(
        *((name, address, "acme.com") for name, address, _note in people(count)),
        header=("Name", "Work email", "Company domain"),
    )
    for count in (4, 2)
)
RECORD = "https://app.hubspot.com/contacts/4242/record/0-1/1"
SKIP = SkipRule(source_names())
FILL = SkipRule(source_names(), SkipWhen.HAS_FIELD)


@pytest.fixture
def ada(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> Uploader:
    """An account that uploads four people: two are in the CRM, one with an address, and one is owned."""
    ada = uploader(worker_harness(settings, database, monkeypatch))
    fill(ada.harness.database, ada.harness.workspace_id)
    ada.know(*addresses(4))
    with database.transaction() as session:
        owned = session.scalars(select(Contact).where(Contact.full_name == "Ruth Person2")).one()
        own(session, ada.harness.workspace_id, owned, "email")
    return ada


def fill(database: Database, workspace_id: str) -> None:
    with database.transaction() as session:
        in_crm(session, a_crm(session, workspace_id), *IN_CRM)


def balances(ada: Uploader) -> tuple[int, int, int]:
    with ada.harness.database.reading() as session:
        return figures(session, ada.harness.workspace_id)


def outcomes(ada: Uploader, upload_id: str) -> list[str]:
    return [row.outcome for row in ada.results(upload_id)]


def test_the_price_says_who_is_in_the_crm_and_what_each_choice_costs(ada: Uploader) -> None:
    upload = ada.get(ada.ready(LIST))

    assert upload.estimate is not None
    assert upload.estimate["own_records"] == [
        {
            "source": "crm",
            "system": "hubspot",
            "title": "HubSpot",
            "people": 2,
            "with_email": 1,
            "with_phone": 0,
        }
    ]
    assert upload.estimate["choices"] == [
        {
            "name": name,
            "skip": list(rule.sources),
            "skip_when": rule.when,
            "skipped": skipped,
            "to_buy": to_buy,
            "credits_min": 0,
            "credits_max": to_buy,
        }
        for name, rule, skipped, to_buy in (
            ("skip", SKIP, 3, 1),
            ("fill", FILL, 2, 2),
            ("all", SkipRule(), 0, 3),
        )
    ]


@pytest.mark.parametrize(
    ("rule", "expected", "charged"),
    [
        (SKIP, ["skipped", "skipped", "skipped", "found"], 1),
        (FILL, ["skipped", "found", "skipped", "found"], 2),
        (SkipRule(), ["found"] * 4, 3),
        (SkipRule((OWNED,)), ["found", "found", "skipped", "found"], 3),
    ],
)
def test_a_list_skips_those_whom_the_member_chose(
    ada: Uploader, rule: SkipRule, expected: list[str], charged: int
) -> None:
    upload_id = ada.ready(LIST)
    ada.start(upload_id, skip=rule)

    finished = ada.run(upload_id)

    assert (finished.status, outcomes(ada, upload_id)) == (UploadStatus.FINISHED, expected)
    assert (finished.charged, balances(ada)) == (charged, (1000 - charged, 0, charged))


def test_the_result_says_where_a_skipped_person_is(ada: Uploader) -> None:
    upload_id = ada.ready(LIST)
    ada.start(upload_id, skip=SKIP)
    ada.run(upload_id)

    in_the_crm, _other, owned, found = ada.results(upload_id)

    nothing_asked = ", and the request skips such people, so nobody was asked and nothing was charged."
    assert in_the_crm.note == f"This person is in HubSpot{nothing_asked} {RECORD}"
    assert owned.note == f"Your workspace owns these values{nothing_asked}"
    assert found.note is None


def test_the_result_says_which_field_was_not_bought(ada: Uploader) -> None:
    upload_id = ada.ready(LIST)
    ada.find(upload_id, "email", "phone")
    ada.start(upload_id, skip=FILL)
    ada.run(upload_id)

    row = ada.results(upload_id)[0]

    sentence = "HubSpot has the e-mail address of this person, so no other was bought."
    assert (row.outcome, row.email, row.note) == ("not_found", None, f"{sentence} {RECORD}")


def test_jobs_hold_nothing_for_those_who_are_skipped(ada: Uploader) -> None:
    upload_id = ada.ready(LIST)
    ada.start(upload_id, skip=SKIP)

    ada.turn(upload_id)

    assert balances(ada) == (999, 1, 0)


def test_a_list_of_skipped_people_needs_no_credits(
    settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = uploader(worker_harness(settings, database, monkeypatch), balance=0)
    fill(database, ada.harness.workspace_id)
    upload_id = ada.ready(a_list(*people(1)))
    ada.start(upload_id, skip=SKIP)

    finished = ada.run(upload_id)

    assert (finished.status, finished.outcomes) == (UploadStatus.FINISHED, {"skipped": 1})


def test_a_list_of_skipped_people_needs_no_purpose(ada: Uploader) -> None:
    ada.harness.require_purpose("*")
    upload_id = ada.ready(a_list(*people(1)))

    ada.start(upload_id, skip=SKIP)

    assert ada.run(upload_id).outcomes == {"skipped": 1}


def test_a_list_that_skips_in_a_way_of_its_own_needs_a_purpose(ada: Uploader) -> None:
    ada.harness.require_purpose("*")
    upload_id = ada.ready(a_list(*people(1)))

    with pytest.raises(PurposeRequired):
        ada.start(upload_id, skip=SkipRule(("crm",)))


def test_the_people_in_the_crm_of_another_workspace_are_not_skipped(
    settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = uploader(worker_harness(settings, database, monkeypatch))
    with database.transaction() as session:
        other = a_workspace(session)
    fill(database, other)
    upload_id = ada.ready(LIST)
    ada.start(upload_id, skip=SKIP)

    finished = ada.run(upload_id)

    assert finished.estimate is not None
    assert (finished.estimate["own_records"], finished.outcomes) == ([], {"not_found": 4})


def test_who_is_put_into_the_crm_after_the_price_is_skipped_too(ada: Uploader) -> None:
    ada.harness.set_providers(acme=hit(email(IS_NEW)))
    upload_id = ada.ready(LIST)
    ada.start(upload_id, skip=SKIP)
    ada.turn(upload_id)
    with ada.harness.database.transaction() as session:
        in_crm(session, a_crm(session, ada.harness.workspace_id, "pipedrive"), {"emails": [IS_NEW]})

    finished = ada.run(upload_id)

    assert (finished.outcomes, finished.charged) == ({"skipped": 4}, 0)


def test_a_running_list_skips_whom_it_skipped_when_it_was_started(ada: Uploader) -> None:
    upload_id = ada.ready(LIST)
    ada.start(upload_id, skip=SKIP)

    ada.start(upload_id, skip=SkipRule())

    assert ada.run(upload_id).outcomes == {"skipped": 3, "found": 1}


def test_an_erasure_removes_what_was_said_of_a_skipped_person(ada: Uploader) -> None:
    upload_id = ada.ready(LIST)
    ada.start(upload_id, skip=SKIP)
    ada.run(upload_id)
    person = (Identifier("email", HAS_ADDRESS),)

    erasure_run.erase(
        ada.harness.database,
        lambda session: erasure.plan(session, erasure.find_contacts(session, person, ()), person),
    )

    erased, other = ada.results(upload_id)[:2]
    assert (erased.cells, erased.outcome, erased.note) == ((), "suppressed", "The person was erased.")
    assert other.outcome == "skipped"
    with ada.harness.database.reading() as session:
        [item] = session.scalars(select(JobItem).where(JobItem.index == 0))
    assert (item.request, item.result) == ({}, None)


# Over the API and on the page


@pytest.fixture
def user(app: APIFlask) -> SignedInUser:
    user = create_user(app)
    fill(user.database, user.workspace_id)
    return user


@pytest.fixture
def upload_id(user: SignedInUser, services: WorkerServices) -> str:
    """Upload the list, and have it read and priced."""
    created = user.client.post(
        "/api/uploads?name=people.csv", data=LIST, headers=user.headers, content_type="text/csv"
    )
    upload_id: str = created.get_json()["id"]
    work.advance_upload(upload_id, services)
    work.advance_upload(upload_id, services)
    return upload_id


def start(user: SignedInUser, upload_id: str, **body: Any) -> Any:
    return user.client.post(f"/api/uploads/{upload_id}/start", json=body, headers=user.headers)


def get(user: SignedInUser, upload_id: str) -> Any:
    return user.client.get(f"/api/uploads/{upload_id}", headers=user.headers).get_json()


def requests(user: SignedInUser) -> list[dict[str, Any]]:
    with user.database.reading() as session:
        return [job.request for job in session.scalars(select(Job))]


def test_an_upload_is_started_with_the_fields_of_a_choice(
    user: SignedInUser, services: WorkerServices, upload_id: str
) -> None:
    choice = get(user, upload_id)["estimate"]["choices"][1]

    started = start(user, upload_id, skip=choice["skip"], skip_when=choice["skip_when"]).get_json()
    work.advance_upload(upload_id, services)

    assert (started["skip"], started["skip_when"]) == (list(source_names()), "has_field")
    [request] = requests(user)
    assert (request["skip"], request["skip_when"]) == (list(source_names()), "has_field")


def test_without_skip_an_upload_buys_all(
    user: SignedInUser, services: WorkerServices, upload_id: str
) -> None:
    started = start(user, upload_id).get_json()
    work.advance_upload(upload_id, services)

    assert (started["skip"], started["skip_when"]) == ([], "in_source")
    [request] = requests(user)
    assert "skip" not in request


def test_an_unknown_source_does_not_start_an_upload(user: SignedInUser, upload_id: str) -> None:
    response = start(user, upload_id, skip=["sheet"])

    assert response.status_code == 422
    [error] = response.get_json()["errors"]
    assert (error["pointer"], "crm, owned" in error["detail"]) == ("/skip/0", True)
    assert get(user, upload_id)["status"] == "ready"


def test_the_page_says_it_in_a_sentence_and_offers_three_choices(browser: Visitor, upload_id: str) -> None:
    page = browser.open(f"/uploads/{upload_id}").text

    assert "4 people: 2 in HubSpot (1 with an address), 2 to buy for at most 2 credits." in page
    lines = [
        'value="skip" checked data-proposes="2"> Skip them: 2 to buy for at most 2 credits',
        'value="fill" data-proposes="3"> Fill only what is missing: 3 to buy for at most 3 credits',
        'value="all" data-proposes="4"> Enrich all: 4 to buy for at most 4 credits',
    ]
    for line in lines:
        assert f'<input type="radio" name="choice" {line}</label>' in page
    assert 'name="max_credits" type="text" value=""' in page
    assert "Empty: what your choice costs at most" in page


@pytest.mark.parametrize(
    ("language", "summary"),
    [
        ("en", "4 people: 2 in HubSpot (1 with an address), 2 to buy for at most 2 credits"),
        ("de", "4 Personen: 2 in HubSpot (1 mit Adresse), 2 zu kaufen für höchstens 2 Credits"),
    ],
)
def test_the_sentence_is_in_the_reader_s_language(
    browser: Visitor, user: SignedInUser, upload_id: str, language: str, summary: str
) -> None:
    path, accepted = f"/uploads/{upload_id}", {"Accept-Language": language}

    page = browser.client.get(path, headers=ACCEPT | accepted)
    found = user.client.get(f"/api{path}", headers=user.headers | accepted).get_json()

    assert f"<p>{summary}.</p>" in page.text
    assert found["estimate"]["choices"][0]["summary"] == summary


@pytest.mark.parametrize("choice", choices.all_choices())
def test_a_choice_on_the_page_starts_the_upload_with_it(
    browser: Visitor, user: SignedInUser, upload_id: str, choice: choices.Choice
) -> None:
    browser.send(f"/uploads/{upload_id}/start", choice=choice.name)

    started = get(user, upload_id)
    assert started["status"] == "running"
    assert (started["skip"], started["skip_when"]) == (list(choice.rule.sources), choice.rule.when)
    assert started["max_credits"] == {"skip": 2, "fill": 3, "all": 4}[choice.name]


def test_the_maximum_that_is_written_goes_before_the_price_of_the_choice(
    browser: Visitor, user: SignedInUser, upload_id: str
) -> None:
    browser.send(f"/uploads/{upload_id}/start", choice="all", max_credits="1")

    assert get(user, upload_id)["max_credits"] == 1


def test_a_choice_does_not_start_an_upload_without_a_price(
    browser: Visitor, user: SignedInUser, upload_id: str
) -> None:
    columns = ["linkedin_url", *[None] * (len(get(user, upload_id)["columns"]) - 1)]
    user.client.put(f"/api/uploads/{upload_id}/mapping", json={"columns": columns}, headers=user.headers)

    browser.send(f"/uploads/{upload_id}/start", choice="all")

    assert get(user, upload_id)["status"] == "pricing"


def test_a_paused_upload_has_its_choice_selected(
    browser: Visitor, user: SignedInUser, services: WorkerServices, upload_id: str
) -> None:
    browser.send(f"/uploads/{upload_id}/start", choice="fill", max_credits="0")
    work.advance_upload(upload_id, services)

    page = browser.open(f"/uploads/{upload_id}").text

    assert get(user, upload_id)["status"] == "paused"
    assert 'value="fill" checked ' in page
    assert 'name="max_credits" type="text" value="0"' in page


def test_without_anybody_in_an_own_system_the_page_offers_no_choice(
    app: APIFlask, services: WorkerServices
) -> None:
    other = create_user(app, email="eve@other.example")
    created = other.client.post(
        "/api/uploads?name=people.csv", data=LIST, headers=other.headers, content_type="text/csv"
    ).get_json()
    for _ in range(2):
        work.advance_upload(created["id"], services)

    page = visitor(app, other).open(f"/uploads/{created['id']}").text

    assert "4 people: 4 to buy for at most 4 credits." in page
    assert 'name="choice"' not in page
    assert 'name="max_credits" type="text" value="4"' in page
    assert "Empty: no limit but your balance" in page


def test_a_list_goes_on_if_whom_it_skips_has_left_the_crm(ada: Uploader) -> None:
    upload_id = ada.ready(LIST_IN_CRM)
    ada.start(upload_id, skip=SKIP)
    ada.turn(upload_id)
    with ada.harness.database.transaction() as session:
        session.execute(delete(CrmConnection))

    upload = ada.run(upload_id)

    assert (upload.status, upload.reason) == (UploadStatus.FINISHED, None)
    assert outcomes(ada, upload_id) == ["found", "found"]
    assert upload.charged == 2
