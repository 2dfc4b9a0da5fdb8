"""/api/crm/pushes: push contacts to a CRM, and read the receipts."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields

from app.domain import ids
from app.domain.callers import Scope
from app.domain.errors import ContactNotFound, FieldError, NotFound, ValidationFailed
from app.domain.permissions import Permission
from app.features.crm import connections, people, pushes, sentences
from app.features.crm.connections import CrmConnection
from app.features.crm.pushes import MAX_LIST, PushItem, PushOptions, PushSummary
from app.features.crm.schemas import (
    NewPushSchema,
    PushesResponseSchema,
    PushResponseSchema,
    companies_json,
)
from app.features.crm.vendors import notes
from app.infra import clock
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.web import admission, permissions, public_urls
from app.web.bodies.body import json_response
from app.web.bodies.idempotency_header import REPLAYED, begin, finish
from app.web.languages.texts import in_response
from app.web.operations import Operation, id_parameter
from app.web.rate_limits import Policy, limited
from app.web.schemas.paging import IdCursor, page_size, split
from app.web.schemas.queries import QuerySchema
from app.web.services import services
from app.web.sign_in.auth import bearer, caller

blueprint = APIBlueprint("crm_pushes", __name__, tag="CRM")
DEFAULT_LIMIT = 100
MAX_LIMIT = 500


class PushesQuery(QuerySchema):
    """The filter and the page of a list of pushes."""

    contact_id = fields.String(metadata={"description": "Only pushes of this contact."})
    limit = page_size(20, DEFAULT_LIMIT)
    cursor = IdCursor("psh")


class ItemsQuery(QuerySchema):
    """The page of the receipts of a push."""

    limit = page_size(DEFAULT_LIMIT, MAX_LIMIT)
    cursor = IdCursor("psi")


@blueprint.post("/api/crm/pushes")
@Operation(errors=(ContactNotFound, NotFound), takes_idempotency_key=True)
@blueprint.auth_required(bearer, roles=[Scope.SAVE])
@limited(Policy.WRITE)
@blueprint.input(NewPushSchema, arg_name="body")
@blueprint.output(PushResponseSchema, status_code=202, description="The push; a worker makes it.")
def create(body: dict[str, Any]) -> Response:
    """Push contacts to a CRM; it is free.

    Only contacts of which the workspace owns a value or that it saved can be pushed, and only values that it
    owns are written. In the CRM, empty properties are filled, and values that an earlier push wrote are
    renewed; what people edited there is kept. With `dry_run` the receipts say what would be done.
    """
    permissions.require(Permission.PUSH)
    workspace_id = caller().workspace_id
    with admission.transaction() as session:
        now = database_clock.value(session)
        reference = begin(session, now=now)
        if reference:
            return json_response(_described(pushes.get(session, workspace_id, reference), []), 202, REPLAYED)
        connection = connections.get(session, workspace_id, body["connection_id"], lock=True)
        contact_ids = body.get("contact_ids") or _in_list(session, workspace_id, body["list_"])
        if not all(ids.is_id(contact_id, "con") for contact_id in contact_ids):
            raise ContactNotFound
        push = pushes.submit(
            session,
            connection,
            contact_ids,
            account_id=caller().account_id,
            origin=public_urls.absolute("/"),
            options=PushOptions(dry_run=body["dry_run"], company_id=body["company_id"]),
            now=now,
        )
        finish(session, push.id)
        return json_response(_described(pushes.get(session, workspace_id, push.id), []), 202)


@blueprint.get("/api/crm/pushes")
@Operation(errors=(ValidationFailed,))
@blueprint.auth_required(bearer, roles=[Scope.SAVE])
@limited(Policy.READ)
@blueprint.input(PushesQuery, location="query", arg_name="query")
@blueprint.output(PushesResponseSchema)
def index(query: dict[str, Any]) -> Response:
    """List the workspace's pushes, newest first."""
    limit = query["limit"]
    with services().database.reading() as session:
        found = pushes.latest(
            session,
            caller().workspace_id,
            contact_id=query.get("contact_id"),
            before=query.get("cursor"),
            limit=limit + 1,
        )
    page, next_cursor = split(found, limit, "push.id")
    return json_response({"pushes": list(map(push_json, page)), "next_cursor": next_cursor})


@blueprint.get("/api/crm/pushes/<push_id>")
@Operation(errors=(NotFound, ValidationFailed), path_parameters={"push_id": id_parameter("psh")})
@blueprint.auth_required(bearer, roles=[Scope.SAVE])
@limited(Policy.READ)
@blueprint.input(ItemsQuery, location="query", arg_name="query")
@blueprint.output(PushResponseSchema)
def show(push_id: str, query: dict[str, Any]) -> Response:
    """Return a push with the receipts of its contacts."""
    limit = query["limit"]
    with services().database.reading() as session:
        push = pushes.get(session, caller().workspace_id, push_id)
        found = pushes.items(session, push_id, after=query.get("cursor"), limit=limit + 1)
        connection = connections.get(session, caller().workspace_id, push.push.connection_id)
    page, next_cursor = split(found, limit)
    shown = _described(push, [_item_json(item, connection) for item in page], next_cursor)
    return json_response(shown)


def push_json(summary: PushSummary) -> dict[str, Any]:
    """Return the push with the number of its contacts by outcome."""
    return {
        "id": summary.push.id,
        "connection_id": summary.push.connection_id,
        "vendor": summary.vendor,
        "dry_run": summary.push.dry_run,
        "status": summary.status,
        "progress": {"done": summary.done, "total": summary.total},
        "outcomes": {outcome: count for outcome, count in summary.counts.items() if outcome is not None},
        "created_by": summary.push.account_id,
        "created_at": clock.rfc3339(summary.push.created_at),
    }


def _described(
    push: PushSummary, items: list[dict[str, Any]], next_cursor: str | None = None
) -> dict[str, Any]:
    return {"push": push_json(push), "items": items, "next_cursor": next_cursor}


def _item_json(item: PushItem, connection: CrmConnection) -> dict[str, Any]:
    return {
        "contact_id": item.contact_id,
        "outcome": item.outcome,
        "error": item.error,
        "error_message": in_response(sentences.sentence(item.error)) or None,
        "actions": item.actions,
        "notes": [
            note | {"message": in_response(note["message"])}
            for note in map(notes.described, item.notes or ())
        ],
        "companies": companies_json(item, connection),
        "attempts": item.attempts,
        "finished_at": clock.rfc3339(item.finished_at),
        "latency_ms": item.latency_ms,
    }


def _in_list(session: Session, workspace_id: str, name: str) -> list[str]:
    """Return the contacts of the list."""
    contact_ids = people.in_list(session, workspace_id, name, limit=MAX_LIST)
    if not contact_ids:
        error = "No saved profile in this list belongs to a contact that is known. Reveal the people first."
        raise ValidationFailed(errors=(FieldError("/list", error),))
    return contact_ids
