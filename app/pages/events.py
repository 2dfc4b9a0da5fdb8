"""/events: what happened in the workspace, such as job changes, as sentences."""

from __future__ import annotations

from flask import Response, request

from app.domain.event_types import EventType
from app.engine.events import events
from app.pages import event_sentences
from app.web import costs
from app.web.pages import paging
from app.web.pages.access import signed_in
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.rendering import page
from app.web.rate_limits import Policy, limited
from app.web.services import services
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("events_page", __name__)


@blueprint.get("/events")
@signed_in
@limited(Policy.READ)
def index() -> Response:
    """List the events of the workspace, newest first."""
    chosen = request.args.get("type", "")
    type_ = chosen if chosen in set(EventType) else None
    hidden = costs.hidden_events()
    before, workspace_id = paging.cursor("evt"), caller().workspace_id
    with services().database.reading() as session:
        rows = events.latest(
            session, workspace_id, type_=type_, left_out=hidden, before=before, limit=paging.ROWS + 1
        )
        shown, older = paging.split(rows, lambda event: event.id)
        sentences = event_sentences.describe(session, workspace_id, shown)
    types = [(value.value, event_sentences.LABELS[value]) for value in EventType if value not in hidden]
    return page("events.html", sentences=sentences, older=older, chosen=type_ or "", types=types)
