"""/api/verifications and its pages: requests, prices, lists and results."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from apiflask import APIFlask
from fake_providers import MISS, FakeProvider, hit
from fake_providers import email as found_email
from local_servers import POSTGRES
from page_support import Visitor, visitor
from sqlalchemy import func, select, update
from stored_support import scans, statements, suppress
from users_support import CREDITS, SignedInUser, create_user
from worker_harness import make_services

from app.domain.findings import EmailStatus
from app.engine.jobs import sweeper
from app.engine.jobs.jobs import Job
from app.features.verifications import lists, requests, work
from app.features.verifications.tables import VerificationJob, VerificationList, VerificationValue
from app.infra import clock
from app.infra.database import database_clock
from workers.execution import job_runner
from workers.providers import registry
from workers.providers.base import ProviderRequest, ProviderResponse

PATH = "/api/verifications"


def post(user: SignedInUser, body: dict[str, Any], **headers: str) -> Any:
    all_headers = user.headers | {"Prefer": "respond-async"} | headers
    return user.client.post(PATH, json=body, headers=all_headers)


def send_list(user: SignedInUser, content: bytes, query: str = "", **headers: str) -> Any:
    all_headers = {**user.headers, "Content-Type": "text/csv", **headers}
    return user.client.post(f"{PATH}/lists{query}", data=content, headers=all_headers)


def get(user: SignedInUser, path: str) -> Any:
    return user.client.get(path, headers=user.headers)


def reply(request: ProviderRequest) -> ProviderResponse:
    """Return valid for Ada, accept_all for Bob, and a miss for others."""
    address = str(request.subject.email)
    statuses = {"ada": EmailStatus.VALID, "bob": EmailStatus.ACCEPT_ALL}
    status = statuses.get(address.partition("@")[0])
    return MISS if status is None else hit(found_email(address, status))


def run_jobs(app: APIFlask, user: SignedInUser) -> None:
    """Run all jobs of the workspace with a verifier."""
    settings = app.extensions["services"].settings
    services = make_services(settings, user.database)
    with user.database.reading() as session:
        ids = session.scalars(select(Job.id).order_by(Job.id)).all()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "load", lambda _settings: {"one": FakeProvider(reply)})
        patch.setattr(type(settings), "providers", lambda *_arguments: ("one",))
        for job_id in ids:
            job_runner.run(job_id, work.verification, services)


@pytest.fixture
def member(app: APIFlask, user: SignedInUser) -> Visitor:
    return visitor(app, user)


def test_a_verification_is_a_job_with_a_receipt(app: APIFlask, user: SignedInUser) -> None:
    body = {"values": ["Ada <ada@acme.com>", "+49 30 901820", "ada@acme.com"], "client_reference": "x"}
    queued = post(user, body).get_json()

    run_jobs(app, user)
    done = get(user, f"/api/ext/jobs?id={queued['job']['id']}").get_json()

    assert (queued["job"]["kind"], queued["credits"]["reserved"]) == ("verification", 1)
    assert (done["job"]["outcome"], done["credits"]["charged"]) == ("found", 1)
    email, phone = done["result"]["items"]
    assert (email["emails"][0]["email"], email["emails"][0]["status"]) == ("ada@acme.com", "valid")
    assert (phone["phones"][0]["country"], phone["credits_charged"]) == ("DE", 0)
    assert done["trace"][0]["field"] == "verification"


def test_the_same_values_again_cost_nothing(app: APIFlask, user: SignedInUser) -> None:
    first = post(user, {"values": ["ada@acme.com"]}).get_json()
    run_jobs(app, user)

    again = post(user, {"values": ["ADA@acme.com"]}).get_json()

    assert (again["job"]["id"], again["credits"]["charged"]) == (first["job"]["id"], 0)
    assert again["credits"]["balance"] == CREDITS - 1


def test_a_known_verdict_is_free_unless_a_fresh_one_is_asked_for(app: APIFlask, user: SignedInUser) -> None:
    post(user, {"values": ["ada@acme.com"]})
    run_jobs(app, user)
    values = {"values": ["ada@acme.com", "bob@globex.com"]}

    estimate = post(user, {**values, "dry_run": True}).get_json()["estimate"]
    queued = post(user, values).get_json()
    fresh = post(user, {**values, "fresh": True}).get_json()
    of_list = send_list(user, b"ada@acme.com\nbob@globex.com\n").get_json()
    fresh_list = send_list(user, b"ada@acme.com\nbob@globex.com\n", "?fresh=true").get_json()
    run_jobs(app, user)

    assert (estimate["credits_max"], estimate["known"]) == (1, 1)
    assert estimate["summary"].startswith("1 address to verify for at most 1 credit, 1 verified before")
    assert (queued["credits"]["reserved"], fresh["credits"]["reserved"]) == (1, 2)
    assert (of_list["credits"]["at_most"], fresh_list["credits"]["at_most"]) == (1, 2)
    listed = get(user, f"{PATH}/{of_list['id']}").get_json()
    assert listed["statuses"] == {"accept_all": 1, "valid": 1}
    assert get(user, f"{PATH}/{fresh_list['id']}").get_json()["credits"]["charged"] == 2


def test_a_fresh_request_joins_an_open_job_and_reuses_no_finished_one(
    app: APIFlask, user: SignedInUser
) -> None:
    body = {"values": ["ada@acme.com"], "fresh": True}
    first, joined = post(user, body).get_json(), post(user, body).get_json()
    run_jobs(app, user)

    again = post(user, body).get_json()

    assert joined["job"]["id"] == first["job"]["id"] != again["job"]["id"]


def test_a_dry_run_queues_nothing(user: SignedInUser) -> None:
    one = post(user, {"values": ["ada@acme.com", "+4930901820"], "dry_run": True}).get_json()
    many = send_list(
        user, b"email\nada@acme.com\nbob@acme.com\nbob@acme.com\nx@y\n", "?dry_run=true&max_credits=1"
    )

    assert one["estimate"] == {
        "summary": "1 address to verify for at most 1 credit, 1 number free",
        "credits_min": 0,
        "credits_max": 1,
        "values": 2,
        "emails": 1,
        "known": 0,
        "phones": 1,
        "duplicates": 0,
        "unreadable": 0,
        "exceeds_balance": False,
    }
    estimate = many.get_json()["estimate"]
    assert (estimate["credits_max"], estimate["values"], estimate["duplicates"]) == (1, 2, 1)
    with user.database.reading() as session:
        assert session.scalars(select(func.count()).select_from(Job)).one() == 0


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"values": ["ada@acme.com", "nobody"]}, "/values/1"),
        ({"values": []}, "/values"),
        ({"values": ["a@acme.com"] * 101}, "/values"),
        ({"values": ["030 901820"]}, "/values/0"),
        ({"values": ["ada@acme.com"], "country": "Atlantis"}, "/country"),
        ({"values": ["ada@acme.com"], "max_credits": -1}, "/max_credits"),
    ],
)
def test_a_request_that_cannot_be_verified_is_refused(
    user: SignedInUser, body: dict[str, Any], pointer: str
) -> None:
    response = post(user, body)

    problem = response.get_json()
    assert (response.status_code, problem["code"]) == (422, "validation_error")
    assert [error["pointer"] for error in problem["errors"]] == [pointer]


def test_a_list_is_verified_in_jobs_and_returned_in_its_order(
    app: APIFlask, user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "JOB_SIZE", 2)
    content = (
        b"phone,email\n,ada@globex.com\n,ada@acme.com\n,cat@acme.com\n"
        b"+4930901820,bob@acme.com\n,ada@acme.com\n"
    )
    created = send_list(user, content)

    [running] = get(user, PATH).get_json()["verifications"]
    run_jobs(app, user)
    list_id = created.get_json()["id"]
    done = get(user, f"{PATH}/{list_id}").get_json()
    rows = get(user, f"{PATH}/{list_id}/result?format=json&limit=4").get_json()
    rest = get(user, f"{PATH}/{list_id}/result?format=json&cursor=4").get_json()
    text = get(user, f"{PATH}/{list_id}/result").get_data(as_text=True)

    assert (created.status_code, running["status"], running["credits"]["reserved"]) == (201, "running", 4)
    assert (done["status"], done["done"], done["duplicates"]) == ("finished", 5, 1)
    assert done["credits"] == {"charged": 3, "reserved": 0, "at_most": 4}
    assert done["statuses"] == {"valid": 2, "accept_all": 2, "unknown": 1}
    assert [(row["line"], row["value"], row["status"]) for row in rows["values"]] == [
        (2, "ada@globex.com", "valid"),
        (3, "ada@acme.com", "accept_all"),
        (4, "cat@acme.com", "unknown"),
        (5, "bob@acme.com", "accept_all"),
    ]
    assert (rows["next_cursor"], [row["line_type"] for row in rest["values"]]) == (4, ["landline"])
    assert rest["next_cursor"] is None
    assert text.splitlines()[1].startswith('"2","ada@globex.com","valid","",')


def test_a_domain_that_accepts_all_mail_is_so_in_the_receipts_of_the_later_jobs(
    app: APIFlask, user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "JOB_SIZE", 1)
    list_id = send_list(user, b"bob@acme.com\nada@acme.com\nada@globex.com\n").get_json()["id"]

    run_jobs(app, user)

    values = get(user, f"{PATH}/{list_id}/result?format=json").get_json()["values"]
    receipts = [get(user, f"/api/ext/jobs?id={value['job_id']}").get_json() for value in values]
    in_receipts = [receipt["result"]["items"][0]["emails"][0]["status"] for receipt in receipts]
    assert in_receipts == [value["status"] for value in values] == ["accept_all", "accept_all", "valid"]


def test_a_value_whose_job_ended_without_a_verdict_is_unknown(
    user: SignedInUser,
) -> None:
    list_id = send_list(user, b"ada@acme.com\n").get_json()["id"]
    before = get(user, f"{PATH}/{list_id}").get_json()["statuses"]
    with user.database.transaction() as session:
        job_id = session.scalars(select(VerificationJob.job_id)).one()
        sweeper.cancel(session, job_id, now=clock.now())

    after = get(user, f"{PATH}/{list_id}").get_json()["statuses"]

    assert (before, after) == ({"pending": 1}, {"unknown": 1})


def test_a_list_is_deleted_at_the_age_at_which_its_jobs_are_redacted(
    app: APIFlask, user: SignedInUser
) -> None:
    old, new = (send_list(user, content).get_json()["id"] for content in (b"a@acme.com\n", b"b@acme.com\n"))
    days = app.extensions["services"].settings.job_retention_days
    with user.database.transaction() as session:
        made = update(VerificationList).where(VerificationList.id == old)
        session.execute(made.values(created_at=clock.now() - timedelta(days=days + 1)))

    [purge] = work.WORK.purges_in_batches(app.extensions["services"].settings, database_clock.now())
    with user.database.transaction() as session:
        counts = [purge(session), purge(session)]

    with user.database.reading() as session:
        left = session.scalars(select(VerificationValue.list_id)).all()
    listed = [row["id"] for row in get(user, PATH).get_json()["verifications"]]
    assert (counts, left, listed) == ([1, 0], [new], [new])


@pytest.mark.skipif(POSTGRES is not None, reason="reads SQLite's plans")
def test_the_purge_reads_no_list_that_is_kept(user: SignedInUser) -> None:
    with user.database.transaction() as session:
        with statements(session.get_bind()) as seen:  # type: ignore[arg-type]
            lists.purge_expired(session, before=clock.now())

        assert len(seen) == 1
        assert scans(session, seen) == []


def test_a_list_costs_at_most_what_is_allowed(app: APIFlask, user: SignedInUser) -> None:
    created = send_list(user, b"ada@acme.com\nada@globex.com\n", "?max_credits=1").get_json()
    run_jobs(app, user)

    done = get(user, f"{PATH}/{created['id']}").get_json()

    assert (done["credits"]["charged"], done["statuses"]) == (1, {"valid": 1, "unknown": 1})


def test_a_list_that_the_balance_does_not_cover_is_refused_and_stores_nothing(user: SignedInUser) -> None:
    content = b"".join(b"a%d@acme.com\n" % number for number in range(CREDITS + 1))

    response = send_list(user, content)

    problem = response.get_json()
    assert (response.status_code, problem["code"]) == (402, "insufficient_credits")
    assert problem["required"] == CREDITS + 1
    with user.database.reading() as session:
        assert session.scalars(select(func.count()).select_from(VerificationList)).one() == 0


def test_the_lists_are_read_in_pages_newest_first(user: SignedInUser) -> None:
    ids = [send_list(user, address).get_json()["id"] for address in (b"ada@acme.com\n", b"bob@acme.com\n")]

    first = get(user, f"{PATH}?limit=1").get_json()
    rest = get(user, f"{PATH}?limit=1&cursor={first['next_cursor']}").get_json()

    shown = [one["id"] for page in (first, rest) for one in page["verifications"]]
    assert (shown, rest["next_cursor"]) == (ids[::-1], None)


def test_a_replay_returns_the_list_and_creates_none(user: SignedInUser) -> None:
    first = send_list(user, b"ada@acme.com\n", **{"Idempotency-Key": "k1"})
    replay = send_list(user, b"ada@acme.com\n", **{"Idempotency-Key": "k1"})
    other = send_list(user, b"bob@acme.com\n", **{"Idempotency-Key": "k1"})

    assert (replay.status_code, replay.headers["Idempotent-Replay"]) == (200, "true")
    assert replay.get_json()["id"] == first.get_json()["id"]
    assert other.get_json()["code"] == "idempotency_key_reused"
    with user.database.reading() as session:
        assert session.scalars(select(func.count()).select_from(VerificationJob)).one() == 1


@pytest.mark.parametrize(
    ("content", "message"), [(b"a,b\nx,y\n", "Name the columns"), (b"email\nx@y\n", requests.NOTHING)]
)
def test_a_file_with_nothing_to_verify_is_refused(user: SignedInUser, content: bytes, message: str) -> None:
    response = send_list(user, content)

    assert response.status_code == 422
    assert message in response.get_json()["detail"]


def test_another_workspace_does_not_see_the_list(app: APIFlask, user: SignedInUser) -> None:
    list_id = send_list(user, b"ada@acme.com\n").get_json()["id"]
    stranger = create_user(app, email="grace@other.example")

    statuses = [
        get(stranger, path).status_code
        for path in (f"{PATH}/{list_id}", f"{PATH}/{list_id}/result", f"{PATH}/vrf_x")
    ]

    assert statuses == [404, 404, 404]
    assert get(stranger, PATH).get_json()["verifications"] == []


def test_a_person_who_opted_out_is_not_named(app: APIFlask, user: SignedInUser) -> None:
    with user.database.transaction() as session:
        suppress(session, "email", "ada@acme.com")
    list_id = send_list(user, b"ada@acme.com\n+4930901820\n").get_json()["id"]

    run_jobs(app, user)

    rows = get(user, f"{PATH}/{list_id}/result?format=json").get_json()["values"]
    assert ("", "suppressed", 0) in [(row["value"], row["status"], row["credits"]) for row in rows]
    assert "ada@acme.com" not in str(rows)


def test_values_are_verified_on_the_page_without_scripts(
    app: APIFlask, user: SignedInUser, member: Visitor
) -> None:
    receipt = member.send("/verifications", values="ada@acme.com\r\n030 901820\r\n", country="DE")
    run_jobs(app, user)

    done, history = member.open(receipt.request.path).text, member.open("/history").text

    assert receipt.status_code == 200
    assert "In progress" in receipt.text
    assert receipt.request.path.startswith("/history/job_")
    assert re.findall('<span class="badge ?(?:good)?">([^<]+)</span>', done)[:3] == [
        "Finished",
        "Verified",
        "Assigned",
    ]
    assert "Germany, Landline" in done
    assert "2 addresses and numbers" in done
    assert "2 addresses and numbers" in history
    assert ">Found<" not in history
    assert "ada@acme.com" in done
    assert "+49 30 901820" in done
    assert 'action="/reports"' not in done  # the workspace has not bought them


def test_an_unknown_address_is_said_to_be_free(app: APIFlask, user: SignedInUser, member: Visitor) -> None:
    receipt = member.send("/verifications", values="nobody@acme.com")
    run_jobs(app, user)

    done, history = member.open(receipt.request.path).text, member.open("/history").text

    assert "No verifier could tell, so nothing was charged." in done
    assert '<h1 dir="auto">Verification</h1>' in done.replace("\n", "")
    assert "not stored" not in done + history


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"values": ""}, "Enter at least one"),
        ({"values": "a@acme.com\n" * 101}, "at most 100"),
        ({"values": "nobody"}, "nobody: "),
        ({"values": "ada@acme.com", "country": "Atlantis"}, "country"),
    ],
)
def test_what_cannot_be_verified_is_explained_on_the_page(
    member: Visitor, fields: dict[str, str], message: str
) -> None:
    page = member.send("/verifications", **fields)

    assert page.status_code == 422
    assert message in page.text


def test_too_few_credits_are_explained_on_the_page(member: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "hold_of", lambda *_arguments: CREDITS + 1)

    typed = member.send("/verifications", values="ada@acme.com")

    assert typed.status_code == 402
    assert "Not enough credits" in typed.text


def test_a_list_of_the_api_is_shown_on_its_page(app: APIFlask, user: SignedInUser, member: Visitor) -> None:
    content = b"email,phone\nada@globex.com,+4930901820\nbob@acme.com,\nx@y,\n"
    path = f"/verifications/{send_list(user, content).get_json()['id']}"
    running = member.open(path).text
    run_jobs(app, user)

    done = member.open(path).text
    index = member.open("/verifications").text
    text = member.open(f"{path}/download").text

    assert "In progress" in running
    assert "<dt>valid</dt><dd>2</dd>" in done
    assert "<dt>not readable</dt><dd>1</dd>" in done
    assert "Domain accepts all mail" in done
    assert path in index
    assert '"2","ada@globex.com","valid"' in text
