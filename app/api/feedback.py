"""POST /api/feedback: what became of an address the workspace owns; a confirmed bounce is refunded; free."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint, Schema
from flask import Response
from marshmallow import fields
from sqlalchemy.orm import Session

from app.api.http.auth import bearer, caller
from app.api.http.idempotency_header import REPLAYED, begin, finish
from app.api.http.rate_limits import Policy, limited
from app.api.http.responses import json_response
from app.api.http.services import services
from app.api.schemas.contact_schemas import TIME
from app.api.schemas.fields import StrictSchema, contact_id, email
from app.core.accounts import workspaces
from app.core.contacts.bounce_reports import FeedbackKind
from app.core.quality import feedback as core
from app.core.quality.feedback import FeedbackReport, FeedbackResult
from app.core.quality.refunds import REFUND_WITHIN, Allowance, RefundDecision
from app.domain.callers import Scope
from app.domain.ids import EXAMPLES
from app.infra import clock, database_clock
from app.infra.log import log

blueprint = APIBlueprint("feedback", __name__, tag="Feedback")


class FeedbackSchema(StrictSchema):
    """What is said of which address of whom."""

    contact_id = contact_id(required=True)
    email = email(required=True)
    kind = fields.Enum(
        FeedbackKind,
        by_value=True,
        required=True,
        metadata={
            "example": "bounce",
            "description": "A hard bounce, the mailbox of somebody else, or that it answered.",
        },
    )


class FeedbackOut(Schema):
    """Feedback as it is kept, once for each address and kind."""

    contact_id = fields.String(required=True, metadata={"example": EXAMPLES["con"]})
    kind = fields.String(
        required=True, metadata={"enum": [kind.value for kind in FeedbackKind], "example": "bounce"}
    )
    created_at = fields.DateTime(required=True, metadata={"example": TIME})


class BalanceOut(Schema):
    """What the workspace has left."""

    balance = fields.Integer(required=True, metadata={"example": 250})
    reserved = fields.Integer(required=True, metadata={"example": 0})


class FeedbackAnswerSchema(Schema):
    """What was recorded, and what came back for it."""

    feedback = fields.Nested(FeedbackOut, required=True)
    refunded = fields.Integer(
        required=True, metadata={"example": 1, "description": "Credits this request gave back."}
    )
    refund = fields.String(
        required=True,
        metadata={
            "enum": [refund.value for refund in RefundDecision],
            "example": "given",
            "description": (
                "Why. `pending`: given when a verification or another workspace confirms the bounce. "
                "`not_due`: no bounce, one that a verification refuted, or one that leaves another address "
                "of the contact that may work. "
                f"`too_late`: more than {REFUND_WITHIN.days} days after the reveal."
            ),
        },
    )
    credits = fields.Nested(BalanceOut, required=True)


@blueprint.post("/api/feedback")
@blueprint.auth_required(bearer, roles=[Scope.REVEAL])
@limited(Policy.WRITE)
@blueprint.input(FeedbackSchema, arg_name="body")
@blueprint.output(FeedbackAnswerSchema)
def feedback(body: dict[str, Any]) -> Response:
    """Say what became of an address.

    A hard bounce makes the address `risky` for this workspace and has it verified again. What the workspace
    paid within 30 days before comes back once the bounce is confirmed, by the verification or by a report of
    another workspace that paid for the address; only then others see it as risky and the providers that gave
    it lose score. Without confirmation a few bounces are refunded at once, as the operator allows; the others
    are `pending`. Refunded addresses are owned no more: they are masked, also in the answers of earlier jobs,
    and to reveal them again costs again. Saying the same twice changes nothing.
    """
    allowance = Allowance(services().settings.feedback_unconfirmed_refund_share)
    who = caller()
    with services().database.transaction() as session:
        now = database_clock.value(session)
        reference = begin(session, now=now)
        known = core.get(session, who.workspace_id, reference) if reference else None
        if known is not None:
            return _answer(session, known, REPLAYED)
        said = FeedbackReport(workspace_id=who.workspace_id, account_id=who.account_id, **body)
        recorded = core.record(session, said, allowance=allowance, now=now)
        finish(session, recorded.feedback.id)
        answer = _answer(session, recorded)
    log.info("feedback recorded", kind=recorded.feedback.kind, refunded=recorded.refunded)
    return answer


def _answer(session: Session, recorded: FeedbackResult, headers: dict[str, str] | None = None) -> Response:
    said = recorded.feedback
    left = workspaces.balance(session, said.workspace_id)
    body = {
        "feedback": {
            "contact_id": said.contact_id,
            "kind": said.kind,
            "created_at": clock.rfc3339(said.created_at),
        },
        "refunded": recorded.refunded,
        "refund": recorded.refund.value,
        "credits": {"balance": left.available, "reserved": left.held},
    }
    charged = {"X-Credits-Charged": "0", "X-Credits-Balance": str(left.available)}
    return json_response(body, 200, charged | (headers or {}))
