"""A schedule of a connected CRM with its list, the providers, and the workers that run it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
from crm_support import TITLES, CrmHarness
from fake_crms import FakeCrm, FakePipedrive, FakeSalesforce, FakeTwenty, FakeZoho
from fake_providers import PAID, FakeProvider, Reply, email, hit, person, phone
from jobs_support import NOW
from sqlalchemy import select, update
from worker_harness import make_services

from app.domain.ids import new_id
from app.domain.purposes import PurposeRule
from app.engine.accounts import accounts
from app.engine.accounts.accounts import Account
from app.engine.accounts.workspaces import Balance, balance
from app.engine.events.events import Event
from app.engine.jobs.jobs import Job
from app.engine.work import turns
from app.engine.work.items import WorkItem
from app.engine.work.turns import Turn
from app.features.crm import connections
from app.features.crm.connections import ConnectionStatus, CrmConnection
from app.features.crm.index.crm_people import RecordKind
from app.features.crm.pushes import PushItem
from app.features.crm.schedules import runs, schedules
from app.features.crm.schedules import work as schedules_work
from app.features.crm.schedules.runs import Step
from app.features.crm.schedules.tables import (
    SCHEDULING,
    CrmSchedule,
    CrmScheduleRecord,
    CrmScheduleRun,
    ScheduleState,
)
from app.infra.database.session import Session
from workers.execution import job_runner
from workers.execution.worker_services import WorkerServices
from workers.jobs.enrichment_request import enrichment_request
from workers.providers import registry
from workers.providers.base import ProviderField, ProviderRequest, ProviderResponse

LISTS = {
    "hubspot": "42",
    "pipedrive": "42",
    "salesforce": "00B5g00000AbCdE",
    "twenty": 'jobTitle[ilike]:"%sales%"',
    "zoho": "4402",
}
"""The id of a list in each CRM."""
MAX_TURNS = 60
SETTINGS: dict[str, Any] = {
    "name": "Customers",
    "kind": RecordKind.CONTACT.value,
    "fields": ["email"],
    "hour": 12,
    "weekday": None,
    "max_people": 100,
    "monthly_credits": 100,
    "refresh_days": None,
    "purpose": None,
}


def answer(request: ProviderRequest) -> ProviderResponse:
    """Answer with the person as asked for, and an address made of the last name."""
    name = request.subject.name or "Ada Lovelace"
    first, _, last = name.partition(" ")
    if request.field is ProviderField.EMAIL:
        return hit(email(f"{last.lower()}@acme.com"))
    return hit(person(full_name=name, first_name=first, last_name=last))


def with_phones(request: ProviderRequest) -> ProviderResponse:
    """Answer as `answer`, and with a number made of the last digit of the name."""
    if request.field is not ProviderField.PHONE:
        return answer(request)
    last = (request.subject.name or "")[-1:]
    return hit(replace(phone(), e164=f"+1617555010{last if last.isdigit() else 1}"))


@dataclass
class Scheduler:
    """A connected CRM whose people are read, and an account that has a list of it enriched."""

    harness: CrmHarness
    vendor: str
    account_id: str
    services: WorkerServices
    schedule_id: str = ""

    @classmethod
    def of(cls, harness: CrmHarness, vendor: str) -> Scheduler:
        """Connect the CRM; its people are not read yet."""
        services = make_services(
            dataclasses.replace(harness.settings, webhook_networks=("127.0.0.1/32",)), harness.database
        )
        harness.turn()
        return cls(harness, vendor, _an_account(harness), services)

    def set_providers(self, monkeypatch: pytest.MonkeyPatch, **replies: Reply) -> dict[str, FakeProvider]:
        """Replace all providers with fakes; return them by name."""
        fakes = {name: FakeProvider(reply, name, terms=PAID) for name, reply in replies.items()}
        monkeypatch.setattr(registry, "load", lambda _settings: fakes)
        order = tuple(replies)
        settings = dataclasses.replace(
            self.services.settings,
            providers_email=order,
            providers_phone=order,
            providers_person=order,
            providers_company=order,
            providers_verification=(),
        )
        self.services = dataclasses.replace(self.services, settings=settings)
        return fakes

    def has(self, *numbers: int, **values: Any) -> list[str]:
        """Store people without an address in the CRM, and put them on the list; return their ids."""
        ids = [a_person(self.harness.crm, number, **values) for number in numbers]
        self.harness.crm.lists.setdefault(LISTS[self.vendor], []).extend(ids)
        return ids

    def write(self, crm_id: str, *, email: str, title: str) -> None:
        """Write an address and a title to a record, as a person does in the CRM."""
        record, name = self.harness.crm.people[crm_id], TITLES[self.vendor]
        addresses: dict[str, Any] = {
            "pipedrive": {"emails": [{"value": email, "primary": True}]},
            "twenty": {"emails": {"primaryEmail": email}},
            "hubspot": {"email": email},
        }
        record.update({name: title, **addresses.get(self.vendor, {"Email": email})})

    def set_prices(self, price: int) -> None:
        """Let every value cost so much."""
        prices = dict.fromkeys(self.services.settings.prices, price)
        settings = dataclasses.replace(self.services.settings, prices=prices)
        self.services = dataclasses.replace(self.services, settings=settings)

    def schedule(self, **settings: Any) -> CrmSchedule:
        """Have the people of the CRM read, and make a schedule of the list."""
        self.harness.read_to_the_end()
        with self.harness.database.transaction() as session:
            connection = connections.get(
                session, self.harness.workspace_id, self.harness.connection_id, lock=True
            )
            made = schedules.create(
                session,
                connection,
                {"list_id": LISTS[self.vendor], **SETTINGS, **settings},
                account_id=self.account_id,
                origin="https://contacts.acme.example/",
                now=self.harness.now,
            )
            self.schedule_id = made.id
        return made

    def at_due_time(self) -> None:
        """Let time pass until the schedule is due."""
        due_at = self.stored().next_at
        assert due_at is not None
        self.harness.now = max(due_at, self.harness.now)

    def submit(self) -> None:
        """Let workers begin the run that is due next, read a list of one page, and submit an enrichment."""
        self.at_due_time()
        self.turn()
        self.harness.later(seconds=60)
        self.turn()

    def turn(self) -> None:
        """Give a worker a turn at the schedule, if it is due."""
        schedules_work.run_schedule(self.schedule_id, self.services)

    def run_jobs(self) -> None:
        """Run the workspace's open enrichments."""
        with self.harness.database.transaction() as session:
            open_ids = session.scalars(select(Job.id).where(Job.finished_at.is_(None))).all()
            session.execute(update(Job).where(Job.id.in_(open_ids)).values(run_after=self.harness.now))
        for job_id in open_ids:
            job_runner.run(job_id, enrichment_request, self.services)

    def run(self) -> CrmScheduleRun:
        """Let workers run the schedule when it is due next until the run ends, with its pushes; return it."""
        self.at_due_time()
        return self.go_on()

    def go_on(self) -> CrmScheduleRun:
        """Let workers continue until no run is under way; return the last run."""
        for _ in range(MAX_TURNS):
            self.turn()
            if self.stored().run_id is None:
                self.harness.turn()
                return self.runs()[-1]
            self.run_jobs()
            self.harness.later(seconds=60)
        raise AssertionError(f"the run does not end: {self.stored().waiting}")

    def run_to_its_stop(self) -> CrmScheduleRun | None:
        """Let workers run the schedule until it stops; return the last run, if there was one."""
        self.at_due_time()
        for _ in range(MAX_TURNS):
            self.turn()
            if self.stored().state != ScheduleState.ACTIVE:
                break
            self.run_jobs()
            self.harness.later(seconds=60)
        self.harness.later(seconds=60)
        self.turn()
        return next(iter(self.runs()[::-1]), None)

    def begin(self) -> Turn:
        """Begin a turn of a worker, which does nothing."""
        with self.harness.database.transaction() as session:
            turn = turns.begin(session, SCHEDULING, self.schedule_id, now=self.harness.now)
        assert turn is not None
        return turn

    def set_status(self, status: ConnectionStatus) -> None:
        with self.harness.database.transaction() as session:
            session.get_one(CrmConnection, self.harness.connection_id).status = status.value

    def require_purpose(self, rule: PurposeRule) -> None:
        """Require a purpose, for the workers and for all sessions."""
        settings = replace(self.services.settings, require_purpose_in=rule.places, purposes=rule.allowed)
        self.services = replace(self.services, settings=settings)
        database = self.harness.database
        database.settings = replace(database.settings, purpose_rule=rule)

    def another_account(self) -> str:
        """Act as another account of the workspace from now on; return its id."""
        self.account_id = _an_account(self.harness)
        return self.account_id

    def stored(self) -> CrmSchedule:
        with self.harness.database.reading() as session:
            return session.get_one(CrmSchedule, self.schedule_id)

    def runs(self) -> list[CrmScheduleRun]:
        with self.harness.database.reading() as session:
            return list(session.scalars(select(CrmScheduleRun).order_by(CrmScheduleRun.id)))

    def records(self) -> list[CrmScheduleRecord]:
        """Return the receipts of all runs."""
        query = select(CrmScheduleRecord).order_by(CrmScheduleRecord.run_id, CrmScheduleRecord.number)
        with self.harness.database.reading() as session:
            return list(session.scalars(query))

    def outcomes(self) -> list[str | None]:
        return [record.outcome for record in self.records()]

    def pushed(self) -> list[PushItem]:
        with self.harness.database.reading() as session:
            return list(session.scalars(select(PushItem).order_by(PushItem.id)))

    def events(self) -> list[Event]:
        with self.harness.database.reading() as session:
            return list(session.scalars(select(Event).order_by(Event.id)))

    def balance(self) -> Balance:
        with self.harness.database.reading() as session:
            return balance(session, self.harness.workspace_id)

    def due_at(self) -> Any:
        """Return when the schedule is due; None without work."""
        with self.harness.database.reading() as session:
            item = session.get(WorkItem, self.schedule_id)
            return None if item is None else item.due_at

    def disable_account(self) -> None:
        with self.harness.database.transaction() as session:
            session.get_one(Account, self.account_id).disabled_at = self.harness.now

    def command(self, what: str) -> None:
        """Pause, resume or run the schedule, as its account does."""
        with self.harness.database.transaction() as session:
            schedule = self._locked(session)
            if what == "pause":
                schedules.pause(session, schedule)
            elif what == "resume":
                schedules.resume(session, schedule, account_id=self.account_id, now=self.harness.now)
            else:
                schedules.run_now(session, schedule, now=self.harness.now)

    def delete(self) -> None:
        with self.harness.database.transaction() as session:
            schedules.delete(session, self._locked(session))

    def disconnect(self) -> None:
        with self.harness.database.transaction() as session:
            connections.delete(session, self.harness.workspace_id, self.harness.connection_id)

    def steps(self, into: list[Step]) -> None:
        """Begin a turn of a worker that is then lost, and add what it was about to do."""
        turn = self.begin()
        with self.harness.database.transaction() as session:
            step = runs.begin(session, turn, now=self.harness.now)
            assert step is not None
            into.append(step)

    def forget_run(self) -> None:
        with self.harness.database.transaction() as session:
            self._locked(session).run_id = None

    def change(self, **settings: Any) -> None:
        with self.harness.database.transaction() as session:
            schedule = self._locked(session)
            schedules.change(session, schedule, settings, now=self.harness.now)

    def _locked(self, session: Session) -> CrmSchedule:
        return schedules.get(
            session, self.harness.workspace_id, self.harness.connection_id, self.schedule_id, lock=True
        )


