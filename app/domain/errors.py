"""The tree of errors, with the code, status and message of each response.

InvalidValue                 a text has no normal form; schemas convert it to one field error
JournalUnwritable            the suppression journal cannot be written
Problem                      every error response (RFC 9457)
├── MalformedJson            400
├── Unauthorized             401  MissingToken InvalidToken TokenExpired TokenRevoked InvalidCredentials
│                                 TotpRequired InvalidTotp CompanySignInFailed
├── InsufficientCredits      402  SpendingLimitReached
├── Forbidden                403  ApiAccessRequired InsufficientScope AccountDisabled
│                                 AdminRequired OperatorRequired CrossSiteRequest
│                                 PasswordSignInOff CompanyAccountRefused TotpRequiredForAdmins
│                                 PermissionDenied
├── NotFound                 404  ContactNotFound JobNotFound UploadNotFound
│                                 CompanyFilterNotReady
├── MethodNotAllowed         405
├── RequestTimeout           408
├── UploadNotReady           409
├── EndpointDisabled         409
├── PasswordResetRefused     409
├── FilterKeyUnknown         409
├── PayloadTooLarge          413
├── UnsupportedMediaType     415
├── Unprocessable            422  ValidationFailed InsufficientIdentifiers IdempotencyKeyReused
│                                 BadHash PrefixNotAllowed NotAProfileUrl PersonSuppressed
│                                 TotpAlreadyOn PurposeRequired
├── TooMany                  429  RateLimited TooManyAttempts
├── InternalError            500
├── Unavailable              503
└── JobFailed                     why a job failed: ProviderFailed WorkerLost JobExpired
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from app.domain.credit_schedules import NextGrant
from app.domain.messages import Day, Message
from app.domain.permissions import ACTS, REFUSALS, Permission
from app.domain.spending import LimitUsage, Period

_LIMITS = {
    (True, True): Message("The monthly limit of this account"),
    (True, False): Message("The monthly limit of this API key"),
    (False, True): Message("The spending cap of this account"),
    (False, False): Message("The spending cap of this API key"),
}
"""The limit that a caller reaches, by whether it is monthly and whether it is the account's."""


def credits_of(count: int) -> Message:
    """Return a number of credits in words."""
    return Message("{count} credit", "{count} credits", count=count)


class InvalidValue(ValueError):  # noqa: N818 -- the name states the fault, as in ValueError
    """A text that has no normal form; `str(error)` states the reason and does not quote the text."""


class JournalUnwritable(Exception):  # noqa: N818 -- as the others
    """The suppression journal cannot be written, so nothing was suppressed."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """One invalid field of a request: a JSON pointer (RFC 6901) and a message."""

    pointer: str
    detail: str


class Problem(Exception):  # noqa: N818 -- RFC 9457 calls it a problem
    """Base of all error responses; each class has one `code`, one status and one page."""

    code: ClassVar[str]
    status: ClassVar[int]
    title: ClassVar[str]
    retryable: ClassVar[bool] = False
    retry_seconds: ClassVar[int | None] = None
    help: ClassVar[str]

    def __init__(
        self,
        detail: str = "",
        *,
        errors: tuple[FieldError, ...] = (),
        retry_after: int | None = None,
        extra: dict[str, Any] | None = None,
    ) -> None:
        """Store the message for the caller, the invalid fields, and the seconds to wait before a retry."""
        self.detail = detail or self.help
        self.errors = errors
        self.retry_after = self.retry_seconds if retry_after is None else retry_after
        self.extra = extra or {}
        super().__init__(self.code)

    def as_dict(self) -> dict[str, Any]:
        """Return the problem details of RFC 9457 with this service's extensions ("Errors" in docs/api.md)."""
        body: dict[str, Any] = {
            "type": f"/problems/{self.code}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
            "retryable": self.retryable,
        }
        if self.errors:
            body["errors"] = [{"pointer": error.pointer, "detail": error.detail} for error in self.errors]
        if self.retry_after is not None:
            body["retry_after"] = self.retry_after
        return body | self.extra


