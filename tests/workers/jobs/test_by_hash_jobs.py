from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from jobs_support import NOW, a_workspace
from sealed_cards_support import open_card, store_card_keys
from stored_support import a_company, a_contact

from app.domain.errors import FilterKeyUnknown
from app.domain.kinds import KINDS, Kind, Outcome
from app.domain.normal.hashes import hex_hash, website_hash
from app.engine.jobs.claims import Claim
from app.engine.jobs.leases import JobResult
from app.infra.broker.job_notifications import JobNotifier
from app.infra.broker.queue import JobPublisher
from app.infra.crypto.oprf import OprfKey
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.settings import Settings
from workers.execution.worker_services import WorkerServices
from workers.jobs.company_by_hash import company_by_hash
from workers.jobs.leads_by_website_hash import leads_by_website_hash

ACME = hex_hash(website_hash("acme.com"))
UNKNOWN = hex_hash(website_hash("unknown.com"))
SEED = bytes(range(32))
KEY, OTHER_KEY = OprfKey.derive(SEED), OprfKey.derive(bytes(32))


@pytest.fixture
def services(settings: Settings, database: Database) -> WorkerServices:
    return WorkerServices(
        settings, database, JobPublisher(settings.redis_url), JobNotifier(settings.redis_url)
    )


@pytest.fixture
def keyed(services: WorkerServices) -> WorkerServices:
    """The services of a worker with COMPANY_FILTER_OPRF_KEY."""
    return replace(services, settings=replace(services.settings, company_filter_oprf_key=SEED))


def resolve(session: Session, services: WorkerServices, kind: Kind, request: dict[str, Any]) -> JobResult:
    """Resolve and settle a job of this kind."""
    claim = Claim(
        job_id="job_x",
        workspace_id=a_workspace(session),
        kind=kind,
        queue=KINDS[kind].queue,
        request=request,
        attempts=0,
        held=0,
        charged=0,
        lease_token="x",
        claimed_at=NOW,
    )
    work = company_by_hash if kind is Kind.COMPANY_BY_HASH else leads_by_website_hash
    return work(claim, services).settle(session, NOW)


def test_a_known_website_is_found(session: Session, services: WorkerServices) -> None:
    company = a_company(session)

    answer = resolve(session, services, Kind.COMPANY_BY_HASH, {"kind": "website", "hashes": [ACME]})

    assert (answer.outcome, answer.charge) == (Outcome.FOUND, 0)
    assert answer.result is not None
    assert (answer.result["matched_hash"], answer.result["company"]["id"]) == (ACME, company.id)


def test_an_unknown_website_is_not_found(session: Session, services: WorkerServices) -> None:
    answer = resolve(session, services, Kind.COMPANY_BY_HASH, {"kind": "website", "hashes": [UNKNOWN]})

    assert (answer.outcome, answer.result) == (Outcome.NOT_FOUND, None)


def test_a_prefix_is_always_found(session: Session, services: WorkerServices) -> None:
    answer = resolve(session, services, Kind.COMPANY_BY_HASH, {"kind": "website", "prefix": "0000"})

    assert answer.outcome is Outcome.FOUND


def test_a_prefix_of_an_output_is_answered_with_sealed_cards(
    database: Database, keyed: WorkerServices
) -> None:
    with database.transaction() as session:
        a_company(session)
        store_card_keys(session, KEY, website_hash("acme.com"))
    output = KEY.output(website_hash("acme.com"))
    request = {"kind": "website", "prefix": output.hex()[:2], "key": KEY.public.hex()}

    with database.transaction() as session:
        answer = resolve(session, keyed, Kind.COMPANY_BY_HASH, request)

    assert answer.outcome is Outcome.FOUND
    assert answer.result is not None
    assert open_card(answer.result, output)["domain"] == "acme.com"


def test_a_worker_with_another_key_does_not_answer_a_prefix_of_an_output(
    database: Database, services: WorkerServices, keyed: WorkerServices
) -> None:
    with database.transaction() as session:
        store_card_keys(session, OTHER_KEY)
    request = {"kind": "website", "prefix": "ab", "key": OTHER_KEY.public.hex()}

    for other in (services, keyed):
        with database.transaction() as session, pytest.raises(FilterKeyUnknown):
            resolve(session, other, Kind.COMPANY_BY_HASH, request)


def test_leads_of_a_known_website_are_found(session: Session, services: WorkerServices) -> None:
    ada = a_contact(session, a_company(session))

    answer = resolve(session, services, Kind.LEADS_BY_WEBSITE_HASH, {"hashes": [ACME], "limit": 5})

    assert answer.outcome is Outcome.FOUND
    assert answer.result is not None
    assert [lead["contact_id"] for lead in answer.result["leads"]] == [ada.id]


def test_leads_of_an_unknown_website_are_not_found(session: Session, services: WorkerServices) -> None:
    answer = resolve(session, services, Kind.LEADS_BY_WEBSITE_HASH, {"hashes": [UNKNOWN], "limit": 5})

    assert (answer.outcome, answer.result) == (Outcome.NOT_FOUND, None)
