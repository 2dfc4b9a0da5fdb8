"""Reveals, which the API and the pages submit."""

from __future__ import annotations

from flask import Response

from app.domain import kinds
from app.engine.jobs.jobs import PURPOSE
from app.engine.jobs.quotes import RevealPrice
from app.engine.jobs.submission import JobRequest
from app.engine.lookups.field_requests import ContactField, FieldRequest
from app.web import permissions, purposes
from app.web.jobs.job_requests import submit_and_wait
from app.web.schemas.reveal_schemas import RevealRequest
from app.web.services import services
from app.web.sign_in.auth import caller


def submit(field: ContactField, body: RevealRequest) -> Response:
    """Submit the reveal for the caller, and wait for it as the caller prefers.

    Raises:
        PurposeRequired: a purpose is required, and none is stated; nothing was submitted.
        ValidationFailed: the purpose is not one that can be stated.

    """
    return submit_and_wait(_job_request(field, body), client_reference=body.client_reference)


def _job_request(field: ContactField, body: RevealRequest) -> JobRequest:
    permissions.require_phones([field.value])
    refusal = purposes.check(body.purpose)
    kind = kinds.revealing(field).name
    purpose = {} if body.purpose is None else {PURPOSE: body.purpose}
    reference = {} if body.client_reference is None else {"client_reference": body.client_reference}
    return JobRequest(
        kind=kind,
        workspace_id=caller().workspace_id,
        account_id=caller().account_id,
        request={"subject": body.subject.as_dict(), **body.options, **purpose, **reference},
        dedup_key={"subject": body.subject.question(), **body.options, **purpose},
        price=RevealPrice(
            subject=body.subject,
            field_request=FieldRequest.parse(field, body.options),
            credits=services().settings.prices[kind],
        ),
        refusal=refusal,
    )
