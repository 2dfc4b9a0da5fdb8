"""/api/feedback: report the outcome of owned addresses and numbers; a confirmed bounce is refunded."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response

from app.domain.callers import Scope
from app.domain.errors import ContactNotFound
from app.engine.accounts import workspaces
from app.features.quality import feedback as core
from app.features.quality import imports, reports
from app.features.quality.feedback import FeedbackResult
from app.features.quality.schemas import FeedbackResponseSchema, FeedbackSchema, ImportedReportsSchema
from app.infra import clock
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.web import admission
from app.web.bodies import received_files
from app.web.bodies.body import json_response
from app.web.bodies.idempotency_header import REPLAYED, begin, finish
from app.web.languages.texts import in_response
from app.web.operations import Operation
from app.web.rate_limits import Policy, limited
from app.web.services import services
from app.web.sign_in.auth import bearer, caller

blueprint = APIBlueprint("feedback", __name__, tag="Feedback")


@blueprint.post("/api/feedback")
@Operation(errors=(ContactNotFound,), takes_idempotency_key=True, sends_credits=True)
@blueprint.auth_required(bearer, roles=[Scope.REVEAL])
@limited(Policy.WRITE)
@blueprint.input(FeedbackSchema, arg_name="body")
@blueprint.output(FeedbackResponseSchema)
def feedback(body: dict[str, Any]) -> Response:
    """Report the outcome of an address or a number that the workspace owns.

    Without `contact_id` it is about the contact under which the value was revealed. A hard bounce makes the
    address `risky` for this workspace and schedules its verification. A reveal paid within the last 30 days
    is refunded once the bounce is confirmed, either by that verification or by a report of another workspace
    that paid for the address. Only a confirmed bounce makes the address risky for other workspaces and
    lowers the score of the providers that supplied it. The operator may allow a share of unconfirmed bounces
    to be refunded at once; the others are `pending`. A refunded address is no longer owned: it is masked
    again, also in the results of earlier jobs, and a new reveal is charged. Other reports are recorded, and
    not refunded. Repeating a report changes nothing.
    """
    with admission.transaction() as session:
        now = database_clock.value(session)
        reference = begin(session, now=now)
        existing = core.get(session, caller().workspace_id, reference) if reference else None
        if existing is not None:
            return _response(session, existing, REPLAYED)
        recorded = reports.record(session, body, now=now)
        finish(session, recorded.feedback.id)
        return _response(session, recorded)


@blueprint.post("/api/feedback/import")
@Operation(
    file_types=(received_files.FORM, *imports.FILES.types),
    file_examples={
        received_files.CSV: "email,type\nada@acme.example,hard\n",
        received_files.JSON: '[{"email": "ada@acme.example", "event": "bounce", "type": "bounce"}]',
    },
    sends_credits=True,
)
@blueprint.auth_required(bearer, roles=[Scope.REVEAL])
@limited(Policy.WRITE)
@blueprint.output(ImportedReportsSchema)
def import_feedback() -> Response:
    """Report the bounces of a list, as mail programs export it, or of their events in JSON.

    Hard bounces are reported as `bounce`; soft ones, refusals by a policy, complaints and unsubscriptions are
    left out, as is what the workspace has not revealed. Rows that do not say what happened are bounces,
    unless the name of the file says `unsubscribes`, `opt-outs` or `complaints`. A column of phone numbers is
    reported as `wrong_number`. Columns and encoding are found as in uploads. JSON is a list, an
    object, or one object a line; an object is an event of Amazon SES (also in a notification of SNS),
    SendGrid, Postmark, Mailgun, Brevo or HubSpot, or a page of them. Sending a list twice changes nothing.
    """
    imported = imports.run()
    with services().database.reading() as session:
        balance = workspaces.balance(session, caller().workspace_id)
    credits = {"balance": balance.available, "reserved": balance.held}
    charged = {"X-Credits-Charged": "0", "X-Credits-Balance": str(balance.available)}
    return json_response({**imported.to_public(), "credits": credits}, 200, charged)


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
        "message": in_response(reports.sentence(recorded)),
        "credits": {"balance": balance.available, "reserved": balance.held},
    }
    charged = {"X-Credits-Charged": "0", "X-Credits-Balance": str(balance.available)}
    return json_response(body, 200, charged | (headers or {}))
