"""Reports of the caller, for the API and the pages, and what came of them in words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from app.domain.messages import Message
from app.engine.contacts.bounce_reports import FeedbackKind
from app.engine.ledger.reveals import REFUND_WITHIN
from app.features.quality import feedback, phone_feedback
from app.features.quality.feedback import FeedbackReport, FeedbackResult
from app.features.quality.phone_feedback import PhoneReport
from app.features.quality.refunds import Allowance, RefundDecision
from app.infra.database.session import Session
from app.infra.telemetry.log import log
from app.web.services import services
from app.web.sign_in.auth import caller

_OF_BOTH = (FeedbackKind.WRONG_PERSON, FeedbackKind.HAS_LEFT, FeedbackKind.VALID)
KINDS: Mapping[str, tuple[FeedbackKind, ...]] = {
    "email": (FeedbackKind.BOUNCE, *_OF_BOTH),
    "phone": (FeedbackKind.WRONG_NUMBER, *_OF_BOTH),
}
"""What can be reported of an address and of a number."""
_REASONS = {
    RefundDecision.PENDING: Message(
        "The price is refunded once a verification or a report of another workspace confirms the bounce."
    ),
    RefundDecision.GIVEN_BEFORE: Message("The price was refunded before."),
    RefundDecision.TOO_LATE: Message(
        "Nothing is refunded: the address was revealed more than {days} days ago.", days=REFUND_WITHIN.days
    ),
    RefundDecision.NOTHING_PAID: Message("Nothing is refunded: your workspace paid nothing for the address."),
}
_BOUNCE_NOT_DUE = Message(
    "Nothing is refunded: a verification found that the address works, or the person has another one."
)
_NOT_A_BOUNCE = Message("Nothing is refunded: only addresses that bounce are.")


def record(session: Session, body: Mapping[str, Any], *, now: datetime) -> FeedbackResult:
    """Record a report with `kind`, `email` or `phone`, and a `contact_id` if it has one.

    Raises:
        ContactNotFound: the workspace does not own the value.

    """
    workspace_id, account_id = caller().workspace_id, caller().account_id
    contact_id, kind = body.get("contact_id"), body["kind"]
    if "phone" in body:
        of_number = PhoneReport(
            workspace_id=workspace_id,
            account_id=account_id,
            contact_id=contact_id,
            phone=body["phone"],
            kind=kind,
        )
        recorded = phone_feedback.record(session, of_number, now=now)
    else:
        of_address = FeedbackReport(
            workspace_id=workspace_id,
            account_id=account_id,
            contact_id=contact_id,
            email=body["email"],
            kind=kind,
        )
        allowance = Allowance(services().settings.feedback_unconfirmed_refund_share)
        recorded = feedback.record(session, of_address, allowance=allowance, now=now)
    log.info("feedback recorded", kind=recorded.feedback.kind, refunded=recorded.refunded)
    return recorded


def sentence(recorded: FeedbackResult) -> Message:
    """Return what came of a report: how much was refunded, or why nothing was."""
    if recorded.refunded:
        return Message(
            "Reported. {count} credit was refunded.",
            "Reported. {count} credits were refunded.",
            count=recorded.refunded,
        )
    return Message("Reported. {reason}", reason=_reason(recorded))


def _reason(recorded: FeedbackResult) -> Message:
    if recorded.refund in _REASONS:
        return _REASONS[recorded.refund]
    is_bounce = recorded.feedback.kind == FeedbackKind.BOUNCE
    return _BOUNCE_NOT_DUE if is_bounce else _NOT_A_BOUNCE
