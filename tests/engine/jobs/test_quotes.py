from __future__ import annotations

from typing import Any

import pytest
from jobs_support import a_question, a_workspace, figures, read, submit
from stored_support import a_company, a_contact, an_email, exclude, own, suppress

from app.domain.errors import PurposeRequired
from app.domain.purposes import DEFAULT
from app.domain.records.subjects import Subject
from app.engine.jobs import quotes
from app.engine.jobs.quotes import RevealPrice
from app.engine.lookups import known_people
from app.engine.lookups.field_requests import ContactField, FieldRequest, MinStatus
from app.infra.database.session import Session

BY_NAME = Subject(full_name="Ada Lovelace", company_domain="acme.com")
WORK = FieldRequest(field=ContactField.EMAIL, types=("work",), min_status=MinStatus.ANY)
PRICE = RevealPrice(subject=BY_NAME, field_request=WORK, credits=1)
WITHOUT_PURPOSE = PurposeRequired(DEFAULT)


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[Subject]:
    """The subjects of which all that is stored was read for a quote."""
    subjects: list[Subject] = []
    is_free = known_people.is_free

    def counted(session: Session, workspace_id: str, subject: Subject, *rest: Any) -> Any:
        subjects.append(subject)
        return is_free(session, workspace_id, subject, *rest)

    monkeypatch.setattr(known_people, "is_free", counted)
    return subjects


def test_a_fixed_price_is_due_whatever_is_stored(session: Session) -> None:
    quote = quotes.quote(session, a_workspace(session), 4)

    assert (quote.credits, quote.is_free(), set(quote.parameters.values())) == (4, False, {None})


def test_a_reveal_that_can_be_paid_is_not_read_closely(session: Session, readings: list[Subject]) -> None:
    workspace_id = a_workspace(session)

    job = submit(session, a_question(workspace_id, price=PRICE)).job

    assert (job.held, readings) == (1, [])


@pytest.mark.parametrize("why", ["owned", "suppressed", "excluded"])
def test_the_refusal_and_the_hold_ask_the_same_quote(
    session: Session, readings: list[Subject], why: str
) -> None:
    workspace_id = a_workspace(session, grant=0)
    page = "https://www.linkedin.com/company/acme"
    ada = a_contact(session, a_company(session, linkedin_url=page))
    an_email(session, ada, "ada@acme.com")
    if why == "owned":
        own(session, workspace_id, ada, "email")
    elif why == "suppressed":
        suppress(session, "email", "ada@acme.com")
    else:
        exclude(session, workspace_id, "linkedin_url", page)

    job = submit(session, a_question(workspace_id, price=PRICE, refusal=WITHOUT_PURPOSE)).job

    assert (read(session, job.id).held, figures(session, workspace_id)) == (0, (0, 0, 0))
    assert readings == [BY_NAME]


def test_without_a_purpose_a_reveal_that_is_not_free_is_refused_after_one_reading(
    session: Session, readings: list[Subject]
) -> None:
    with pytest.raises(PurposeRequired):
        submit(session, a_question(a_workspace(session), price=PRICE, refusal=WITHOUT_PURPOSE))

    assert readings == [BY_NAME]
