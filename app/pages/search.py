"""/search: search for a person, and see what is stored; /reveal and /save: the actions on them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from flask import Response, flash, request

from app.domain.errors import PurposeRequired, ValidationFailed
from app.domain.ids import is_id
from app.domain.kinds import KINDS
from app.domain.records.subjects import Subject
from app.engine.jobs.jobs import USE_OWN_RECORDS
from app.engine.lookups import typed_words
from app.engine.lookups.field_requests import ContactField
from app.pages import job_pages, person_offers, typed_kinds
from app.pages.job_pages import ShownJob
from app.web import admission, typed_search
from app.web.jobs import reveals, reverse_lookups
from app.web.languages.texts import gettext
from app.web.owned import profile_saves
from app.web.pages import forms, purpose_choices, subject_fields
from app.web.pages.access import signed_in
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.error_pages import local_path
from app.web.pages.forms import InvalidForm
from app.web.pages.rendering import go_to, go_to_path, page
from app.web.rate_limits import Policy, limited
from app.web.schemas.fields import SubjectSchema
from app.web.schemas.reveal_schemas import RevealEmailSchema, RevealPhoneSchema
from app.web.schemas.saved_profile_schemas import LinkedinSaveSchema
from app.web.services import services
from app.web.sign_in.admins import reads_as_admin
from app.web.sign_in.auth import caller
from app.web.typed_search import TypedPeople

blueprint = PageBlueprint("search", __name__)

MAX_SPLITS = 6
MAX_LISTED = 25
"""The people who are listed for a text."""
SCHEMAS = {ContactField.EMAIL: RevealEmailSchema, ContactField.PHONE: RevealPhoneSchema}


@blueprint.get("/search")
@signed_in
@limited(Policy.READ)
def index() -> Response:
    """Show the empty search."""
    return _page()


@blueprint.post("/")
@blueprint.post("/search")
@signed_in
@limited(Policy.LOOKUP)
def find() -> Response:
    """Show what is stored about a person, or whom a text may mean; free, and no provider is queried."""
    words = forms.text("q")
    given = typed_kinds.identifier_of(words) if words else subject_fields.from_form()
    words = "" if words and given else words or _only_a_part(given)
    if words:
        return _listed(words)
    try:
        subject: Subject = forms.load(SubjectSchema(), given)
    except InvalidForm as invalid:
        return _page(422, errors=subject_fields.errors(invalid))
    return _found(subject)


@blueprint.get("/search/<job_id>")
@signed_in
@limited(Policy.READ)
def revealed(job_id: str) -> Response:
    """Show a person with what a reveal found of them, and its receipt."""
    shown_job = job_pages.read(job_id)
    job = shown_job.snapshot.job
    found = (shown_job.body["result"] or {}).get("contact_id")
    if not KINDS[job.kind].reveals or not (found or job.request.get("subject")):
        return go_to("history.receipt", job_id=job_id)
    return _found(
        Subject(contact_id=found) if found else Subject(**job.request["subject"]), shown_job=shown_job
    )


@blueprint.post("/reveal")
@signed_in
@limited(Policy.SPEND)
def reveal_field() -> Response:
    """Reveal a field of a person, and show the receipt."""
    field = ContactField.PHONE if forms.text("field") == ContactField.PHONE else ContactField.EMAIL
    options: dict[str, Any] = (
        {"types": request.form.getlist("types")} if request.form.getlist("types") else {}
    )
    if "buy" in request.form:
        options[USE_OWN_RECORDS] = False
    body = {"subject": subject_fields.from_form(), **options, **forms.texts("min_status", "purpose")}
    try:
        loaded = forms.load(SCHEMAS[field](), body)
    except InvalidForm as invalid:
        return _page(422, errors=subject_fields.errors(invalid))
    try:
        answer = reveals.submit(field, loaded).get_json()
    except (ValidationFailed, PurposeRequired):
        return _found(loaded.subject, 422, errors={"": purpose_choices.MISSING})
    job_id, person_id = answer["job"]["id"], forms.text("person")
    if is_id(person_id, "con") or is_id(person_id, "prf"):
        return go_to("contacts_page.one", contact_id=person_id, receipt=job_id, _anchor="receipt")
    return go_to("search.revealed", job_id=job_id)


@blueprint.post("/save")
@signed_in
@limited(Policy.WRITE)
def save() -> Response:
    """Save the profile of a person to a list of the workspace."""
    tags = [tag.strip() for tag in forms.text("tags").split(",") if tag.strip()]
    body = {"profile": forms.texts("linkedin_url", "full_name"), **forms.texts("list", "note")}
    try:
        snapshot = forms.load(LinkedinSaveSchema(), body | ({"tags": tags} if tags else {}))
    except InvalidForm as invalid:
        return _page(422, errors=invalid.messages)
    with admission.transaction() as session:
        profile_saves.save(session, snapshot)
    flash(gettext("Saved in the list {name}.", name=body["list"]) if "list" in body else "Saved.", "success")
    return go_to_path(local_path(forms.text("next")))


def _listed(words: str) -> Response:
    """Return the page with the people whom a text may mean; with the only one, if it names no company."""
    known = typed_search.search(words, limit=MAX_LISTED)
    colleagues = None if known.people else _people_of_company(words)
    known, is_of_company = colleagues or known, colleagues is not None
    if len(known.people) == 1 and not known.companies:
        return _found(Subject(contact_id=known.people[0]["contact_id"]))
    split = typed_words.separated(words)
    proposed = {"full_name": split.name, "company": split.company} if split else {"full_name": words}
    return _page(known=known, words=words, proposed=proposed, is_of_company=is_of_company)


def _people_of_company(words: str) -> TypedPeople | None:
    """Return the people of a company in a text whose other words name nobody who is stored."""
    for split in islice(typed_words.splits_of(words), MAX_SPLITS):
        found = typed_search.search(split.company, limit=MAX_LISTED)
        if found.companies and found.people:
            return found
    return None


def _found(
    subject: Subject,
    status: int = 200,
    *,
    errors: dict[str, str] | None = None,
    shown_job: ShownJob | None = None,
) -> Response:
    """Return the page with what is stored about the person; else with whom the workspace may mean."""
    reverse_lookups.count([subject])
    (result,) = services().lookups.look_up(caller().workspace_id, [subject], as_admin=reads_as_admin())
    contact = result["contact"]
    named = {"contact_id": contact["id"]} if contact else subject.as_dict()
    is_unknown = contact is None and not result["suppressed"] and result["outcome"] != "ambiguous"
    return _page(
        status,
        errors=errors,
        result=result,
        subject=named,
        offers=person_offers.of(result),
        known=_colleagues(subject, result) if is_unknown else None,
        shown_job=shown_job,
    )


def _colleagues(subject: Subject, result: dict[str, Any]) -> TypedPeople:
    """Return whom the workspace knows at the company, those with a similar name first."""
    company = result["company"] or {}
    employer = company.get("domain") or subject.company_domain or company.get("name") or subject.company_name
    texts = [
        f"{subject.name}, {employer}" if subject.name and employer else "",
        employer or subject.name or "",
    ]
    found = [typed_search.search(text, limit=MAX_LISTED) for text in texts if text]
    people = {person["contact_id"]: person for one in found for person in one.people}
    return TypedPeople(
        list(people.values())[:MAX_LISTED],
        any(one.is_more for one in found),
        found[-1].companies if found else (),
    )


def _only_a_part(given: Mapping[str, str]) -> str:
    """Return the name or the company, if the form has nothing else, which then is searched for as a text."""
    names = [given[name] for name in ("full_name", "first_name", "last_name") if name in given]
    companies = [given[name] for name in ("company_domain", "company_name") if name in given]
    if len(given) != len(names) + len(companies) or (names and companies):
        return ""
    return " ".join(names or companies)


def _page(status: int = 200, *, errors: dict[str, str] | None = None, **shown: Any) -> Response:
    """Return the page with what is shown of these: otherwise, the search alone."""
    names = ("result", "subject", "known", "words", "shown_job", "is_of_company")
    context: dict[str, Any] = dict.fromkeys(names) | {"offers": ()} | shown
    typed = subject_fields.typed() | {"q": forms.text("q")} | (shown.get("proposed") or {})
    return page(
        "search.html", status, errors=errors or {}, typed=typed, purposes=purpose_choices.offered(), **context
    )
