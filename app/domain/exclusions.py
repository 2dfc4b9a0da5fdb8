"""What a workspace excludes from its reveals: companies, addresses and profiles, each with a reason."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

from app.domain.errors import InvalidValue, NotAProfileUrl
from app.domain.messages import Message
from app.domain.normal.companies.company_domains import SharedHost, company_domain
from app.domain.normal.person_emails import wrapped_email
from app.domain.normal.profiles.profiles import normal_company_url, normal_profile_url
from app.domain.normal.websites import parent_domains
from app.domain.suppression_lists import forms

MAX_NOTE = 200
"""Characters of a note."""
SHARED_DOMAIN = Message(
    "Many people or companies have addresses or pages at this domain, so it cannot be excluded. "
    "Exclude their e-mail addresses or LinkedIn profiles instead."
)

AN_ADDRESS = Message(
    "This is an e-mail address. Exclude it as one, or exclude the domain after its @, "
    "which covers the whole company."
)

Form: TypeAlias = tuple[str, str]
"""The kind and the text that are compared."""


class Kind(StrEnum):
    """What an exclusion names: a company by its domain, an address, or a profile of a person or a company."""

    DOMAIN = "domain"
    EMAIL = "email"
    LINKEDIN_URL = "linkedin_url"


class Reason(StrEnum):
    """Why a workspace excludes a company or a person."""

    CUSTOMER = "customer"
    COMPETITOR = "competitor"
    PARTNER = "partner"
    OWN_COMPANY = "own_company"
    OTHER = "other"

    @property
    def label(self) -> str:
        """The reason in a sentence."""
        return self.value.replace("_", " ")


CRM_STAGE = "crm_stage"
"""The reason of whom the stage of the person's record in the workspace's CRM excludes."""
MATCHED_ON = (*Kind, "phone", "name")
"""By what somebody may be excluded: `name` at the company is for records of a CRM only."""


def normal(kind: Kind, text: str) -> str:
    """Return the value of an exclusion in normal form.

    Raises:
        InvalidValue: the text is none, an address in place of a domain, or a domain that many share.
        NotAProfileUrl: the URL is neither of a person's profile nor of a company's page on LinkedIn.

    """
    if kind is Kind.EMAIL:
        return wrapped_email(text)
    if kind is Kind.LINKEDIN_URL:
        return _normal_url(text)
    text = text.strip().lstrip("*.")  # *.acme.com: a domain covers what is below it
    if "/" not in text and text.rpartition("@")[0]:
        raise InvalidValue(AN_ADDRESS)
    try:
        return company_domain(text, may_be_host=True)
    except SharedHost as error:
        raise InvalidValue(SHARED_DOMAIN) from error


def _normal_url(text: str) -> str:
    try:
        return normal_profile_url(text)
    except NotAProfileUrl as error:
        try:
            return normal_company_url(text)
        except NotAProfileUrl:
            raise error from None


def form(kind: str, value: str) -> Form:
    """Return the form of a value in normal form by which it is compared with the exclusions.

    It is the registrable domain of a host, and the mailbox of a Gmail address, however it is spelled.
    """
    if kind == Kind.DOMAIN:
        return kind, parent_domains(value)[-1]
    return forms.listed(kind, value)[-1]