class MalformedJson(Problem):
    """The body cannot be read as one JSON object, or the request is not valid HTTP."""

    code = "malformed_json"
    status = 400
    title = "The request cannot be read"
    help = "Send one JSON object, encoded as UTF-8 and nested at most 20 levels deep."


class Unauthorized(Problem):
    """Base of errors that a new sign-in or another token resolves."""

    status = 401


class MissingToken(Unauthorized):
    """The request has no `Authorization: Bearer` header."""

    code = "missing_token"
    title = "No token was sent"
    help = "Send 'Authorization: Bearer <token>' with a session token or an API key."


class InvalidToken(Unauthorized):
    """The token was never issued by this service, or is mistyped."""

    code = "invalid_token"
    title = "The token is not known"
    help = "Sign in again with POST /api/ext/login, or use another API key."


class TokenExpired(Unauthorized):
    """The token was valid; its idle or absolute lifetime has ended."""

    code = "token_expired"
    title = "The token has expired"
    help = "Sign in again with POST /api/ext/login, or create a new API key."


class TokenRevoked(Unauthorized):
    """The token was revoked: by a logout, explicitly, or by a change of its account."""

    code = "token_revoked"
    title = "The token was revoked"
    help = "Sign in again with POST /api/ext/login, or create a new API key."


class InvalidCredentials(Unauthorized):
    """The e-mail and password do not match; the response for an unknown e-mail is the same."""

    code = "invalid_credentials"
    title = "Wrong e-mail or password"
    help = "Check the e-mail and the password, or ask your admin to set a new password."


class TotpRequired(Unauthorized):
    """The password is correct, and the account also requires a code."""

    code = "totp_required"
    title = "A code is required"
    help = "Send 'totp' too: the 6 digits of your authenticator app, or one of your recovery codes."


class InvalidTotp(Unauthorized):
    """The password is correct; the code is wrong, too old or was used before."""

    code = "invalid_totp"
    title = "The code is not valid"
    help = (
        "Send the code that the authenticator app shows now; each code works once. If it is refused again, "
        "check the clock of the device, use a recovery code, or ask your admin to reset two-factor sign-in."
    )


class CompanySignInFailed(Unauthorized):
    """The company account could not be verified, or the sign-in was not finished in time."""

    code = "company_sign_in_failed"
    title = "The sign-in with the company account failed"
    help = "Start again from the sign-in page. If it fails again, ask your admin to check the server's log."


class InsufficientCredits(Problem):
    """The workspace has too few credits for the request."""

    code = "insufficient_credits"
    status = 402
    title = "Not enough credits"
    help = "Ask your admin to grant credits; the same request with the same Idempotency-Key then works."

    def __init__(self, required: int, balance: int, next_grant: NextGrant | None = None) -> None:
        """Store the cost of the request and the balance, in credits, and what is granted next."""
        coming = next_grant and Message(
            " The next credits come on {day}: {credits}.",
            day=Day(next_grant.at),
            credits=credits_of(next_grant.credits),
        )
        super().__init__(
            Message(
                "This needs {price} and the workspace has {balance}.{coming} {help}",
                price=credits_of(required),
                balance=credits_of(balance),
                coming=coming or "",
                help=Message(self.help),
            ),
            extra={"required": required, "balance": balance},
        )
        if next_grant is not None:
            self.extra["next_grant"] = next_grant.to_public()

    def hide_costs(self) -> None:
        """Leave out the balance, the next grant and the limit, for a caller who may not see costs."""
        self.detail, self.extra = self.help, {"required": self.extra["required"]}


class SpendingLimitReached(InsufficientCredits):
    """A limit of the account or of the API key does not allow the request."""

    code = "spending_limit_reached"
    title = "A spending limit is reached"
    help = "Ask your admin to raise the limit; the same request with the same Idempotency-Key then works."

    def __init__(self, required: int, balance: int, usage: LimitUsage) -> None:
        """Store the cost of the request, the balance of the workspace, and the limit with its use."""
        super().__init__(required, balance)
        resets = Message(" It resets on {day}.", day=Day(usage.resets_at)) if usage.resets_at else ""
        self.detail = Message(
            "This needs {price}. {limit} is {credits}, of which {spent} are spent and {held} are reserved."
            "{resets} {help}",
            price=credits_of(required),
            limit=_LIMITS[usage.period is Period.MONTH, usage.subject == "account"],
            credits=usage.credits,
            spent=usage.spent,
            held=usage.held,
            resets=resets,
            help=Message(self.help),
        )
        self.extra["limit"] = usage.as_dict()


