"""The start page of the signed-in: the search, first steps until they are done, people, credits and cards."""

from __future__ import annotations

from flask import Response, request

from app.engine.owned import owned_contacts
from app.engine.owned.owned_filters import Order, Selection, Sort
from app.web.feature import web_parts
from app.web.pages import start_parts
from app.web.pages.access import signed_in, viewer
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.rendering import go_to, page
from app.web.pages.start_parts import Card, Start, Step
from app.web.rate_limits import Policy, limited
from app.web.services import services

blueprint = PageBlueprint("home", __name__)

RECENT = 6
LATEST = Selection(sort=Sort.REVEALED_AT, order=Order.DESCENDING)
HIDDEN = "hide_first_steps"
_YEAR_SECONDS = 31_536_000


@signed_in
@limited(Policy.READ)
def show() -> Response:
    """Show the start page."""
    known = viewer()
    with services().database.reading() as session:
        found = owned_contacts.page(session, known.workspace_id, LATEST, limit=RECENT)
        start = start_parts.read(session, known)
        steps = [] if HIDDEN in request.cookies else _steps(start)
        cards = _cards(start)
    people = [person.public(with_values=True) for person in found.contacts]
    return page("start.html", people=people, steps=steps, cards=cards)


@blueprint.post("/first-steps/hide")
@signed_in
@limited(Policy.READ)
def hide_first_steps() -> Response:
    """Show the first steps no more in this browser."""
    response = go_to("start.start")
    response.set_cookie(
        HIDDEN, "1", max_age=_YEAR_SECONDS, secure=request.is_secure, httponly=True, samesite="Lax"
    )
    return response


def _steps(start: Start) -> list[Step]:
    """Return the steps of this viewer in their order, or none once all are done."""
    steps = [
        *start_parts.own_steps(start),
        *(step for part in web_parts() for step in part.first_steps(start)),
    ]
    all_done = all(step.is_done for step in steps)
    return [] if all_done else sorted(steps, key=lambda step: step.position)


def _cards(start: Start) -> list[Card]:
    cards = (card for part in web_parts() for card in part.start_cards(start))
    return sorted(cards, key=lambda card: card.position)
