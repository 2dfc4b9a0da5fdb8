"""What is stored of the push of one contact."""

from __future__ import annotations

from app.features.crm.push_attempts import ItemResult
from app.features.crm.pushes import PushOutcome
from app.features.crm.turn.pushing import PushedContact
from app.features.crm.vendors.errors import Rejected
from app.infra import clock


def pushed(contact: PushedContact, started: float) -> ItemResult:
    """Return the result of a push that the CRM accepted, at least in part."""
    return ItemResult(
        outcome=contact.outcome,
        actions=contact.actions,
        notes=contact.notes,
        companies=contact.companies,
        crm_id=contact.crm_id,
        values=contact.values,
        latency_ms=clock.milliseconds_since(started),
    )


def rejected(rejection: Rejected, started: float) -> ItemResult:
    """Return the failure with the names of the properties that the CRM complained about."""
    error = ": ".join([rejection.reason, ", ".join(rejection.refused)]).removesuffix(": ")
    return ItemResult(outcome=PushOutcome.FAILED, error=error, latency_ms=clock.milliseconds_since(started))