class Forbidden(Problem):
    """Base of errors about requests that the caller is not permitted to make."""

    status = 403


class ApiAccessRequired(Forbidden):
    """API keys are for accounts that have been granted API access, and are managed from a session."""

    code = "api_access_required"
    title = "API access is required"
    help = "Sign in, instead of using an API key, with an account that has API access. An admin can grant it."


class InsufficientScope(Forbidden):
    """The API key does not have the scope that this endpoint requires."""

    code = "insufficient_scope"
    title = "The API key does not have the required scope"
    help = "Create an API key with the scope that this endpoint requires."


class AccountDisabled(Forbidden):
    """The account exists and the password is correct, but an admin has disabled the account."""

    code = "account_disabled"
    title = "The account is disabled"
    help = "Ask your admin to enable the account."


class AdminRequired(Forbidden):
    """The page is for the admins of a workspace."""

    code = "admin_required"
    title = "This is for admins"
    help = "Ask an admin of your workspace to do it, or to make you an admin."


class OperatorRequired(Forbidden):
    """The page concerns all workspaces of the deployment, and is for those who operate it."""

    code = "operator_required"
    title = "This is for operators"
    help = "Ask an operator. Operators are the accounts whose e-mail addresses the setting OPERATORS lists."


class CrossSiteRequest(Forbidden):
    """A browser sent a form of another website with the user's session; it was not processed."""

    code = "cross_site_request"
    title = "The form was sent from another website"
    help = "Nothing was changed. Open the page on this server, and send the form from there."


class PasswordSignInOff(Forbidden):
    """The operator has turned sign-in with passwords off."""

    code = "password_sign_in_off"
    title = "Passwords are turned off"
    help = "Sign in with your company account instead."


class CompanyAccountRefused(Forbidden):
    """The company account is valid, but has no access to this service."""

    code = "company_account_refused"
    title = "The company account has no access"
    help = "Ask your admin to give your company account access to this service."


class TotpRequiredForAdmins(Forbidden):
    """The operator requires two-factor sign-in of admins, and the account has not set it up."""

    code = "totp_required_for_admins"
    title = "Admins need two-factor sign-in"
    help = "Set up two-factor sign-in for your account first; then continue."


class PermissionDenied(Forbidden):
    """The account, or the API key, lacks a permission; `permission` names it."""

    code = "permission_denied"
    title = "This account may not do this"
    help = "Ask an admin of your workspace, who can allow it on the page Permissions."

    @classmethod
    def of(cls, permission: Permission, *, of_key: bool) -> Self:
        """Return the refusal of an account or, with `of_key`, of an API key."""
        act, extra = ACTS[permission], {"permission": permission.value}
        if of_key:
            return cls(
                f"This API key may not {act}. Create a key with the permission {permission}. If the "
                "account lacks it too, an admin of your workspace can allow it on the page Permissions.",
                extra=extra,
            )
        detail = Message(
            "{refusal} Ask an admin of your workspace, who can allow it on the page Permissions.",
            refusal=REFUSALS[permission],
        )
        return cls(detail, extra=extra)


class NotFound(Problem):
    """The resource does not exist, or is not visible to the caller."""

    code = "not_found"
    status = 404
    title = "Not found"
    help = "Check the URL against /docs."


class ContactNotFound(NotFound):
    """No contact has this id."""

    code = "contact_not_found"
    title = "No such contact"
    help = "Look the person up again with POST /api/ext/lookup and use the returned id."


class JobNotFound(NotFound):
    """No job of the caller's workspace has this id."""

    code = "job_not_found"
    title = "No such job"
    help = "List the workspace's latest jobs with GET /api/ext/jobs."


