"""POST /api/feedback: report the outcome of an owned address; a confirmed bounce is refunded."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields

from app.domain.callers import Scope
from app.domain.errors import ContactNotFound
from app.domain.ids import EXAMPLES
from app.engine.accounts import workspaces
from app.engine.contacts.bounce_reports import FeedbackKind
from app.engine.ledger.reveals import REFUND_WITHIN
from app.features.quality import feedback as core
from app.features.quality.feedback import FeedbackReport, FeedbackResult
from app.features.quality.refunds import Allowance, RefundDecision
from app.infra import clock
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.infra.telemetry.log import log
from app.web import admission
from app.web.bodies.body import json_response
from app.web.bodies.idempotency_header import REPLAYED, begin, finish
from app.web.operations import Operation
from app.web.rate_limits import Policy, limited
from app.web.schemas.contact_schemas import TIME
from app.web.schemas.fields import ResponseSchema, StrictSchema, contact_id, email
from app.web.schemas.job_schemas import BalanceSchema
from app.web.services import services
from app.web.sign_in.auth import bearer, caller

blueprint = APIBlueprint("feedback", __name__, tag="Feedback")


class FeedbackSchema(StrictSchema):
    """A report on one address of one contact."""

    contact_id = contact_id(required=True)
    email = email(required=True)
    kind = fields.Enum(
        FeedbackKind,
        by_value=True,
        required=True,
        metadata={
            "example": "bounce",
            "description": "A hard bounce, the mailbox of another person, or a reply.",
        },
    )


class RecordedFeedbackSchema(ResponseSchema):
    """Stored feedback; there is at most one per address and kind."""

    contact_id = fields.String(required=True, metadata={"example": EXAMPLES["con"]})
    kind = fields.String(
        required=True, metadata={"enum": [kind.value for kind in FeedbackKind], "example": "bounce"}
    )
    created_at = fields.DateTime(required=True, metadata={"example": TIME})


class FeedbackResponseSchema(ResponseSchema):
    """The recorded feedback and its refund."""

    feedback = fields.Nested(RecordedFeedbackSchema, required=True)
    refunded = fields.Integer(
        required=True, metadata={"example": 1, "description": "Credits that this request refunded."}
    )
    refund = fields.String(
        required=True,
        metadata={
            "enum": [refund.value for refund in RefundDecision],
            "example": "given",
            "description": (
                "The refund decision. `pending`: refunded once a verification or another workspace confirms "
                "the bounce. `not_due`: not a bounce, a bounce that a verification refuted, or one after "
                "which another address of the contact may still work. "
                f"`too_late`: more than {REFUND_WITHIN.days} days after the reveal."
            ),
        },
    )
    credits = fields.Nested(BalanceSchema, required=True)


@blueprint.post("/api/feedback")
@Operation(errors=(ContactNotFound,), takes_idempotency_key=True, sends_credits=True)
@blueprint.auth_required(bearer, roles=[Scope.REVEAL])
@limited(Policy.WRITE)
@blueprint.input(FeedbackSchema, arg_name="body")
@blueprint.output(FeedbackResponseSchema)
def feedback(body: dict[str, Any]) -> Response:
    """Report the outcome of an address.

    A hard bounce makes the address `risky` for this workspace and schedules its verification. A reveal paid
    within the last 30 days is refunded once the bounce is confirmed, either by that verification or by a
    report of another workspace that paid for the address. Only a confirmed bounce makes the address risky
    for other workspaces and lowers the score of the providers that supplied it. The operator may allow a
    share of unconfirmed bounces to be refunded at once; the others are `pending`. A refunded address is no
    longer owned: it is masked again, also in the results of earlier jobs, and a new reveal is charged.
    Repeating a report changes nothing.
    """
    allowance = Allowance(services().settings.feedback_unconfirmed_refund_share)
    with admission.transaction() as session:
        now = database_clock.value(session)
        reference = begin(session, now=now)
        existing = core.get(session, caller().workspace_id, reference) if reference else None
        if existing is not None:
            return _response(session, existing, REPLAYED)
        report = FeedbackReport(workspace_id=caller().workspace_id, account_id=caller().account_id, **body)
        recorded = core.record(session, report, allowance=allowance, now=now)
        finish(session, recorded.feedback.id)
        response = _response(session, recorded)
    log.info("feedback recorded", kind=recorded.feedback.kind, refunded=recorded.refunded)
    return response


def _response(session: Session, recorded: FeedbackResult, headers: dict[str, str] | None = None) -> Response:
    entry = recorded.feedback
    balance = workspaces.balance(session, entry.workspace_id)
    body = {
        "feedback": {
            "contact_id": entry.contact_id,
            "kind": entry.kind,
            "created_at": clock.rfc3339(entry.created_at),
        },
        "refunded": recorded.refunded,
        "refund": recorded.refund.value,
        "credits": {"balance": balance.available, "reserved": balance.held},
    }
    charged = {"X-Credits-Charged": "0", "X-Credits-Balance": str(balance.available)}
    return json_response(body, 200, charged | (headers or {}))
