"""What the audit log records: actions, who did them, and how they ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Action(StrEnum):
    """An action in the audit log; reveals are recorded by the database itself, as `reveal.<field>`.

    Commands are recorded as `command.<group>.<name>`, and are not listed here.
    """

    SIGN_IN = "sign_in"
    SESSION_END = "session.end"
    PASSWORD_CHECK = "password.check"  # noqa: S105 -- likewise
    PASSWORD_CHANGE = "password.change"  # noqa: S105 -- an action, not a secret
    PASSWORD_RESET_LINK = "password.reset_link"  # noqa: S105 -- likewise
    PASSWORD_RESET_MAIL = "password.reset_mail"  # noqa: S105 -- likewise
    TOTP_ENABLE = "totp.enable"
    TOTP_DISABLE = "totp.disable"
    COMPANY_IDENTITY_LINK = "company_identity.link"
    COMPANY_IDENTITY_UNLINK = "company_identity.unlink"
    ACCOUNT_CREATE = "account.create"
    ACCOUNT_CHANGE = "account.change"
    ACCOUNT_DISABLE = "account.disable"
    ACCOUNT_ENABLE = "account.enable"
    ACCOUNT_ROLE = "account.role"
    SCIM_TOKEN_CREATE = "scim_token.create"  # noqa: S105 -- likewise
    SCIM_TOKEN_REVOKE = "scim_token.revoke"  # noqa: S105 -- likewise
    SCIM_GROUP_MAP = "scim_group.map"
    PERMISSIONS_MEMBERS = "permissions.members"
    PERMISSIONS_ACCOUNT = "permissions.account"
    API_ACCESS_GRANT = "api_access.grant"
    API_ACCESS_REVOKE = "api_access.revoke"
    API_KEY_CREATE = "api_key.create"
    API_KEY_REVOKE = "api_key.revoke"
    WORKSPACE_CREATE = "workspace.create"
    CREDITS_GRANT = "credits.grant"
    CREDITS_EXPIRE = "credits.expire"
    CREDIT_SCHEDULE_SET = "credit_schedule.set"
    CREDIT_SCHEDULE_PAUSE = "credit_schedule.pause"
    CREDIT_SCHEDULE_RESUME = "credit_schedule.resume"
    CREDIT_SCHEDULE_REMOVE = "credit_schedule.remove"
    LIMIT_SET = "limit.set"
    LIMIT_REMOVE = "limit.remove"
    CALL_REGISTER_EFFECT = "call_register.effect"
    CRM_CONNECT = "crm_connection.create"
    CRM_CREDENTIALS = "crm_connection.credentials"
    CRM_MAPPING = "crm_connection.mapping"
    CRM_EXCLUDED_STAGES = "crm_connection.excluded_stages"
    CRM_DISCONNECT = "crm_connection.delete"
    CRM_PUSH = "crm.push"
    CRM_SCHEDULE_CREATE = "crm_schedule.create"
    CRM_SCHEDULE_CHANGE = "crm_schedule.change"
    CRM_SCHEDULE_PAUSE = "crm_schedule.pause"
    CRM_SCHEDULE_RESUME = "crm_schedule.resume"
    CRM_SCHEDULE_RUN = "crm_schedule.run"
    CRM_SCHEDULE_DELETE = "crm_schedule.delete"
    WEBHOOK_ENDPOINT_CREATE = "webhook_endpoint.create"
    WEBHOOK_ENDPOINT_CHANGE = "webhook_endpoint.change"
    WEBHOOK_ENDPOINT_DELETE = "webhook_endpoint.delete"
    REVEAL_EMAIL = "reveal.email"
    REVEAL_PHONE = "reveal.phone"
    EXPORT_CONTACTS = "export.contacts"
    EXPORT_UPLOAD = "export.upload"
    EXPORT_VERIFICATION = "export.verification"
    EXPORT_AUDIT_LOG = "export.audit_log"
    PERSON_ERASE = "person.erase"
    PERSON_RECTIFY = "person.rectify"
    SUPPRESSION_ADD = "suppression.add"
    SUPPRESSION_REMOVE = "suppression.remove"
    EXCLUSION_ADD = "exclusion.add"
    EXCLUSION_REMOVE = "exclusion.remove"
    DIAL_LINK_SET = "dial_link.set"
    ADDRESS_BOOK_CREATE = "address_book.create"
    ADDRESS_BOOK_REPLACE = "address_book.replace"
    ADDRESS_BOOK_DELETE = "address_book.delete"


class ActorKind(StrEnum):
    """Who did something: an account, an API key, a provider, a user of the machine, or the service."""

    ACCOUNT = "account"
    API_KEY = "api_key"
    SCIM = "scim"
    COMMAND = "command"
    SYSTEM = "system"
    UNKNOWN = "unknown"


class Outcome(StrEnum):
    """How an action ended; `started` precedes the outcome of a command."""

    STARTED = "started"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who did something: the id of an account or API key, or the name of a user of the operating system.

    `request_id` is the id of the HTTP request, if it was one.
    """

    kind: ActorKind
    id: str | None = None
    request_id: str | None = None


SYSTEM = Actor(ActorKind.SYSTEM)