class UploadNotFound(NotFound):
    """No upload of the caller's workspace has this id."""

    code = "upload_not_found"
    title = "No such upload"
    help = "List the workspace's uploads with GET /api/uploads."


class CompanyFilterNotReady(NotFound):
    """No company filter has been built yet, or COMPANY_FILTER_SECONDS is 0."""

    code = "company_filter_not_ready"
    title = "No company filter has been built"
    help = "Look websites up with POST /api/ext/company-by-hash, and try again in a few minutes."


class MethodNotAllowed(Problem):
    """The path exists, but does not support the method."""

    code = "method_not_allowed"
    status = 405
    title = "Method not allowed"
    help = "Use one of the methods named in the Allow header."


class RequestTimeout(Problem):
    """The head took ten seconds, or the body stopped for twenty or came slower than 64 KiB a second."""

    code = "request_timeout"
    status = 408
    title = "The request took too long to arrive"
    retryable = True
    help = "Nothing was changed. Send the request again over a faster connection."


class UploadNotReady(Problem):
    """The upload's status does not allow this."""

    code = "upload_not_ready"
    status = 409
    title = "The status of the upload does not allow this"
    help = (
        "Read the upload's status with GET /api/uploads/<id>, and wait until it is the one that this needs."
    )


class EndpointDisabled(Problem):
    """The webhook endpoint is disabled, so nothing is delivered to it."""

    code = "endpoint_disabled"
    status = 409
    title = "The webhook endpoint is disabled"
    help = "The endpoint of the delivery is disabled. Enable it, then replay the delivery."


class PasswordResetRefused(Problem):
    """The account gets no new password by a link; `detail` says why."""

    code = "password_reset_refused"
    status = 409
    title = "The password cannot be reset"
    help = "Check that the account is enabled, has a password, and is not your own."


class FilterKeyUnknown(Problem):
    """The service does not use this public key: another one is set, or none, or it has no filter yet."""

    code = "filter_key_unknown"
    status = 409
    title = "The service does not use this key"
    help = "Download the company filter again; its header has the public key, if there is one."


class PayloadTooLarge(Problem):
    """The body is too large for this endpoint."""

    code = "payload_too_large"
    status = 413
    title = "The body is too large"
    help = "Send at most 256 KiB of JSON; split long lists into several requests."


class UnsupportedMediaType(Problem):
    """The endpoint does not accept the media type of the body."""

    code = "unsupported_media_type"
    status = 415
    title = "The media type is not supported"
    help = "Send 'Content-Type: application/json'."


class Unprocessable(Problem):
    """Base of errors about requests that were parsed but are not valid."""

    status = 422


class ValidationFailed(Unprocessable):
    """One or more fields are invalid; `errors` names them."""

    code = "validation_error"
    title = "The request has invalid fields"
    help = "Correct the fields listed in 'errors' and send the request again."

    def __init__(self, detail: str = "", *, errors: tuple[FieldError, ...]) -> None:
        """Store the message for the caller and the invalid fields, at least one of which must be named."""
        super().__init__(detail, errors=errors)


class InsufficientIdentifiers(Unprocessable):
    """The subject has too few fields to identify one person."""

    code = "insufficient_identifiers"
    title = "The subject does not identify a person"
    help = (
        "Send contact_id, linkedin_url, email or phone; or a name (full_name, or first_name and last_name) "
        "with company_domain or company_name."
    )


class IdempotencyKeyReused(Unprocessable):
    """The Idempotency-Key was already used with another request."""

    code = "idempotency_key_reused"
    title = "The Idempotency-Key was used for another request"
    help = "Use a new Idempotency-Key for a new request."


class BadHash(Unprocessable):
    """A hash or prefix is not lower-case hexadecimal of the right length."""

    code = "bad_hash"
    title = "Not a SHA-256 in lower-case hexadecimal"
    help = "Send 64 lower-case hexadecimal digits: the SHA-256 of the normalised website."


class PrefixNotAllowed(Unprocessable):
    """The request has a prefix where a whole hash is required, or the company filter is keyed."""

    code = "prefix_not_allowed"
    title = "A prefix is not accepted here"
    help = (
        "Send 'hash' or 'hashes'; only company-by-hash accepts a prefix. While the company filter is keyed, "
        "it accepts only one of an output, with 'key'."
    )


