"""The operations of the service that are measured, each against one filled database."""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any, TypeAlias

from sqlalchemy import delete, select, update
from werkzeug.test import TestResponse

from app import settings as app_settings
from app.domain.kinds import Queue
from app.domain.normal.hashes import hex_hash, website_hash
from app.engine.accounts import accounts, sessions
from app.engine.audit import audits, rule_checks
from app.engine.contacts.emails import Email
from app.engine.jobs.jobs import Job
from app.engine.ledger import reveals
from app.engine.ledger.reveals import Reveal
from app.factory import create_app
from app.features.quality import due_verifications
from app.features.quality import work as reverification
from app.features.quality.tables import Verification
from app.features.webhooks import work as webhooks
from app.infra import clock
from app.infra.broker.job_notifications import JobNotifier
from app.infra.broker.queue import JobPublisher
from app.infra.database import database_clock
from benchmarks.growth import fill
from benchmarks.growth.fill import Size
from workers.execution import job_runner, work
from workers.execution.job_runner import Message
from workers.execution.worker_services import WorkerServices
from workers.jobs import (  # noqa: F401 -- the tasks of the others are registered by the import
    audit,
    company_by_hash,
    leads_by_website_hash,
    reveal,
    upkeep,
)

Operation: TypeAlias = Callable[[], object]
UNLIMITED = "1000000/second"
PREFIX_LENGTH = 4
"""With the default of 2, a response has 1/256 of all companies, so that its time grows with their number."""
COMPLETE_AUDIT, VERIFICATIONS = "complete audit", "verifications due"
READ_EVERYTHING = frozenset({COMPLETE_AUDIT})
"""Steps whose time grows with the tables: `flask audit ledger` checks every row."""
EXPIRED = 20
"""The addresses that are due at each claim."""
WARM_UP = 3
"""How often an operation is executed before it is measured, and the number of people of repeated lookups."""
_PEOPLE = 20_000
"""How many people are chosen at random for the requests of one kind."""
_EARLIER_LOOKUPS = 1_000
"""The lookups by profile, by e-mail and by name that a service answers before it is measured."""
_SEED = 1


