"""Cost estimates of an enrichment before any provider is called."""

from __future__ import annotations

import dataclasses
from typing import Any

from jobs_support import a_workspace
from stored_support import NOW, a_contact, an_email, disclose, statements

from app.domain.records.subjects import Subject
from app.engine.contacts.contacts import Contact
from app.engine.contacts.suppressions import suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.enrichments import enrichment_estimates
from app.engine.enrichments.enrichment_estimates import Estimate
from app.engine.lookups.field_requests import DEFAULT_FIELD_REQUESTS, ContactField
from app.engine.matching import reverse_lookups
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.settings import Settings


def estimate(
    session: Session, settings: Settings, workspace: str, requests: list[dict[str, Any]], *fields: str
) -> Estimate:
    settings = dataclasses.replace(settings, prices={"reveal.email": 1, "reveal.phone": 5})
    return enrichment_estimates.estimate(session, workspace, requests, fields, settings=settings, now=NOW)


def reveal_email(session: Session, workspace: str, contact: Contact) -> None:
    disclose(
        session,
        workspace_id=workspace,
        job_id="job_1",
        contact=contact,
        field_request=DEFAULT_FIELD_REQUESTS[ContactField.EMAIL],
        price=1,
        now=NOW,
    )


def test_stored_values_count_for_the_minimum_and_all_values_for_the_maximum(
    session: Session, settings: Settings
) -> None:
    workspace = a_workspace(session)
    ada = a_contact(session)
    an_email(session, ada, "ada@acme.com")
    requests = [{"subject": {"contact_id": ada.id}}, {"subject": {"email": "bob@acme.com"}}]

    costs = estimate(session, settings, workspace, requests, "email", "phone", "profile")

    assert costs == Estimate(credits_min=1, credits_max=12, to_buy=2)


def test_the_only_person_to_buy_is_counted_as_a_number(session: Session, settings: Settings) -> None:
    requests = [{"subject": {"email": "bob@acme.com"}}]

    costs = estimate(session, settings, a_workspace(session), requests, "email")

    assert costs.to_buy == 1
    assert costs.to_buy is not True


def test_a_person_who_occurs_twice_is_counted_once(session: Session, settings: Settings) -> None:
    workspace = a_workspace(session)
    ada = a_contact(session)
    an_email(session, ada, "ada@acme.com")
    requests = [
        {"subject": {"contact_id": ada.id}},
        {"subject": {"email": "ada@acme.com"}},
        {"subject": {"email": "bob@acme.com"}},
        {"subject": {"email": "bob@acme.com"}},
    ]
    tried = Subject(email="ada@acme.com")
    reverse_lookups.admit(session, workspace, [tried], now=database_clock.now())

    costs = estimate(session, settings, workspace, requests, "email")

    assert costs == Estimate(credits_min=1, credits_max=2, to_buy=2)


def test_owned_suppressed_and_ineligible_items_cost_nothing(session: Session, settings: Settings) -> None:
    workspace = a_workspace(session)
    ada, eve = a_contact(session), a_contact(session, None, "Eve Hidden")
    an_email(session, ada, "ada@acme.com")
    an_email(session, eve, "eve@acme.com")
    reveal_email(session, workspace, ada)
    suppressions.suppress(session, [Identifier("email", "eve@acme.com")], reason="asked", now=NOW)
    requests = [
        {"subject": {"contact_id": ada.id}},
        {"subject": {"contact_id": eve.id}},
        {"subject": {"contact_id": "con_0"}},
        {"error": {"code": "insufficient_identifiers"}},
    ]

    costs = estimate(session, settings, workspace, requests, "email")

    assert costs == Estimate(owned=1, suppressed=1, ineligible=2)


def test_of_a_person_only_the_fields_that_are_not_owned_cost_something(
    session: Session, settings: Settings
) -> None:
    workspace = a_workspace(session)
    ada = a_contact(session)
    an_email(session, ada, "ada@acme.com")
    reveal_email(session, workspace, ada)

    costs = estimate(session, settings, workspace, [{"subject": {"contact_id": ada.id}}], "email", "phone")

    assert costs == Estimate(credits_max=5, to_buy=1)


def test_a_company_costs_nothing(session: Session, settings: Settings) -> None:
    workspace = a_workspace(session)

    costs = estimate(session, settings, workspace, [{"company": {"domain": "acme.com"}}], "email", "company")

    assert costs == Estimate()


def test_the_statements_of_an_estimate_do_not_depend_on_the_number_of_people(
    session: Session, settings: Settings
) -> None:
    workspace = a_workspace(session)
    urls = [f"https://www.linkedin.com/in/person-{number}" for number in range(50)]
    for url in urls:
        a_contact(session, None, linkedin_url=url)
    requests = [{"subject": {"linkedin_url": url}} for url in urls]

    counts = []
    for some in (requests[:1], requests):
        with statements(session.get_bind()) as executed:  # type: ignore[arg-type]
            estimate(session, settings, workspace, some, "email", "phone")
        counts.append(len(executed))

    assert counts == [3, 3]