class NotAProfileUrl(Unprocessable):
    """The URL does not lead to a person's or company's public profile."""

    code = "not_a_profile_url"
    title = "Not a profile URL"
    help = "Send the URL of a public profile, such as https://www.linkedin.com/in/<slug>."


class PersonSuppressed(Unprocessable):
    """The person asked not to be stored; nothing was stored or changed."""

    code = "person_suppressed"
    title = "The person is suppressed"
    help = "The person asked not to be stored. Nothing was saved; remove the person from the request."


class TotpAlreadyOn(Unprocessable):
    """The account has an authenticator app; a second one would lock the first one out."""

    code = "totp_already_on"
    title = "Two-factor sign-in is on already"
    help = "Turn two-factor sign-in off first, then set up the new authenticator app."


class PurposeRequired(Unprocessable):
    """The operator requires a purpose for the values of this person, and none was stated."""

    code = "purpose_required"
    title = "A purpose is required"
    help = (
        "Nothing was charged. Send the request again with a new Idempotency-Key and with 'purpose': why you "
        "need the values of this person. GET /api/ext/session lists the purposes that can be stated."
    )

    def __init__(self, allowed: Sequence[str]) -> None:
        """Store the purposes that can be stated."""
        super().__init__(
            Message(
                "Nothing was charged. Send the request again with a new Idempotency-Key and with 'purpose', "
                "which states why you need the values of this person: {purposes}.",
                purposes=", ".join(allowed),
            ),
            extra={"purposes": list(allowed)},
        )


class TooMany(Problem):
    """Base of rate limits; `retry_after` is the seconds to wait. Credits are not a rate limit."""

    status = 429
    retryable = True


class RateLimited(TooMany):
    """More requests than the policy in RateLimit-Policy allows."""

    code = "rate_limited"
    title = "Too many requests"
    help = "Wait for the number of seconds in Retry-After, then continue."


class TooManyAttempts(TooMany):
    """Too many failed sign-ins."""

    code = "too_many_attempts"
    title = "Too many attempts to sign in"
    help = "Wait for the number of seconds in Retry-After before the next attempt."


class InternalError(Problem):
    """An error in the service; it is logged with the request id."""

    code = "internal_error"
    status = 500
    title = "Internal error"
    retryable = True
    help = "Try again. If the error persists, send the request id to your admin."


class Unavailable(Problem):
    """The database is not available at the moment; nothing was charged."""

    code = "unavailable"
    status = 503
    title = "The service is temporarily unavailable"
    retryable = True
    retry_seconds = 1
    help = "Nothing was charged. Try again with the same Idempotency-Key."


class JobFailed(Problem):
    """Base of the reasons why an accepted job failed; only completed items of an enrichment were charged."""

    retryable = True


class ProviderFailed(JobFailed):
    """Every provider that was called failed, including retries."""

    code = "provider_failed"
    status = 502
    title = "All providers failed"
    help = "Nothing was charged. The trace shows which providers failed and why. Try again later."


class WorkerLost(JobFailed):
    """Each worker that ran the job stopped before it was done."""

    code = "worker_lost"
    status = 500
    title = "The workers that ran the job stopped unexpectedly"
    help = "Values that were not delivered were not charged. Send the job id to your admin."


class JobExpired(JobFailed):
    """No worker finished the job before its deadline."""

    code = "job_expired"
    status = 504
    title = "The job was not finished before its deadline"
    help = (
        "Values that were not delivered were not charged. Submit the request again. "
        "If it expires again, more workers are needed."
    )


def all_problems() -> dict[str, type[Problem]]:
    """Return every code with its class, for the pages under /problems and the agreement tests."""
    problems: dict[str, type[Problem]] = {}
    pending: list[type[Problem]] = [Problem]
    while pending:
        kind = pending.pop()
        pending.extend(kind.__subclasses__())
        if "code" in vars(kind):
            problems[kind.code] = kind
    return dict(sorted(problems.items(), key=lambda item: (item[1].status, item[0])))
