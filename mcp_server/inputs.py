"""The typed inputs of the tools; they have the fields and values of the API's requests."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

EmailType = Literal["work", "personal"]
PhoneType = Literal["mobile", "direct", "work", "hq", "other"]
MinStatus = Literal["valid", "accept_all", "any"]
EnrichedField = Literal["profile", "email", "phone", "company"]
Entity = Literal["person", "company"]
Known = Literal["email", "phone"]
SkipSource = Literal["address_book", "crm", "owned"]
SkipCondition = Literal["in_source", "has_field"]
MaxAge = Annotated[
    int | None, Field(ge=1, le=3650, description="Ask providers if the stored value is older, in days.")
]
Purpose = Annotated[
    str | None,
    Field(
        max_length=40,
        description="Why the values are needed: one of `purposes.allowed` of the tool session. Ask the user.",
    ),
]
UseOwnRecords = Annotated[
    bool | None,
    Field(description="False: buy values even if the workspace's own CRM or address book has them, free."),
]
Skip = Annotated[
    list[SkipSource] | None,
    Field(
        description="Leave out people whom the workspace has already: address_book and crm (in these), owned "
        "(it owns all requested values)."
    ),
]
SkipWhen = Annotated[
    SkipCondition | None,
    Field(
        description="in_source (the default) leaves out the people; has_field only the values that are there "
        "already, and fills in what is missing."
    ),
]
Website = Annotated[
    str,
    Field(max_length=2048, description="A domain or URL, such as acme.com or https://www.acme.com/about."),
]


class StrictModel(BaseModel):
    """An input without unknown fields; fields that are not set are not sent."""

    model_config = ConfigDict(extra="forbid")


class Person(StrictModel):
    """Who is meant.

    Enough is one of contact_id, linkedin_url, email or phone; or a name (full_name, or first_name and
    last_name) with company_domain or company_name.
    """

    contact_id: str | None = Field(None, description="The id of a contact in an earlier answer, con_….")
    linkedin_url: str | None = Field(None, description="Such as https://www.linkedin.com/in/ada-lovelace.")
    member_url: str | None = Field(
        None, description="Of a lead of Sales Navigator or Recruiter, beside the linkedin_url of the person."
    )
    email: str | None = None
    phone: str | None = Field(None, description="With the country code, such as +12025550143.")
    full_name: str | None = None
    first_name: str | None = None
    last_name: str | None = None
    company_domain: str | None = Field(None, description="Such as acme.com.")
    company_name: str | None = None


class NamedCompany(StrictModel):
    """Which company is meant; one field is enough."""

    domain: str | None = None
    name: str | None = None
    linkedin_url: str | None = Field(None, description="Such as https://www.linkedin.com/company/acme.")


class EnrichedItem(StrictModel):
    """Who or which company is completed: a subject, or a company if `entity` is company."""

    subject: Person | None = None
    company: NamedCompany | None = None
    client_reference: str | None = Field(None, max_length=100, description="Comes back with the result.")


class Profile(StrictModel):
    """A profile as it was read; leave out what was not visible."""

    linkedin_url: str
    full_name: str | None = None
    headline: str | None = None
    title: str | None = None
    location: str | None = None
    company: NamedCompany | None = None
