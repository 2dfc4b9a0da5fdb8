"""/people-searches: search for people of a company, past searches, and what each has found."""

from __future__ import annotations

from typing import Any

from flask import Response, request

from app.domain.errors import InsufficientCredits, PurposeRequired, SpendingLimitReached, ValidationFailed
from app.domain.kinds import Kind
from app.domain.messages import Message
from app.engine.contacts.seniorities import SENIORITIES
from app.engine.jobs import jobs
from app.features.people_searches import searches
from app.features.people_searches.schemas import PeopleSearchSchema, SearchBody
from app.features.people_searches.search_requests import DEFAULT_LIMIT, MAX_LIMIT, PeopleSearch
from app.web import costs
from app.web.jobs.job_responses import job_body
from app.web.languages.texts import translate
from app.web.pages import forms, paging, purpose_choices
from app.web.pages.access import signed_in
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.forms import InvalidForm
from app.web.pages.rendering import go_to, page, words
from app.web.rate_limits import Policy, limited
from app.web.schemas.criteria_fields import DEPARTMENTS
from app.web.services import services
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("people_searches_page", __name__, template_folder="templates")

_NO_COMPANY = Message("Enter the name of a company or its website.")
_FIELDS = ("company", "titles", "seniorities", "departments", "countries", "limit", "purpose")


@blueprint.get("/people-searches")
@signed_in
@limited(Policy.READ)
def index() -> Response:
    """Show the form, and the latest searches of the workspace."""
    return _index()


@blueprint.post("/people-searches")
@signed_in
@limited(Policy.SPEND)
def create() -> Response:
    """Submit a search, and show it."""
    try:
        body: SearchBody = forms.load(PeopleSearchSchema(), _typed_body())
        answer: dict[str, Any] = searches.submit(body).get_json()
    except InvalidForm as invalid:
        texts = [text for name, text in invalid.messages.items() if name] or [_NO_COMPANY]
        return _index(422, errors={"": " ".join(dict.fromkeys(texts))})
    except (ValidationFailed, PurposeRequired):
        return _index(422, errors={"": purpose_choices.MISSING})
    except (InsufficientCredits, SpendingLimitReached) as problem:
        return _index(402, errors={"": f"{translate(problem.title)}. {translate(problem.detail)}"})
    return go_to("people_searches_page.one", job_id=answer["job"]["id"])


@blueprint.get("/people-searches/<job_id>")
@signed_in
@limited(Policy.READ)
def one(job_id: str) -> Response:
    """Show the people of a search: those whom the providers found, and the stored ones."""
    app = services()
    snapshot = app.job_reader.read(caller().workspace_id, job_id, kinds=[Kind.PEOPLE_SEARCH])
    body = costs.shown(job_body(snapshot, repeated=False))
    search = PeopleSearch.parse(snapshot.job.request)
    return page(
        "people_search.html",
        body=body,
        search=search,
        purposes=purpose_choices.offered(),
    )


def _index(status: int = 200, *, errors: dict[str, str] | None = None) -> Response:
    app, before = services(), paging.cursor("job")
    with app.database.reading() as session:
        rows = jobs.latest(
            session,
            caller().workspace_id,
            status=None,
            before=before,
            limit=paging.ROWS + 1,
            kinds=[Kind.PEOPLE_SEARCH],
        )
    shown, older = paging.split(rows, lambda job: job.id)
    return page(
        "people_searches.html",
        status,
        searches=[(job, PeopleSearch.parse(job.request)) for job in shown],
        older=older,
        errors=errors or {},
        typed={name: forms.text(name) for name in _FIELDS},
        seniorities=[("", Message("Any")), *((name, words(name)) for name in SENIORITIES)],
        departments=[("", Message("Any")), *((name, words(name)) for name in DEPARTMENTS)],
        default_limit=DEFAULT_LIMIT,
        max_limit=MAX_LIMIT,
        price=app.settings.prices[Kind.PEOPLE_SEARCH],
        purposes=purpose_choices.offered(),
    )


def _typed_body() -> dict[str, Any]:
    """Return the form as a request of the API has it."""
    company = forms.text("company")
    named = "company_domain" if "." in company and " " not in company else "company_name"
    lists = {name: _separated(forms.text(name)) for name in ("titles", "countries")}
    lists |= {name: _chosen(name) for name in ("seniorities", "departments")}
    body: dict[str, Any] = {name: values for name, values in lists.items() if values}
    numbers = {name: forms.number(forms.text(name)) for name in ("limit", "page") if forms.text(name)}
    return body | numbers | forms.texts("purpose") | ({named: company} if company else {})


def _separated(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _chosen(name: str) -> list[str]:
    return [value for value in request.form.getlist(name) if value]
