"""Decides whether an item is skipped, by what the workspace has of the person when the item runs."""

from __future__ import annotations

from app.domain.records.subjects import Subject
from app.engine.enrichments import listed_people, skips
from app.engine.enrichments.skips import Skip, SkipRule
from app.engine.jobs.claims import Claim
from app.engine.jobs.jobs import JobItem
from app.engine.lookups.field_requests import DEFAULT_FIELD_REQUESTS
from app.infra.database import database_clock
from workers.execution.worker_services import WorkerServices


def find(claim: Claim, services: WorkerServices, item: JobItem) -> Skip | None:
    """Return why the person or some fields are skipped; None if not, and for an unknown contact id."""
    rule = SkipRule.parse(claim.request)
    if not rule.sources:
        return None
    fields = [name for name in DEFAULT_FIELD_REQUESTS if name.value in claim.request["fields"]]
    with services.database.reading() as session:
        [person] = listed_people.read(
            session,
            claim.workspace_id,
            [Subject(**item.request["subject"])],
            fields,
            services.own_records,
            default_max_age=services.settings.default_max_age,
            now=database_clock.value(session),
        )
    return skips.decide(rule, person, fields) if person else None
