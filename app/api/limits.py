"""/api/limits: the spending limits of a workspace's accounts and API keys."""

from __future__ import annotations

from typing import Any, ClassVar

from apiflask import APIBlueprint, Schema
from flask import Response
from marshmallow import fields, validate

from app.api.docs.operations import documented, id_parameter
from app.api.http import admission
from app.api.http.auth import bearer, caller, session_caller
from app.api.http.body import json_response
from app.api.http.rate_limits import Policy, limited
from app.api.http.services import services
from app.api.schemas.fields import AsciiInteger, ResponseSchema, StrictSchema
from app.api.schemas.limit_schemas import MONTHLY_LIMIT, SPENDING_CAP, SpendingLimitSchema, limit_field
from app.core.accounts import workspaces
from app.core.ledger import limit_settings
from app.core.ledger.limit_settings import SubjectLimit
from app.domain import ids
from app.domain.errors import AdminRequired, FieldError, InsufficientScope, NotFound, ValidationFailed
from app.domain.spending import Period
from app.infra import database_clock
from app.infra.log import log

blueprint = APIBlueprint("limits", __name__, tag="Limits and usage")

PERIODS = {"monthly_limit": Period.MONTH, "spending_cap": Period.TOTAL}
"""The field of each period in requests."""
MAX_PAGE = 100


class LimitsQuery(Schema):
    """The page of a list of limits."""

    limit = AsciiInteger(load_default=MAX_PAGE, validate=validate.Range(min=1, max=MAX_PAGE))
    cursor = fields.String(
        metadata={"description": "`next_cursor` of the previous page.", "pattern": "^lim_[0-9a-v]{24}$"}
    )


class AccountLimitsSchema(StrictSchema):
    """The limit of an account."""

    monthly_limit = limit_field(f"{MONTHLY_LIMIT} Null removes the limit.", required=True)


class KeyLimitsSchema(StrictSchema):
    """The limits of an API key; one that is absent stays as it is."""

    json_schema: ClassVar[dict[str, Any]] = {"minProperties": 1}
    monthly_limit = limit_field(f"{MONTHLY_LIMIT} Null removes the limit.")
    spending_cap = limit_field(f"{SPENDING_CAP} Null removes the cap.")


class LimitsResponseSchema(ResponseSchema):
    """Limits and their use, in the order in which they were set."""

    limits = fields.List(fields.Nested(SpendingLimitSchema), required=True)


class LimitsPageSchema(LimitsResponseSchema):
    """A page of limits."""

    next_cursor = fields.String(required=True, allow_none=True)


@blueprint.get("/api/limits")
@documented(ValidationFailed)
@blueprint.auth_required(bearer)
@limited(Policy.READ)
@blueprint.input(LimitsQuery, location="query", arg_name="query")
@blueprint.output(LimitsPageSchema)
def index(query: dict[str, Any]) -> Response:
    """List the spending limits and their use.

    Admins see those of the workspace, members those of their account and its keys. An API key sees its own
    and those of its account.
    """
    cursor = query.get("cursor", "")
    if cursor and not ids.is_id(cursor, "lim"):
        raise ValidationFailed(errors=(FieldError("/cursor", "Use next_cursor of the previous page."),))
    limit = query["limit"]
    with services().database.reading() as session:
        page = limit_settings.in_force(
            session,
            caller().workspace_id,
            now=database_clock.value(session),
            after=cursor,
            limit=limit + 1,
            **_visible(),
        )
    next_cursor = page[limit - 1].id if len(page) > limit else None
    return json_response({"limits": _to_json(page[:limit]), "next_cursor": next_cursor})


@blueprint.put("/api/limits/accounts/<account_id>")
@documented(AdminRequired, NotFound, path_parameters={"account_id": id_parameter("acc")})
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.input(AccountLimitsSchema, arg_name="body")
@blueprint.output(LimitsResponseSchema)
def put_account_limits(account_id: str, body: dict[str, int | None]) -> Response:
    """Set or remove the monthly limit of an account, which covers its sessions and its API keys.

    It requires a session of an admin of the workspace. What was spent in this month counts at once.
    """
    if not session_caller().is_admin:
        raise AdminRequired("Ask an admin of your workspace to change the limit of an account.")
    return _put(account_id, "acc", body)


@blueprint.put("/api/limits/keys/<key_id>")
@documented(NotFound, path_parameters={"key_id": id_parameter("key")})
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.input(KeyLimitsSchema, arg_name="body")
@blueprint.output(LimitsResponseSchema)
def put_key_limits(key_id: str, body: dict[str, int | None]) -> Response:
    """Set or remove limits of an API key.

    It requires a session of the key's owner or of an admin. The key itself may lower its limits.
    """
    if not body:
        message = "Send monthly_limit or spending_cap."
        raise ValidationFailed(errors=(FieldError("", message),))
    if caller().key_id not in {None, key_id}:
        raise InsufficientScope(
            "An API key can only lower its own limits. Sign in to change those of others."
        )
    return _put(key_id, "key", body)


def _put(subject_id: str, prefix: ids.Prefix, body: dict[str, int | None]) -> Response:
    if not ids.is_id(subject_id, prefix):
        raise NotFound
    with admission.transaction() as session:
        workspaces.lock(session, [caller().workspace_id])
        now = database_clock.value(session)
        subject = limit_settings.subject(session, caller().workspace_id, subject_id)
        if not (caller().is_admin or subject.account_id == caller().account_id):
            raise NotFound  # as for a key that does not exist
        before = limit_settings.in_force(session, caller().workspace_id, now=now, subject_ids=[subject_id])
        if caller().kind != "session":
            _require_lower(before, body)
        for name, credits_ in body.items():
            limit_settings.put(session, caller().workspace_id, subject, PERIODS[name], credits_, now=now)
        after = limit_settings.in_force(session, caller().workspace_id, now=now, subject_ids=[subject_id])
    log.info("spending limits changed", account=caller().account_id, subject=subject_id)
    return json_response({"limits": _to_json(after)})


def _visible() -> dict[str, Any]:
    """Return the restriction to the limits that the caller may see."""
    current = caller()
    if current.key_id is not None:
        return {"subject_ids": [current.key_id, current.account_id]}
    return {} if current.is_admin else {"account_id": current.account_id}


def _require_lower(before: list[SubjectLimit], body: dict[str, int | None]) -> None:
    """Raise InsufficientScope unless each limit is new or lower than before."""
    current = {limit.usage.period: limit.usage.credits for limit in before}
    for name, credits_ in body.items():
        if credits_ is None or credits_ > current.get(PERIODS[name], credits_):
            raise InsufficientScope(
                "An API key can only lower its own limits. Sign in to raise or remove them."
            )


def _to_json(limits: list[SubjectLimit]) -> list[dict[str, Any]]:
    return [limit_settings.to_public(limit) for limit in limits]
