"""/verifications: verify addresses and numbers, single ones or a list, and see what came of it."""

from __future__ import annotations

from typing import Any

from flask import Response, request

from app.domain.errors import InsufficientCredits, ValidationFailed
from app.domain.kinds import Kind
from app.domain.messages import Message
from app.features.verifications import list_values, lists, requests
from app.features.verifications.schemas import VerificationSchema
from app.web import costs
from app.web.bodies.downloads import TABLES
from app.web.languages.texts import translate
from app.web.pages import forms, paging
from app.web.pages.access import signed_in
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.forms import InvalidForm
from app.web.pages.rendering import go_to, page
from app.web.rate_limits import Policy, limited
from app.web.services import services
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("verifications_page", __name__, template_folder="templates")

SHOWN = 100
"""The values of a list that its page shows; the file has all."""
MAX_TYPED = 100
NOTHING_TYPED = Message("Enter at least one e-mail address or phone number.")
TOO_MANY_TYPED = Message("Enter at most {max} values, or send them as a file.", max=MAX_TYPED)
_FIELDS = ("values", "country")


@blueprint.get("/verifications")
@signed_in
@limited(Policy.READ)
def index() -> Response:
    """Show the forms, and the lists of the workspace."""
    return _index()


@blueprint.post("/verifications")
@signed_in
@limited(Policy.SPEND)
def verify() -> Response:
    """Verify what was typed, and show the receipt."""
    typed = [line.strip() for line in forms.text("values").splitlines() if line.strip()]
    if not typed or len(typed) > MAX_TYPED:
        return _index(422, errors={"values": TOO_MANY_TYPED if typed else NOTHING_TYPED})
    try:
        body = forms.load(VerificationSchema(), {"values": typed, **forms.texts("country")})
        answer: dict[str, Any] = requests.submit(body).get_json()
    except InvalidForm as invalid:
        return _index(
            422, errors={"values": " ".join(dict.fromkeys(map(translate, invalid.messages.values())))}
        )
    except ValidationFailed as problem:
        places = [int(error.pointer.rpartition("/")[2]) for error in problem.errors]
        details = [
            f"{typed[place]}: {translate(error.detail)}"
            for place, error in zip(places, problem.errors, strict=True)
        ]
        return _index(422, errors={"values": "\n".join(details)})
    except InsufficientCredits as problem:
        return _index(402, errors={"values": costs.refusal(problem)})
    return go_to("history.receipt", job_id=answer["job"]["id"])


@blueprint.get("/verifications/<verification_id>")
@signed_in
@limited(Policy.READ)
def one(verification_id: str) -> Response:
    """Show a list: how far it is, what it cost, and its first values."""
    with services().database.reading() as session:
        row = lists.get(session, caller().workspace_id, verification_id)
        described = lists.describe(session, row)
        statuses = list_values.counts(session, row.id)
        is_over = described["status"] == lists.FINISHED
        rows = list_values.page(session, row.id, start=0, limit=SHOWN) if is_over else []
    return page(
        "verification.html",
        verified=costs.shown(described),
        statuses=statuses,
        rows=requests.shown_rows(rows),
        shown=SHOWN,
    )


@blueprint.get("/verifications/<verification_id>/download")
@signed_in
@limited(Policy.READ)
def download(verification_id: str) -> Response:
    """Download the verdicts as CSV or XLSX."""
    file_format = request.args.get("format")
    return requests.download(verification_id, file_format if file_format in TABLES else "csv")


def _index(status: int = 200, *, errors: dict[str, str] | None = None) -> Response:
    app, before = services(), paging.cursor("vrf")
    with app.database.reading() as session:
        rows = lists.latest(session, caller().workspace_id, before=before, limit=paging.ROWS + 1)
        shown, older = paging.split(rows, lambda row: row.id)
        described = [lists.describe(session, row) for row in shown]
    return page(
        "verifications.html",
        status,
        lists=costs.shown(described),
        older=older,
        errors=errors or {},
        typed={name: forms.text(name) if errors else "" for name in _FIELDS},
        price=app.settings.prices[Kind.VERIFICATION],
        max_mb=app.settings.upload_max_mb,
    )
