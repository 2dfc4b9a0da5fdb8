"""Each request has a budget of SQL statements and transactions, so that its cost does not creep up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import pytest
from apiflask import APIFlask
from local_servers import POSTGRES
from sealed_cards_support import store_card_keys
from settings_support import change_settings
from sqlalchemy import Connection, event, select
from stored_support import a_company, a_contact, a_phone, an_email, own, suppress
from users_support import EMAIL, PASSWORD, SignedInUser, create_user
from worker_harness import deliver, make_services

from app.domain.kinds import Status
from app.domain.normal.hashes import hex_hash, website_hash
from app.engine.contacts.contacts import Contact
from app.engine.contacts.saved import contact_lists, saved_contacts
from app.engine.jobs.jobs import Job
from app.infra import clock
from app.infra.crypto.oprf import OprfKey
from app.infra.database.db import Database
from app.web.sign_in import auth
from workers.execution.worker_services import WorkerServices
from workers.jobs import company_by_hash, leads_by_website_hash, reveal

REGISTERED = (company_by_hash, leads_by_website_hash, reveal)
PROFILE = "https://www.linkedin.com/in/person-{}"
WEBSITE = hex_hash(website_hash("acme.com"))
SubjectOf: TypeAlias = Callable[[int], dict[str, str]]


@dataclass
class Cost:
    """The statements and the written transactions of a request."""

    statements: int = 0
    transactions: int = 0
    sql: list[str] = field(default_factory=list, compare=False)

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.statements + other.statements,
            self.transactions + other.transactions,
            self.sql + other.sql,
        )


@pytest.fixture
def user(app: APIFlask, monkeypatch: pytest.MonkeyPatch) -> SignedInUser:
    monkeypatch.setattr(auth, "RECHECK_AFTER_SECONDS", 60)  # a slow machine must not cost a statement
    return create_user(app)


@pytest.fixture
def people(user: SignedInUser) -> list[Contact]:
    """Fifty contacts of one company, each with a profile, an address and a number."""
    with user.database.transaction() as session:
        company = a_company(session)
        people = []
        for number in range(50):
            person = a_contact(session, company, f"Ada{number} Lovelace", linkedin_url=PROFILE.format(number))
            an_email(session, person, f"ada{number}@acme.com")
            a_phone(session, person, f"+120255501{number:02}")
            people.append(person)
        return people


@pytest.fixture
def services(app: APIFlask, monkeypatch: pytest.MonkeyPatch) -> WorkerServices:
    """Return a worker that has looked already that no workspace has a system of its own."""
    api = app.extensions["services"]
    return replace(make_services(api.settings, api.database), own_records={})


@contextmanager
def counted(database: Database) -> Iterator[Cost]:
    """Count the statements of the block, and its transactions that are not single statements."""
    cost = Cost()

    def statement(_connection: Connection, _cursor: object, sql: str, *_rest: object) -> None:
        if not sql.startswith("BEGIN"):
            cost.statements += 1
            cost.sql.append(sql)

    def commit(_connection: Connection) -> None:
        cost.transactions += 1

    listeners: tuple[tuple[str, Callable[..., None]], ...] = (
        ("before_cursor_execute", statement),
        ("commit", commit),
    )
    targets = [(engine, *listener) for engine in database.engines for listener in listeners]
    for target in targets:
        event.listen(*target)
    yield cost
    for target in targets:
        event.remove(*target)


def request(user: SignedInUser, path: str, body: dict[str, Any]) -> Cost:
    """Send the request, without waiting for its job."""
    api: Database = user.client.application.extensions["services"].database
    with counted(api) as cost:
        response = user.client.post(path, json=body, headers=user.headers | {"Prefer": "respond-async"})
    assert response.status_code in {200, 202}, response.get_json()
    return cost


def run_jobs(services: WorkerServices) -> Cost:
    with services.database.reading() as session:
        waiting = session.scalars(select(Job.id).where(Job.status == Status.QUEUED)).all()
    with counted(services.database) as cost:
        deliver(services, *waiting)
    return cost


def poll(user: SignedInUser) -> Cost:
    """Read the last job, which must be finished."""
    last = user.client.get("/api/ext/jobs?limit=1", headers=user.headers).get_json()["jobs"][0]
    api: Database = user.client.application.extensions["services"].database
    with counted(api) as cost:
        response = user.client.get(f"/api/ext/jobs?id={last['id']}", headers=user.headers)
    assert (response.status_code, response.get_json()["job"]["outcome"]) == (200, "found")
    return cost


def warm_up(user: SignedInUser) -> None:
    """Record the use of the token, which is done once a minute."""
    user.client.get("/api/ext/session", headers=user.headers)


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("field", ["email", "phone"])
def test_the_budget_of_a_reveal_of_a_stored_contact(
    user: SignedInUser, services: WorkerServices, field: str
) -> None:
    warm_up(user)

    submitted = request(user, f"/api/ext/reveal/{field}", {"subject": {"linkedin_url": PROFILE.format(1)}})
    ran = run_jobs(services)

    # The response without a wait reports the job's progress, for one statement. SQLite writes one table per
    # statement; PostgreSQL holds, acquires and settles in one statement each.
    assert submitted + ran == Cost(11 if POSTGRES else 16, 2)
    # One for what the workspace reported of the values, and one for the do-not-call registers.
    assert poll(user) == Cost(4 if field == "phone" else 3, 0)


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize(
    ("path", "statements", "any_suppressed"),
    [
        ("/api/ext/company-by-hash", 7, False),
        ("/api/ext/company-by-hash", 9, True),
        ("/api/ext/leads-by-website-hash", 9, False),
        ("/api/ext/leads-by-website-hash", 9, True),
    ],
)
def test_the_budget_of_a_hash_lookup(
    user: SignedInUser, services: WorkerServices, path: str, statements: int, *, any_suppressed: bool
) -> None:
    """A response that waits for the job takes one statement less, the one that reads the job's calls."""
    warm_up(user)
    if any_suppressed:
        with user.database.transaction() as session:
            suppress(session, "email", "ada1@acme.com")

    cost = request(user, path, {"hash": WEBSITE}) + run_jobs(services)

    assert cost == Cost(statements, 2)
    # The first page of leads in five seconds asks whether any workspace has a CRM, and an address book.
    assert poll(user) == Cost(4 if "leads" in path else 2, 0)


