"""Reacher, a self-hosted e-mail verifier: https://docs.reacher.email/advanced/openapi."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from app.domain.findings import EmailStatus
from app.domain.kinds import TraceOutcome
from app.settings import ProviderSettings
from workers.providers import parsing
from workers.providers.base import (
    CredentialCheck,
    ProviderField,
    ProviderRequest,
    ProviderResponse,
    Terms,
    UnexpectedResponse,
)
from workers.providers.web import Vendor, VendorResponse

PATH = "/v0/check_email"
"""Supported by every version; `/v1/check_email` requires its own queue."""
_STATUSES = {
    "safe": EmailStatus.VALID,
    "risky": EmailStatus.RISKY,
    "invalid": EmailStatus.INVALID,
    "unknown": EmailStatus.UNKNOWN,
}
_BAD_REQUEST, _FORBIDDEN = 400, 403


class Reacher(Vendor):
    """Verifies mailboxes with their mail servers, at no price; used if `REACHER_BASE_URL` is set."""

    name: ClassVar[str] = "reacher"
    base_url: ClassVar[str] = "http://127.0.0.1:8080"
    fields: ClassVar[frozenset[ProviderField]] = frozenset({ProviderField.VERIFICATION})
    needs_key: ClassVar[bool] = False
    default_terms: ClassVar[Terms] = Terms(
        prices=MappingProxyType({ProviderField.VERIFICATION: 0}), miss_days=1
    )

    def __init__(self, access: ProviderSettings) -> None:
        super().__init__(access)
        self._is_there = bool(access.base_url)

    def credentials(self, key: str) -> dict[str, str]:
        """Return the header that carries the secret; empty for an instance without one."""
        return {"x-reacher-secret": key} if key else {}

    def unavailability(self, request: ProviderRequest) -> TraceOutcome | None:
        """Return why the request is not possible: no base URL is configured, or there is no address."""
        return super().unavailability(request) if self._is_there else TraceOutcome.UNCONFIGURED

    def supports(self, request: ProviderRequest) -> bool:
        """Return whether there is an address."""
        return request.field is ProviderField.VERIFICATION and bool(request.subject.email)

    def call(self, request: ProviderRequest, *, seconds: float) -> ProviderResponse:
        """Verify the address."""
        response = self.send("POST", PATH, body={"to_email": request.subject.email}, seconds=seconds)
        return _verdict(request, response.object) if response.is_ok else self._error_response(response)

    def check(self, *, seconds: float) -> CredentialCheck:
        """Send a request without an address: a JSON error means that Reacher runs and accepts the secret."""
        response = self.send("POST", PATH, body={"to_email": ""}, seconds=seconds)
        if response.body is not None and (response.is_ok or response.status == _BAD_REQUEST):
            return CredentialCheck(outcome=TraceOutcome.HIT)
        outcome = self._error_response(response).outcome
        return CredentialCheck(outcome=TraceOutcome.ERROR if outcome is TraceOutcome.MISS else outcome)

    def _error_response(self, response: VendorResponse) -> ProviderResponse:
        """Map an error to an outcome: a wrong secret is a 400 in plain text, all other errors are JSON."""
        if response.status == _FORBIDDEN or (response.status == _BAD_REQUEST and response.body is None):
            return ProviderResponse(outcome=TraceOutcome.UNCONFIGURED)
        return self.default_response(response)


def _verdict(request: ProviderRequest, body: Mapping[str, Any]) -> ProviderResponse:
    """Parse a verdict; an undecided one is a miss, so that another provider is called."""
    reachability = parsing.text(body, "is_reachable")
    if reachability is None:
        raise UnexpectedResponse("is_reachable")
    source = parsing.source_of(Reacher.name)
    reasons = _reasons(body)
    status = _STATUSES.get(reachability.lower(), EmailStatus.UNKNOWN)
    takes_all = parsing.object_at(body, "smtp").get("is_catch_all") is True
    if status is EmailStatus.RISKY and takes_all and "full_inbox" not in reasons:
        status = EmailStatus.ACCEPT_ALL
    email = parsing.found_email(request.subject.email, status, source, reasons=reasons, verified_at=source.at)
    if email is None or status is EmailStatus.UNKNOWN:
        return ProviderResponse(outcome=TraceOutcome.MISS)
    return ProviderResponse(outcome=TraceOutcome.HIT, emails=(email,))


def _reasons(body: Mapping[str, Any]) -> list[str]:
    """Return the reasons for caution; a part of the response may be an error object, which gives none."""
    misc, mx, smtp = (parsing.object_at(body, part) for part in ("misc", "mx", "smtp"))
    flags = {
        "role": misc.get("is_role_account") is True,
        "disposable": misc.get("is_disposable") is True,
        "webmail": misc.get("is_b2c") is True,
        "no_mx": mx.get("accepts_mail") is False,
        "full_inbox": smtp.get("has_full_inbox") is True,
        "disabled": smtp.get("is_disabled") is True,
    }
    return [reason for reason, applies in flags.items() if applies]