class Service:
    """The API and a worker in this process, with a signed-in account of a workspace that has many jobs."""

    def __init__(self, database_url: str, redis_url: str, size: Size) -> None:
        settings = dataclasses.replace(
            app_settings.load(),
            database_url=database_url,
            redis_url=redis_url,
            limit_lookup=UNLIMITED,
            limit_spend=UNLIMITED,
            limit_write=UNLIMITED,
            limit_read=UNLIMITED,
            hash_prefix_length=PREFIX_LENGTH,
            reverse_lookups_per_domain=app_settings.MAX_REVERSE_LOOKUPS,
            reverse_lookups_per_workspace=app_settings.MAX_REVERSE_LOOKUPS,
        )
        app = create_app(settings)
        self.api = app.extensions["services"]
        self.worker = WorkerServices(
            settings, self.api.database, JobPublisher(redis_url), JobNotifier(redis_url)
        )
        self._client = app.test_client()
        self._headers = {"Authorization": f"Bearer {self._sign_in()}", "Prefer": "respond-async"}
        # People with a valid address and a number, but not the same in a measurement as before it.
        self._others = _in_random_order(range(size.large + 2, size.contacts, 10))
        self._in_large = _in_random_order(range(2, size.large, 10))
        self._asked_by_others = _in_random_order(range(size.large + 4, size.contacts, 10))
        self._known = itertools.cycle(range(size.large + 6, size.large + 6 + 10 * WARM_UP, 10))
        self._due: set[str] = set()
        self._size = size

    def answer_others(self) -> None:
        """Look up other people, as a service does that has run for some minutes.

        What all lookups read is then in memory, such as the index of the suppressions, and most of what
        belongs to one person is not.
        """
        for _ in range(_EARLIER_LOOKUPS):
            self._look_up(profile(next(self._asked_by_others)))
            self._look_up({"email": self._email(next(self._asked_by_others))})
            self._look_up(self.named(next(self._asked_by_others)))

    def close(self) -> None:
        """Close the connections."""
        self.api.listener.close()
        self.api.database.close()

    def look_up_many(self, subjects: list[dict[str, str]]) -> list[dict[str, Any]]:
        """Return the results of the lookup of several people in one request."""
        results: list[dict[str, Any]] = self._post("lookup", {"subjects": subjects}).get_json()["results"]
        return results

    def operations(self) -> dict[str, Operation]:
        """Return the operations by name."""
        return self._requests() | self._requests_about_a_large_company() | self._periodic_steps()

    def prepare(self, name: str) -> None:
        """Prepare an execution of the operation; this is not measured."""
        if name == VERIFICATIONS:
            self._expire_addresses()

    def _requests(self) -> dict[str, Operation]:
        digits = website(1)
        return {
            "session": lambda: self._get("session"),
            "lookup by profile": lambda: self._look_up(profile(next(self._others))),
            "lookup by e-mail": lambda: self._look_up({"email": self._email(next(self._others))}),
            "lookup by name": lambda: self._look_up(self.named(next(self._others))),
            "lookup by profile, repeated": lambda: self._look_up(profile(next(self._known))),
            "lookup by e-mail, repeated": lambda: self._look_up({"email": self._email(next(self._known))}),
            "lookup by name, repeated": lambda: self._look_up(self.named(next(self._known))),
            "reveal by profile": lambda: self._reveal("email", profile(next(self._others))),
            "reveal by name": lambda: self._reveal("email", self.named(next(self._others))),
            "reveal of a phone": lambda: self._reveal("phone", profile(next(self._others))),
            "reveal, repeated": lambda: self._reveal("email", profile(self._size.large + 2)),
            "company by hash": lambda: self._run("company-by-hash", {"hash": digits}),
            "company by prefix": lambda: self._run("company-by-hash", {"prefix": digits[:PREFIX_LENGTH]}),
            "leads by hash": lambda: self._run("leads-by-website-hash", {"hash": digits}),
            "latest jobs": lambda: self._get("jobs?limit=20"),
            "failed jobs": lambda: self._get("jobs?status=failed&limit=20"),
            "profile saved": lambda: self._save(next(self._others)),
            "metrics": lambda: self._client.get("/metrics"),
            "readiness": lambda: self._client.get("/readyz"),
        }

    def _requests_about_a_large_company(self) -> dict[str, Operation]:
        """Return requests about company 0, of which the number of people grows with that of contacts."""
        digits = website(0)
        nobody = {"full_name": "Nobody Lastly", "company_domain": "company-0.example"}
        sales, heads = {"department": "sales"}, {"seniority": "vp", "has": "email"}
        return {
            "large company: lookup by name": lambda: self._look_up(self.named(next(self._in_large))),
            "large company: unknown name": lambda: self._look_up(nobody, outcome="none"),
            "large company: reveal by name": lambda: self._reveal("email", self.named(next(self._in_large))),
            "large company: by hash": lambda: self._run("company-by-hash", {"hash": digits}),
            "large company: by prefix": lambda: self._run(
                "company-by-hash", {"prefix": digits[:PREFIX_LENGTH]}
            ),
            "large company: leads": lambda: self._run("leads-by-website-hash", {"hash": digits}),
            "large company: leads in sales": lambda: self._run(
                "leads-by-website-hash", {"hash": digits} | sales
            ),
            "large company: vice presidents": lambda: self._run(
                "leads-by-website-hash", {"hash": digits} | heads
            ),
        }

    def _periodic_steps(self) -> dict[str, Operation]:
        return {
            "sweep of nothing": lambda: upkeep.sweep_once(self.worker),
            "sweep of an expired job": self._sweep,
            "webhooks due": self._deliver,
            "audit due": self._is_audit_due,
            "retention": lambda: upkeep.purge_once(self.worker),
            VERIFICATIONS: self._verify,
            "audit": self._audit,
            COMPLETE_AUDIT: self._audit_everything,
        }

    def _deliver(self) -> None:
        webhooks.wake_finished(self.worker)
        work.send_due(self.worker)

    def _sign_in(self) -> str:
        now = clock.now()
        with self.api.database.transaction() as session:
            account = accounts.create(
                session,
                fill.WORKSPACE,
                email="ada@growth.example",
                name="Ada",
                password_hash="",
                api_access=True,
                now=now,
            )
            return sessions.start(
                session, account.id, network=b"", lifetime=self.api.session_lifetime, now=now
            )[1]

    def _get(self, path: str) -> TestResponse:
        return _ok(self._client.get(f"/api/ext/{path}", headers=self._headers))

    def _post(self, path: str, body: dict[str, Any]) -> TestResponse:
        return _ok(self._client.post(f"/api/ext/{path}", json=body, headers=self._headers))

    def _look_up(self, subject: dict[str, str], *, outcome: str = "matched") -> None:
        result = self._post("lookup", {"subject": subject}).get_json()
        _check(result["outcome"] == outcome, result)

    def _reveal(self, field: str, subject: dict[str, str]) -> None:
        self._run(f"reveal/{field}", {"subject": subject})

    def _run(self, path: str, body: dict[str, Any]) -> None:
        """Submit a job, run it, and read its result."""
        job = self._post(path, body).get_json()["job"]
        if job["finished_at"] is None:
            job_runner.run_next(Message(job["kind"], Queue.INTERACTIVE, [job["id"]], "task"), self.worker)
            job = self._get(f"jobs?id={job['id']}").get_json()["job"]
        _check(job["outcome"] == "found", job)

    def _sweep(self) -> None:
        """End a job that expired while it was queued."""
        job_id = self._post("reveal/email", {"subject": profile(next(self._others))}).get_json()["job"]["id"]
        with self.api.database.transaction() as session:
            session.execute(
                update(Job).where(Job.id == job_id).values(deadline_at=clock.now() - timedelta(seconds=1))
            )
        upkeep.sweep_once(self.worker)
        job = self._get(f"jobs?id={job_id}").get_json()["job"]
        _check(job["status"] == "expired", job)

    def _is_audit_due(self) -> None:
        with self.api.database.reading() as session:
            audits.is_due(session, every=audit.OVERDUE_AGE, now=database_clock.now())

    def _audit(self) -> None:
        with self.api.database.transaction() as session:
            audit_id = audits.add(session, now=database_clock.now())
        audit.audit_once(self.worker, audit_id)
        with self.api.database.reading() as session:
            last = audits.last(session, now=database_clock.now())
        _check(last is not None and last.faults == [], last and last.faults)

    def _audit_everything(self) -> None:
        with self.api.database.reading(no_deadline=True) as session:
            stuck_after, now = rule_checks.stuck_after(self.api.settings), database_clock.value(session)
            faults = [
                fault
                for result in rule_checks.check(session, stuck_after=stuck_after, now=now)
                for fault in result.faults
            ]
        _check(faults == [], faults)

    def _expire_addresses(self) -> None:
        """Make some owned addresses due for verification."""
        self._due = {fill.contact_id(next(self._others)) for _ in range(EXPIRED)}
        email_ids = select(Email.id).where(Email.contact_id.in_(self._due))
        with self.api.database.transaction() as session:
            session.execute(delete(Verification).where(Verification.email_id.in_(email_ids)))
            session.execute(
                update(Email)
                .where(Email.contact_id.in_(self._due))
                .values(verified_at=clock.now() - 2 * self.api.settings.default_max_age)
            )
            session.execute(
                update(Reveal).where(Reveal.contact_id.in_(self._due)).values(verify_at=reveals.AT_ONCE)
            )

    def _verify(self) -> None:
        """Claim the addresses that are due."""
        with self.api.database.transaction() as session:
            claimed = due_verifications.claim(
                session,
                default_max_age=self.api.settings.default_max_age,
                now=database_clock.now(),
                limit=reverification.MAX_ADDRESSES,
            )
        _check(self._due <= {address.contact_id for address in claimed}, claimed)

    def _save(self, person: int) -> None:
        self._post("linkedin-save", {"profile": profile(person)})

    def _company(self, person: int) -> int:
        return 0 if person < self._size.large else 1 + person % self._size.companies

    def _email(self, person: int) -> str:
        return f"first{person % fill.GIVEN_NAMES}.last{person}@company-{self._company(person)}.example"

    def named(self, person: int) -> dict[str, str]:
        """Return the person as the subject of a request, by name and website."""
        name = f"First{person % fill.GIVEN_NAMES} Last{person % fill.FAMILY_NAMES}"
        return {"full_name": name, "company_domain": f"company-{self._company(person)}.example"}


def _in_random_order(people: range) -> Iterator[int]:
    return itertools.cycle(random.Random(_SEED).sample(people, min(len(people), _PEOPLE)))  # noqa: S311 -- not secret


def website(company: int) -> str:
    """Return the hexadecimal hash of the company's website."""
    return hex_hash(website_hash(f"company-{company}.example"))


def profile(person: int) -> dict[str, str]:
    """Return the person as the subject of a request."""
    return {"linkedin_url": f"https://www.linkedin.com/in/person-{person}"}


def _ok(response: TestResponse) -> TestResponse:
    _check(response.status_code in {200, 201, 202}, response.get_json())
    return response


def _check(is_right: bool, answer: object) -> None:  # noqa: FBT001 -- an assertion
    """Raise AssertionError if the answer is wrong: a wrong answer's time means nothing."""
    if not is_right:
        raise AssertionError(f"wrong answer: {answer}")
