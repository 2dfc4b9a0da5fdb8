from __future__ import annotations

import pytest
from fake_providers import MISS, email, person
from jobs_support import DIGEST_KEYS
from sqlalchemy import select
from worker_harness import ADA, WorkerHarness, worker_harness

from app.domain.kinds import TraceOutcome
from app.engine.contacts.suppressions.suppression_digests import Identifier, digest
from app.engine.contacts.suppressions.suppressions import Suppression
from app.features.quality import work
from app.infra.database.db import Database
from app.settings import Settings
from workers.providers.base import ProviderResponse

OPTED_OUT = ProviderResponse(outcome=TraceOutcome.SUPPRESSED)


@pytest.fixture
def harness(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> WorkerHarness:
    return worker_harness(settings, database, monkeypatch)


def test_an_opt_out_during_reverification_suppresses_the_address(harness: WorkerHarness) -> None:
    harness.store_contact(person(linkedin_url=ADA, emails=(email(),)))
    providers = harness.set_providers(verifiers=("check",), one=MISS, check=OPTED_OUT)
    harness.reveal({"linkedin_url": ADA})
    harness.clock.now += harness.services.settings.default_max_age * 2

    work.verify_due(harness.services, [providers["check"]])  # type: ignore[list-item]  # a fake

    with harness.database.reading() as session:
        listed = session.scalars(select(Suppression.digest)).all()
    assert listed == [digest(DIGEST_KEYS, Identifier("email", "ada@acme.com"))]
