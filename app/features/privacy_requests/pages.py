"""/privacy: people see, correct and erase what is stored about them, after they have proved their mailbox.

A request does the same work for an address that is stored and for one that is not: only the page behind the
code reads contacts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flask import Response, flash, request

from app.domain.errors import FieldError, InvalidValue, RateLimited, ValidationFailed
from app.domain.kinds import MAIL_CODE, Queue
from app.domain.messages import Message
from app.domain.normal.emails import normal_email
from app.engine.contacts.contacts import Contact
from app.engine.contacts.suppressions import suppressions
from app.engine.privacy import erasure, erasure_run, person_data, rectification
from app.engine.privacy.erasure import ErasurePlan
from app.engine.privacy.rectification import Correction
from app.features.privacy_requests import mailbox_codes, mailbox_owner, mailbox_proofs
from app.features.privacy_requests.mailbox_owner import MailboxOwner
from app.infra import clock
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.infra.telemetry.log import log
from app.web import admission, failure_limits
from app.web.bodies.downloads import as_file
from app.web.languages.negotiation import language
from app.web.pages import forms
from app.web.pages.blueprint import PageBlueprint, protect
from app.web.pages.rendering import go_to, page
from app.web.pages.sealed_cookie import SealedCookie
from app.web.request_actor import request_actor
from app.web.services import services

blueprint = PageBlueprint("privacy", __name__, template_folder="templates")

PER_NETWORK = "60/hour"
"""The forms that a network may send."""
VIEWS_PER_NETWORK = "120/hour"
"""How often a network may open the data: each time all that may mention the person is searched."""
CORRECTIONS_PER_PROOF = "20/hour"
"""Each one is an event for every workspace that received the data; access ends within the hour."""
COOKIE = SealedCookie("privacy", seconds=3600)
"""Which proof this browser has asked for; only the right code opens it."""
_OTHER_NAME = Message(
    "This is not a form of the stored name. Ask the operator, with what shows that it is yours."
)
_ADDRESS_ONLY = "requested"
"""Not the reason of erased people: a replay of the journal would erase everybody who has the address."""


@dataclass(frozen=True, slots=True)
class _Reader:
    """A person who has proved a mailbox, and what the database has about them."""

    proof_id: str
    owner: MailboxOwner
    plan: ErasurePlan
    data: dict[str, Any]


@blueprint.get("/privacy")
def index() -> Response:
    """Explain the rights, and ask for the address."""
    return _start()


@blueprint.post("/privacy")
def ask() -> Response:
    """Request a code for the address; the response is the same for every address."""
    _limit()
    if not services().settings.smtp_url:
        return _start(503)
    try:
        email = normal_email(forms.text("email"))
    except InvalidValue as error:
        return _start(422, errors={"email": str(error)})
    response = go_to("privacy.code")
    COOKIE.store(response, {"proof": _request_code(email)})
    return response


@blueprint.get("/privacy/code")
def code() -> Response:
    """Ask for the code."""
    return go_to("privacy.index") if COOKIE.read() is None else page("privacy_code.html", errors={})


@blueprint.post("/privacy/code")
def enter() -> Response:
    """Check the code, and show the data."""
    _limit()
    asked = COOKIE.read()
    if asked is None:
        return go_to("privacy.index")
    digits = "".join(filter(str.isdecimal, forms.text("code")))[: mailbox_codes.DIGITS + 1]
    with services().database.transaction() as session:
        is_right = mailbox_proofs.enter(session, asked["proof"], digits, now=database_clock.now())
    if is_right:
        return go_to("privacy.data")
    wrong = Message(
        "The code is wrong, used, or not the newest. After five attempts or 20 minutes, ask again."
    )
    return page("privacy_code.html", 422, errors={"code": wrong})


@blueprint.get("/privacy/data")
def data() -> Response:
    """Show everything that is stored about the reader of the mailbox."""
    _limit(VIEWS_PER_NETWORK, "views")
    reader = _reader()
    return _back_to_start() if reader is None else _data(reader)


@blueprint.get("/privacy/data.json")
def download() -> Response:
    """Return the same as a file."""
    _limit(VIEWS_PER_NETWORK, "views")
    reader = _reader()
    if reader is None:
        return _back_to_start()
    document = {"email": reader.owner.email, "created_at": clock.rfc3339(clock.now())} | reader.data
    text = json.dumps(document, ensure_ascii=False, indent=2)
    return as_file(protect(Response(text, mimetype="application/json")), "my-data.json")


@blueprint.post("/privacy/rectify")
def rectify() -> Response:
    """Correct one contact of the reader."""
    _limit()
    reader = _reader()
    if reader is None:
        return _back_to_start()
    _hit(CORRECTIONS_PER_PROOF, "privacy-corrections", reader.proof_id)
    mine = [contact for contact in reader.owner.visible if contact.id == forms.text("contact_id")]
    ids = [contact.id for contact in mine]
    try:
        correction = _correction(reader, mine)
        with admission.transaction() as session:
            now = database_clock.value(session)
            fields = rectification.rectify(session, ids, correction, now=now)
    except ValidationFailed as problem:
        return _data(reader, 422, errors=forms.messages(problem.errors))
    log.info("person rectified", contacts=ids, fields=fields)
    flash(
        "Your data was corrected, and those who received it are notified." if fields else "Nothing changed."
    )
    return go_to("privacy.data")


@blueprint.post("/privacy/erase")
def erase() -> Response:
    """Erase the reader, or only the address if it does not identify a person."""
    _limit()
    reader = _reader()
    if reader is None:
        return _back_to_start()
    if not forms.text("confirm"):
        return _data(reader, 422, errors={"confirm": "Confirm that the data is to be erased."})
    if reader.owner.doubt:
        with admission.transaction() as session:
            _forget_address(session, reader.owner)
    else:
        _erase(reader)
    return _leave(reader.proof_id, page("privacy_erased.html", recipients=reader.data["recipients"]))


@blueprint.post("/privacy/leave")
def leave() -> Response:
    """End the access of this browser."""
    asked = COOKIE.read()
    flash("You have left. To come back, ask for another code.")
    response = go_to("privacy.index")
    return response if asked is None else _leave(asked["proof"], response)


def _request_code(email: str) -> str:
    """Schedule a code for the address, unless it has one; return the id of the proof that it opens."""
    now = database_clock.now()
    with services().database.transaction() as session:
        proof_id = mailbox_proofs.request(session, email, now=now)
        code_id = mailbox_codes.request(session, email, language=language(), now=now)
    services().publisher.push(MAIL_CODE, Queue.UPKEEP, [code_id])
    return proof_id


def _limit(rate: str | None = None, what: str = "network") -> None:
    """Raise RateLimited after too many requests of the client's network, by default forms."""
    _hit(rate or PER_NETWORK, f"privacy-{what}", _network())


