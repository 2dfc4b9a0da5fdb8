"""The fields of a form that name a person; a company is named by its name or by its website."""

from __future__ import annotations

from app.domain.errors import InvalidValue
from app.domain.messages import Message
from app.domain.normal.websites import normal_website
from app.web.pages import forms
from app.web.pages.forms import InvalidForm
from app.web.schemas.fields import SubjectSchema

NAMES = tuple(SubjectSchema().fields)
_TOO_FEW = Message("Enter an e-mail address, a profile URL or a phone number; or a name with a company.")


def from_form() -> dict[str, str]:
    """Return the subject of the form, as a request of the API has it."""
    subject = forms.texts(*NAMES)
    company = forms.text("company")
    if company:
        subject["company_domain" if _is_website(company) else "company_name"] = company
    return subject


def typed() -> dict[str, str]:
    """Return what was typed into the fields of the search, to show it again."""
    return {name: forms.text(name) for name in ("full_name", "company", "email", "linkedin_url", "phone")}


def errors(invalid: InvalidForm) -> dict[str, str]:
    """Return the messages by the names of the fields in the form."""
    by_field = {
        "company" if name.startswith("company_") else name: text for name, text in invalid.messages.items()
    }
    return by_field if set(by_field) != {""} else {"": _TOO_FEW}


def _is_website(text: str) -> bool:
    """Return whether the text is a website, such as acme.com; "Acme Inc." is not."""
    if "." not in text or " " in text:
        return False
    try:
        return bool(normal_website(text))
    except InvalidValue:
        return False