@pytest.mark.parametrize("companies", [1, 100])
@pytest.mark.parametrize(("is_keyed", "statements"), [(False, 8), (True, 9)])
def test_the_budget_of_a_lookup_by_prefix_does_not_depend_on_the_number_of_companies(
    app: APIFlask, user: SignedInUser, companies: int, statements: int, *, is_keyed: bool
) -> None:
    """A keyed one takes a statement more, which reads the card keys."""
    seed, digest = bytes(32), website_hash("company-0.com")
    change_settings(app, hash_prefix_length=1, company_filter_oprf_key=seed if is_keyed else None)
    key = OprfKey.derive(seed) if is_keyed else None
    domains = [f"company-{number}.com" for number in range(companies)]
    with user.database.transaction() as session:
        for domain in domains:
            a_company(session, domain, domain=domain)
        if key:
            store_card_keys(session, key, *map(website_hash, domains))
    warm_up(user)
    body = {"prefix": digest.hex()[0]}
    if key:
        body = {"prefix": key.output(digest).hex()[0], "key": key.public.hex()}
    services = make_services(app.extensions["services"].settings, user.database)

    cost = request(user, "/api/ext/company-by-hash", body) + run_jobs(services)

    assert cost == Cost(statements, 2)


@pytest.mark.usefixtures("people")
def test_the_budget_of_a_lookup_does_not_depend_on_the_number_of_subjects(user: SignedInUser) -> None:
    warm_up(user)
    subjects = [{"linkedin_url": PROFILE.format(number)} for number in range(50)]
    request(
        user, "/api/ext/lookup", {"subject": subjects[0]}
    )  # asks whether any workspace has a CRM, and an address book

    single = request(user, "/api/ext/lookup", {"subject": subjects[0]})
    batch = request(user, "/api/ext/lookup", {"subjects": subjects})

    # The token, the people, what is stored of them, the suppressions and exclusions.
    assert single == batch == Cost(4, 0)


@pytest.mark.usefixtures("people")
def test_above_the_limit_of_reverse_lookups_the_statements_do_not_depend_on_what_is_stored(
    user: SignedInUser,
) -> None:
    warm_up(user)
    with user.database.transaction() as session:
        suppress(session, "email", "ada2@acme.com")
    tried = [{"email": f"nobody{number}@acme.com"} for number in range(5)]
    request(user, "/api/ext/lookup", {"subjects": tried})

    costs = [
        request(user, "/api/ext/lookup", {"subject": {"email": address}})
        for address in ("ada1@acme.com", "ada2@acme.com", "other@acme.com")
    ]

    # The last one checks the address that the caller has given against the workspace's own exclusions.
    assert costs == [Cost(6, 0)] * 3
    assert costs[0].sql == costs[1].sql == costs[2].sql