def _hit(rate: str, limit: str, key: str) -> None:
    status = services().limiter.hit(rate, limit, key)
    if not status.allowed:
        raise RateLimited(retry_after=status.reset)


def _network() -> str:
    """Return a digest of the client's network."""
    return services().digest_keys.digest("privacy", failure_limits.network()).hex()


def _reader() -> _Reader | None:
    """Return who has proved the mailbox in this browser; None if nobody has, or the time is over.

    The search occupies the processor, so it takes turns with other requests, as one holder for a network.
    """
    asked = COOKIE.read()
    if asked is None:
        return None
    admission.admit(_network())
    with services().database.reading() as session:
        email = mailbox_proofs.opened_email(session, asked["proof"], now=database_clock.now())
        if email is None:
            return None
        owner = mailbox_owner.find(session, email)
        plan = _plan(session, owner)
        return _Reader(asked["proof"], owner, plan, person_data.collect(session, owner.visible, plan))


def _erase(reader: _Reader) -> None:
    """Erase the person. Other requests run meanwhile: it may wait for locks."""
    actor = request_actor()
    with admission.suspended():
        plan = erasure_run.erase(
            services().database, lambda session: _plan(session, _owner(session, reader)), actor=actor
        )
    log.info("person erased", contacts=list(plan.contact_ids))


def _owner(session: Session, reader: _Reader) -> MailboxOwner:
    return mailbox_owner.find(session, reader.owner.email)


def _plan(session: Session, owner: MailboxOwner) -> ErasurePlan:
    """Return what is stored of the person; empty for an address that identifies no person."""
    return erasure.plan(session, owner.visible, () if owner.doubt else [owner.identifier])


def _forget_address(session: Session, owner: MailboxOwner) -> None:
    """Delete the address from every contact, and suppress it."""
    now = database_clock.value(session)
    ids = [contact.id for contact in owner.contacts]
    rectification.rectify(session, ids, Correction(wrong_emails=[owner.email]), now=now)
    suppressions.suppress(session, [owner.identifier], reason=_ADDRESS_ONLY, now=now)


def _correction(reader: _Reader, contacts: Sequence[Contact]) -> Correction:
    """Return what the form changes; the proven address stays, since the data is found by it.

    Raises:
        ValidationFailed: another person has the name.

    """
    values: dict[str, str | None] = {name: forms.text(name) for name in ("title", "city", "country")}
    name = " ".join(forms.text("full_name").split())
    if any(name != (contact.full_name or "") for contact in contacts):
        values["full_name"] = name
    if (
        name
        and "full_name" in values
        and not all(mailbox_owner.is_name_of(contact, name) for contact in contacts)
    ):
        raise ValidationFailed(errors=(FieldError("/full_name", _OTHER_NAME),))
    if forms.text("no_company"):
        values["company"] = None
    wrong = set(request.form.getlist("wrong")) - {reader.owner.email}
    return Correction(values, wrong_emails=wrong, wrong_phones=wrong, is_own=True)


def _start(status: int = 200, *, errors: dict[str, str] | None = None) -> Response:
    settings = services().settings
    return page(
        "privacy.html",
        status,
        errors=errors or {},
        sends_codes=bool(settings.smtp_url),
        contact=settings.privacy_contact,
        email=request.form.get("email", ""),
    )


def _data(reader: _Reader, status: int = 200, *, errors: dict[str, str] | None = None) -> Response:
    return page(
        "privacy_data.html",
        status,
        errors=errors or {},
        email=reader.owner.email,
        doubt=reader.owner.doubt,
        is_stored=bool(reader.owner.contacts),
        shared=reader.plan.shared,
        data=reader.data,
        current_values={
            person["id"]: {value["field"]: value["value"] for value in person["values"]}
            for person in reader.data["contacts"]
        },
        contact=services().settings.privacy_contact,
    )


def _back_to_start() -> Response:
    flash("Ask for a code first. Access ends 30 minutes after the code was entered.", "failure")
    return go_to("privacy.index")


def _leave(proof_id: str, response: Response) -> Response:
    with services().database.transaction() as session:
        mailbox_proofs.close(session, proof_id)
    COOKIE.clear(response)
    return response
