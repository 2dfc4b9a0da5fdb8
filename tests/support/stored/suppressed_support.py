"""Ada, and the ways in which she is suppressed."""

from __future__ import annotations

from typing import Any

from fake_providers import email, person, phone
from jobs_support import NOW
from stored_support import own
from worker_harness import ADA, WorkerHarness

from app.domain.kinds import TraceOutcome
from app.domain.suppression_lists.hashed_values import hash_of
from app.engine.contacts.contacts import Contact
from app.engine.contacts.suppressions import suppression_digests, suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.contacts.suppressions.suppressions import Listing
from workers.providers.base import ProviderField, ProviderRequest, ProviderResponse

EMAIL, PHONE = "ada@acme.com", "+16175550101"
MEMBER = "https://www.linkedin.com/in/ACoAAAbCdEf_-123"
FOUND = person(linkedin_url=ADA, member_url=MEMBER, emails=(email(EMAIL),), phones=(phone(),))

PLAIN = [("email", EMAIL), ("phone", PHONE), ("linkedin_url", ADA), ("domain", "acme.com")]
HASHED = [
    *PLAIN,
    ("phone", PHONE.removeprefix("+")),
    ("phone", PHONE[-10:]),
]
LISTS = [("plain", *item) for item in PLAIN] + [("hashed", *item) for item in HASHED]
LISTS += [(form, "linkedin_url", MEMBER) for form in ("plain", "hashed")]


def ada_or_nothing(request: ProviderRequest) -> ProviderResponse:
    """Return all that the provider knows of Ada."""
    values: dict[ProviderField, dict[str, Any]] = {
        ProviderField.EMAIL: {"emails": FOUND.emails, "contact": FOUND},
        ProviderField.PHONE: {"phones": FOUND.phones, "contact": FOUND},
    }
    answer = values.get(request.field, {"contact": FOUND})
    return ProviderResponse(outcome=TraceOutcome.HIT, cost=1, **answer)


def suppress_ada(harness: WorkerHarness, form: str, kind: str, value: str) -> str:
    """Suppress Ada in one way; return the kind of her identifier."""
    with harness.database.transaction() as session:
        keys = session.keys
        entry = suppression_digests.hashed_entry(keys, kind, hash_of(value))
        if form == "plain":
            suppressions.suppress(session, [Identifier(kind, value)], reason="asked", now=NOW)
        else:
            suppressions.suppress_entries(session, [entry], Listing("asked", "partner"), now=NOW)
    return kind


def stored(harness: WorkerHarness) -> str:
    """Store Ada as a contact whom the workspace owns; return the id."""
    contact_id = harness.store_contact(FOUND)
    with harness.database.transaction() as session:
        contact = session.get_one(Contact, contact_id)
        own(session, harness.workspace_id, contact, "email")
    return contact_id
