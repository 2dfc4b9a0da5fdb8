"""What an admin chooses for the numbers in a register; the API and the page call it."""

from __future__ import annotations

from app.domain.audit_actions import Action
from app.domain.call_registers import Effect, strictest
from app.domain.errors import FieldError, NotFound, ValidationFailed
from app.domain.messages import Message
from app.engine.audit_log import entries as audit_log
from app.features.call_registers import loading, overviews
from app.features.call_registers.overviews import Overview
from app.infra.database import database_clock
from app.web import admission
from app.web.services import services
from app.web.sign_in.admins import admin_caller
from app.web.sign_in.auth import caller

UNKNOWN = Message("There is no such register. GET /api/call-registers returns those that are loaded.")


def shown() -> list[Overview]:
    """Return the registers, with what the caller's workspace does with their numbers."""
    with services().database.reading() as session:
        return overviews.of_workspace(session, caller().workspace_id)


def choose(register_id: str, effect: Effect) -> Overview:
    """Set what the workspace does with the numbers in a register; the caller is an admin with a session.

    Raises:
        NotFound: there is no such register.
        ValidationFailed: the operator demands more.

    """
    workspace_id = caller().workspace_id
    with admission.transaction() as session:
        admin_caller(session)
        found = {row.id: row for row in overviews.of_workspace(session, workspace_id)}
        row = found.get(register_id)
        if row is None:
            raise NotFound(UNKNOWN)
        if strictest([effect, row.operator_effect]) is not effect:
            detail = Message(
                "The operator has set {value}; a workspace may only be stricter.",
                value=row.operator_effect.value,
            )
            raise ValidationFailed(errors=(FieldError("/effect", detail),))
        loading.set_effect(
            session,
            register_id,
            effect,
            workspace_id=workspace_id,
            changed_by=caller().account_id,
            now=database_clock.now(),
        )
        audit_log.record(
            session, Action.CALL_REGISTER_EFFECT, object_id=register_id, workspace_id=workspace_id
        )
        return {row.id: row for row in overviews.of_workspace(session, workspace_id)}[register_id]
