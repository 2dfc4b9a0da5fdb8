"""Responses of Reacher from its OpenAPI document, for fictitious people."""

from __future__ import annotations

from typing import Any

from vendor_recording import CannedResponse, VendorRecording

from app.domain.findings import EmailStatus
from app.domain.records.subjects import Subject
from workers.providers.base import ProviderField, ProviderRequest
from workers.providers.reacher import Reacher

VERDICT: dict[str, Any] = {
    "input": "ada@acme.com",
    "is_reachable": "safe",
    "misc": {"is_disposable": False, "is_role_account": False, "is_b2c": False, "gravatar_url": None},
    "mx": {"accepts_mail": True, "records": ["mx.acme.com."]},
    "smtp": {
        "can_connect_smtp": True,
        "has_full_inbox": False,
        "is_catch_all": False,
        "is_deliverable": True,
        "is_disabled": False,
    },
    "syntax": {"domain": "acme.com", "is_valid_syntax": True, "username": "ada"},
    "debug": {"start_time": "2026-11-20T10:00:00Z", "end_time": "2026-11-20T10:00:02Z"},
}
UNKNOWN: dict[str, Any] = VERDICT | {
    "is_reachable": "unknown",
    "smtp": {"type": "SmtpError", "message": "timeout"},
}
WRONG_SECRET = CannedResponse(
    status=400, body='Invalid request header "x-reacher-secret"', content_type="text/plain; charset=utf-8"
)

RECORDINGS: tuple[VendorRecording, ...] = (
    VendorRecording(
        vendor=Reacher,
        request=ProviderRequest(field=ProviderField.VERIFICATION, subject=Subject(email="ada@acme.com")),
        value="ada@acme.com",
        status=EmailStatus.VALID,
        path="/v0/check_email",
        sent={"to_email": "ada@acme.com"},
        hit=[CannedResponse(body=VERDICT)],
        cost=0,
        miss=[CannedResponse(body=UNKNOWN)],
        no_credits=None,
        bad_key=[WRONG_SECRET],
        rate_limited=[CannedResponse(status=429, body={"error": "Too many requests"})],
        unexpected=[CannedResponse(body={"reachable": True})],
        ineligible=ProviderRequest(
            field=ProviderField.VERIFICATION, subject=Subject(full_name="Ada Lovelace")
        ),
    ),
)