def _an_account(harness: CrmHarness) -> str:
    with harness.database.transaction() as session:
        return accounts.create(
            session,
            harness.workspace_id,
            email=f"{new_id('acc')}@acme.example",
            name="Kim",
            password_hash="",
            now=NOW,
        ).id


def a_person(crm: FakeCrm, number: int, **values: Any) -> str:
    """Store a person at Acme without an address in the CRM; return the id."""
    last, stamp = f"Person{number}", (NOW - timedelta(days=1)).isoformat(timespec="milliseconds")
    if isinstance(crm, FakeSalesforce):
        id_ = f"003{number:012}AAA"
        crm.companies["001"] = {"Name": "Acme", "Website": "acme.com"}
        person = {"FirstName": "Ada", "LastName": last, "AccountId": "001", "SystemModstamp": stamp}
    elif isinstance(crm, FakeTwenty):
        id_ = f"00000000-0000-4000-8000-{number:012}"
        crm.companies["c-1"] = {"name": "Acme", "domainName": {"primaryLinkUrl": "https://acme.com"}}
        person = {"name": {"firstName": "Ada", "lastName": last}, "companyId": "c-1", "updatedAt": stamp}
    elif isinstance(crm, FakePipedrive):
        id_ = str(number)
        crm.companies["9"] = {"name": "Acme", "website": "acme.com"}
        person = {"name": f"Ada {last}", "org_id": 9, "update_time": stamp}
    elif isinstance(crm, FakeZoho):
        id_ = str(number)
        crm.companies["8"] = {"Account_Name": "Acme"}
        person = {"First_Name": "Ada", "Last_Name": last, "Account_Name": "8", "Modified_Time": stamp}
    else:
        id_ = str(number)
        person = {"firstname": "Ada", "lastname": last, "company": "Acme", "lastmodifieddate": stamp}
    crm.people[id_] = person | values
    return id_
