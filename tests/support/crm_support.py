"""A workspace that is connected to a fake CRM, with people that it owns, and the worker that pushes them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_network
from typing import Any

from fake_crms import TOKEN, FakeCrm, FakeHubSpot, FakePipedrive, FakeSalesforce, FakeTwenty, FakeZoho
from jobs_support import NOW, a_workspace
from sqlalchemy import select
from stored_support import a_company, a_contact, a_phone, an_email, own
from worker_harness import make_services

from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.features.crm import connections, pushes, work
from app.features.crm.connections import Credentials, CrmConnection
from app.features.crm.index.crm_index import CrmIndexRecord
from app.features.crm.index.crm_people import CrmPerson, RecordKind
from app.features.crm.index.readings import CrmReading
from app.features.crm.pushes import PushItem, PushOptions
from app.features.crm.vendors import registry
from app.infra.database.db import Database
from app.settings import Settings
from workers.webhook_client import WebhookClient

LOOPBACK = WebhookClient((ip_network("127.0.0.1/32"),))
FAKES: dict[str, type[FakeCrm]] = {
    "hubspot": FakeHubSpot,
    "pipedrive": FakePipedrive,
    "salesforce": FakeSalesforce,
    "twenty": FakeTwenty,
    "zoho": FakeZoho,
}
TITLES = {
    "hubspot": "jobtitle",
    "pipedrive": "job_title",
    "salesforce": "Title",
    "twenty": "jobTitle",
    "zoho": "Title",
}
"""The property of the title in each CRM."""
CREATION = {
    "hubspot": "/objects/contacts",
    "pipedrive": "/v2/persons",
    "salesforce": "/sobjects/Contact",
    "twenty": "/rest/people",
    "zoho": "/v8/Contacts",
}
"""The end of the path at which each CRM creates people."""
EMAIL = "ada@acme.com"


@dataclass
class CrmHarness:
    """A connected workspace; `now` is the time of the database, which a test sets."""

    database: Database
    settings: Settings
    crm: FakeCrm
    workspace_id: str
    connection_id: str
    now: datetime = NOW

    @classmethod
    def connected(
        cls, settings: Settings, database: Database, crm: FakeCrm, vendor: str, **credentials: Any
    ) -> CrmHarness:
        """Create a workspace with a connection to the fake CRM."""
        variables = {
            f"CRM_{vendor.upper()}_BASE_URL": crm.url,
            f"CRM_{vendor.upper()}_CLIENT_ID": "client-1",
            f"CRM_{vendor.upper()}_CLIENT_SECRET": "client-secret-1",
        }
        settings = dataclasses.replace(settings, crm_variables=tuple(variables.items()))
        with database.transaction() as session:
            workspace_id = a_workspace(session)
            connection = connections.create(
                session,
                workspace_id,
                vendor=vendor,
                base_url=crm.url if vendor == "twenty" else None,
                credentials=Credentials(**{"token": TOKEN} | credentials),
                mapping=dict(registry.load(settings)[vendor].mapping),
                account_id="acc_1",
                now=NOW,
            )
        return cls(database, settings, crm, workspace_id, connection.id)

    def owned_contact(self, email: str = EMAIL, name: str = "Ada Lovelace", **changes: Any) -> str:
        """Insert a contact at Acme Engines whose address the workspace owns; return its id."""
        with self.database.transaction() as session:
            company = session.scalar(select(Company)) or a_company(session)
            contact = a_contact(session, company, name, **changes)
            an_email(session, contact, email)
            own(session, self.workspace_id, contact, "email")
            return contact.id

    def has_email(self, contact_id: str, email: str, **changes: Any) -> None:
        """Insert another address of the contact, which the workspace owns as it owns the others."""
        with self.database.transaction() as session:
            an_email(session, session.get_one(Contact, contact_id), email, **changes)

    def has_phone(self, contact_id: str, e164: str) -> None:
        """Insert a number of the contact, which the workspace owns."""
        with self.database.transaction() as session:
            contact = session.get_one(Contact, contact_id)
            a_phone(session, contact, e164)
            own(session, self.workspace_id, contact, "phone")

    def push(self, *contact_ids: str, dry_run: bool = False, company_id: str | None = None) -> str:
        """Submit a push of the contacts; return its id."""
        with self.database.transaction() as session:
            connection = connections.get(session, self.workspace_id, self.connection_id, lock=True)
            return pushes.submit(
                session,
                connection,
                contact_ids,
                account_id="acc_1",
                origin="https://contacts.acme.example/",
                options=PushOptions(dry_run=dry_run, company_id=company_id),
                now=self.now,
            ).id

    def turn(self, client: WebhookClient = LOOPBACK) -> None:
        """Let a worker take a turn with the connection."""
        work.take_turn(self.connection_id, make_services(self.settings, self.database), client)

    def read(self, client: WebhookClient = LOOPBACK) -> None:
        """Let a worker take a turn at reading the CRM."""
        services = make_services(self.settings, self.database)
        work.take_reading_turn(connections.reading_id(self.connection_id), services, client)

    def read_to_the_end(self) -> int:
        """Let workers read until a pass is over; return the number of turns."""
        for turns in range(1, 100):
            self.read()
            if self.reading().started_at is None:
                return turns
            self.later(seconds=60)
        raise AssertionError("the pass does not end")

    def reading(self) -> CrmReading:
        with self.database.reading() as session:
            return session.get_one(CrmReading, self.connection_id)

    def indexed(self) -> list[CrmPerson]:
        """Return the people in the index, by the id of their record."""
        query = select(CrmIndexRecord).where(CrmIndexRecord.connection_id == self.connection_id)
        with self.database.reading() as session:
            rows = session.scalars(query.order_by(CrmIndexRecord.kind, CrmIndexRecord.crm_id)).all()
            return [
                CrmPerson(
                    crm_id=row.crm_id, kind=RecordKind(row.kind), changed_at=row.changed_at, **row.person
                )
                for row in rows
            ]

    def later(self, **units: float) -> None:
        """Let time pass."""
        self.now += timedelta(**units)

    def pushed(self, *contact_ids: str, **options: Any) -> list[PushItem]:
        """Push the contacts, let a worker take a turn, and return the items."""
        push_id = self.push(*contact_ids, **options)
        self.turn()
        return self.items(push_id)

    def items(self, push_id: str) -> list[PushItem]:
        with self.database.reading() as session:
            return pushes.items(session, push_id, limit=1000)

    def replace_token(self, token: str) -> None:
        """Store another token, as an admin does, and let a worker check it."""
        with self.database.transaction() as session:
            connection = connections.get(session, self.workspace_id, self.connection_id, lock=True)
            connections.replace_credentials(session, connection, Credentials(token=token), now=self.now)
        self.turn()

    def connection(self) -> CrmConnection:
        with self.database.reading() as session:
            return session.get_one(CrmConnection, self.connection_id)

    def map(self, **properties: str) -> None:
        """Map more fields to properties."""
        with self.database.transaction() as session:
            connection = connections.get(session, self.workspace_id, self.connection_id, lock=True)
            connection.mapping = connection.mapping | properties

    def change_company(self, **values: Any) -> None:
        """Change the stored company."""
        with self.database.transaction() as session:
            company = session.scalars(select(Company)).one()
            for name, value in values.items():
                setattr(company, name, value)

    def change(self, contact_id: str, **values: Any) -> None:
        """Change the stored contact, as newer data does."""
        with self.database.transaction() as session:
            contact = session.get_one(Contact, contact_id)
            for name, value in values.items():
                setattr(contact, name, value)
