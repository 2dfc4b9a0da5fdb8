"""The report menu where a receipt of an enrichment shows values."""

from __future__ import annotations

from apiflask import APIFlask
from page_support import visitor
from sqlalchemy import select
from users_support import SignedInUser

from app.domain.kinds import Outcome
from app.engine.jobs.jobs import JobItem


def test_a_value_in_the_receipt_of_an_enrichment_can_be_reported(app: APIFlask, user: SignedInUser) -> None:
    answer = user.client.post(
        "/api/ext/enrichment-request",
        json={
            "entity": "person",
            "items": [{"subject": {"full_name": "Ada Lovelace", "company_name": "Acme"}}],
        },
        headers=user.headers | {"Prefer": "respond-async"},
    )
    job_id = answer.get_json()["job"]["id"]
    email = {
        "email": "ada@acme.com",
        "type": "work",
        "status": "valid",
        "status_reasons": [],
        "primary": True,
    }
    empty = {"contact": None, "company": None, "phones": [], "conflicts": []}
    with user.database.transaction() as session:
        item = session.scalars(select(JobItem).where(JobItem.job_id == job_id)).one()
        item.outcome = Outcome.FOUND.value
        item.result = {
            **empty,
            "emails": [
                email | {"confidence": None, "verified_at": "2026-11-20T09:30:00.000Z", "sources": []}
            ],
            "sources": {"contact": {}, "company": {}},
        }

    text = visitor(app, user).open(f"/history/{job_id}").text

    assert "ada@acme.com" in text
    assert "Verified" in text
    assert '<button class="secondary" name="kind" value="bounce">' in text