def test_the_budget_of_a_lookup_by_an_address(user: SignedInUser, people: list[Contact]) -> None:
    warm_up(user)
    with user.database.transaction() as session:
        own(session, user.workspace_id, people[0], "email")
    addresses = ("ada0@acme.com", "ada1@acme.com", "ada1@acme.com")

    costs = [request(user, "/api/ext/lookup", {"subject": {"email": address}}) for address in addresses]

    # Whether the address may be told takes two statements, and counting a new one five and a transaction. The
    # first asks whether any workspace has a CRM, and an address book.
    assert costs == [Cost(8, 0), Cost(11 if POSTGRES else 10, 1), Cost(6, 0)]


@pytest.mark.parametrize("query", ["", "&list=Hot&sort=name"])
def test_the_budget_of_the_contacts_does_not_depend_on_their_number(
    user: SignedInUser, people: list[Contact], query: str
) -> None:
    warm_up(user)
    with user.database.transaction() as session:
        for person in people:
            own(session, user.workspace_id, person, "email")
        saved = saved_contacts.save(session, user.workspace_id, user.account_id, people, now=clock.now())
        contact_list, _ = contact_lists.ensure(session, user.workspace_id, "Hot", now=clock.now())
        contact_lists.add_members(
            session, contact_list.id, [row.id for row in saved.values()], now=clock.now()
        )

    costs = []
    for limit in (1, 50):
        with counted(user.client.application.extensions["services"].database) as cost:
            response = user.client.get(f"/api/contacts?limit={limit}{query}", headers=user.headers)
        assert len(response.get_json()["contacts"]) == limit
        costs.append(cost)

    # The token, the page, the values, the suppressions, the lists, the changes of company.
    assert costs == [Cost(6, 0), Cost(6, 0)]


ITEMS = [{"subject": {"linkedin_url": PROFILE.format(number)}} for number in range(2)]
REQUESTS: list[tuple[str, str, dict[str, Any] | None, Cost]] = [
    ("GET", "/api/ext/session", None, Cost(4, 0)),
    ("POST", "/api/ext/login", {"email": EMAIL, "password": PASSWORD}, Cost(12, 1)),
    ("POST", "/api/ext/logout", {}, Cost(4, 1)),
    ("GET", "/api/ext/jobs", None, Cost(2, 0)),
    (
        "POST",
        "/api/ext/linkedin-save",
        {"profile": {"linkedin_url": PROFILE.format(1), "full_name": "Ada1 Lovelace"}},
        Cost(12 if POSTGRES else 11, 1),
    ),
    (
        "POST",
        "/api/ext/enrichment-request",
        {"entity": "person", "fields": ["email"], "items": ITEMS},
        Cost(14 if POSTGRES else 15, 1),
    ),
    ("POST", "/api/people-searches", {"company_domain": "acme.com"}, Cost(14 if POSTGRES else 15, 1)),
    ("GET", "/api/lists", None, Cost(2, 0)),
    # The token, who is found, their companies, whether anybody is suppressed, the page, its values and lists.
    ("GET", "/api/people?limit=1", None, Cost(10 if POSTGRES else 9, 0)),
    ("GET", "/api/jobs", None, Cost(2, 0)),
    ("GET", "/api/sessions", None, Cost(2, 0)),
    ("DELETE", "/api/sessions", None, Cost(2, 1)),
    ("GET", "/api/keys", None, Cost(2, 0)),
    ("POST", "/api/keys", {"name": "CRM", "scopes": ["lookup"]}, Cost(7, 1)),
    (
        "POST",
        "/api/password",
        {"current_password": PASSWORD, "new_password": "a longer password"},
        Cost(13, 1),
    ),
    ("GET", "/healthz", None, Cost(0, 0)),
]


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize(("method", "path", "body", "budget"), REQUESTS)
def test_the_budget_of_the_other_requests(
    user: SignedInUser, method: str, path: str, body: dict[str, Any] | None, budget: Cost
) -> None:
    warm_up(user)
    api: Database = user.client.application.extensions["services"].database

    with counted(api) as cost:
        response = user.client.open(
            path, method=method, json=body, headers=user.headers | {"Prefer": "respond-async"}
        )

    assert response.status_code < 300, response.get_json()
    assert cost == budget
