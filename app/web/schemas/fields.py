"""Shared schema fields: strict types, and strings loaded in their normal form."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from itertools import product
from typing import Any, ClassVar

from apiflask import Schema
from marshmallow import EXCLUDE, RAISE, ValidationError, fields, post_load, validate

from app.domain import ids, purposes, single_lines
from app.domain.errors import FieldError, InvalidValue, NotAProfileUrl, Problem
from app.domain.messages import Message
from app.domain.normal import emails, person_emails, websites
from app.domain.normal.companies.employers import given_employer
from app.domain.normal.phones import phones
from app.domain.normal.profiles import profiles
from app.domain.normal.profiles.member_ids import is_member_url
from app.domain.records.profile_links import are_two_people
from app.domain.records.subjects import Subject
from app.infra.crypto import passwords

MAX_TEXT = 500
MAX_URL = 2048
MAX_REFERENCE = 100


class StrictSchema(Schema):
    """Base of the request schemas; unknown fields are errors."""

    json_schema: ClassVar[dict[str, Any]] = {}
    """Keywords of JSON Schema that are added in /openapi.json, because marshmallow cannot express them."""

    class Meta:
        """Options of marshmallow."""

        unknown = RAISE

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        names = ", ".join(sorted(field.data_key or name for name, field in self.load_fields.items()))
        if names:
            self.error_messages |= {
                "type": Message("Not an object. Use one with some of: {names}.", names=names),
                "unknown": Message("Unknown field. Use one of: {names}.", names=names),
            }


class ResponseSchema(Schema):
    """Base of the response schemas; clients must expect new fields."""

    class Meta:
        """Options of marshmallow."""

        unknown = EXCLUDE


def exactly_one(*names: str) -> dict[str, Any]:
    """Return the JSON Schema of an object with exactly one of these fields."""
    return {"oneOf": [{"required": [name]} for name in names]}


class NonBlankString(fields.String):
    """A trimmed string with at least one visible character and a limited length.

    The limit also counts in the form in which texts are compared (NFKC), where one character can be eighteen.
    """

    def __init__(self, max_length: int = MAX_TEXT, **options: Any) -> None:
        self.max_length = max_length
        metadata = {"pattern": r"\S", **options.pop("metadata", {})}
        super().__init__(validate=validate.Length(min=1, max=max_length), metadata=metadata, **options)

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any
    ) -> str:
        text: str = super()._deserialize(value, attr, data, **options).strip()
        if len(text) <= self.max_length < len(unicodedata.normalize("NFKC", text)):
            raise ValidationError(
                Message("Longer than {max} characters when ligatures are written out.", max=self.max_length)
            )
        return text


class SingleLineString(NonBlankString):
    """A trimmed string that is shown within a line: without line breaks and control characters."""

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any
    ) -> str:
        text = super()._deserialize(value, attr, data, **options)
        try:
            return single_lines.single_line(text) if 0 < len(text) <= MAX_TEXT else text
        except InvalidValue as error:
            raise ValidationError(str(error)) from error


class StrictBoolean(fields.Boolean):
    """A JSON boolean; strings and numbers are errors."""

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any
    ) -> bool:
        if not isinstance(value, bool):
            raise self.make_error("invalid", input=value)
        return bool(super()._deserialize(value, attr, data, **options))


class UtcTime(fields.AwareDateTime):
    """A time with an offset, loaded in UTC; one that UTC has only outside the years 1 to 9999 is an error."""

    def __init__(self, **options: Any) -> None:
        message = "This is not a time with a date and an offset, such as 2030-01-31T09:30:00Z."
        super().__init__(error_messages={"invalid": message, "invalid_awareness": message}, **options)

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any
    ) -> datetime:
        moment: datetime = super()._deserialize(value, attr, data, **options)
        try:
            return moment.astimezone(UTC)
        except OverflowError as error:
            raise self.make_error("invalid", input=value, obj_type=self.OBJ_TYPE) from error


class AsciiInteger(fields.Integer):
    """An integer in a URL, of ASCII digits; other forms that Python accepts are errors."""

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any
    ) -> int:
        if not re.fullmatch(r"-?[0-9]{1,18}", str(value)):
            raise self.make_error("invalid", input=value)
        return super()._deserialize(value, attr, data, **options)


class NormalizedString(fields.String):
    """A string that is loaded in its normal form (docs/api/normal-forms.md)."""

    def __init__(self, normalize: Callable[[str], str], **options: Any) -> None:
        self.normalize_text = normalize
        super().__init__(validate=validate.Length(max=MAX_URL), **options)

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any
    ) -> str:
        text: str = super()._deserialize(value, attr, data, **options)
        if len(text) > MAX_URL:
            raise ValidationError(Message("Longer than {max} characters.", max=MAX_URL))
        try:
            return self.normalize_text(text)
        except InvalidValue as error:
            raise ValidationError(str(error)) from error
        except NotAProfileUrl as error:
            raise NotAProfileUrl(error.detail, errors=(FieldError(f"/{attr}", error.detail),)) from error


class NestedObject(fields.Nested):
    """An object inside another; the pointers of a problem in it begin with its name."""

    def _deserialize(self, value: object, attr: str | None, *arguments: Any, **options: Any) -> Any:
        try:
            return super()._deserialize(value, attr, *arguments, **options)
        except Problem as problem:
            problem.errors = tuple(
                FieldError(f"/{attr}{error.pointer}", error.detail) for error in problem.errors
            )
            raise


def email(**options: Any) -> NormalizedString:
    """Return a field for an e-mail address."""
    return NormalizedString(
        emails.normal_email, metadata={"example": "ada@acme.example", "format": "email"}, **options
    )


def person_email(**options: Any) -> NormalizedString:
    """Return a field for the e-mail address of a person who is looked up."""
    return NormalizedString(
        person_emails.person_email, metadata={"example": "ada@acme.example", "format": "email"}, **options
    )


def password() -> fields.String:
    """Return a required field for the current password of an account."""
    return fields.String(
        required=True,
        load_only=True,
        validate=validate.Length(min=1, max=passwords.MAX_LENGTH),
        metadata={"example": "correct horse battery staple"},
    )


def website(**options: Any) -> NormalizedString:
    """Return a field for a website, loaded as its registrable domain."""
    return NormalizedString(websites.normal_website, metadata={"example": "acme.example"}, **options)


def profile_url(**options: Any) -> NormalizedString:
    """Return a field for the profile URL of a person."""
    return NormalizedString(
        profiles.normal_profile_url,
        metadata={"example": "https://www.linkedin.com/in/ada-lovelace"},
        **options,
    )


def company_url(**options: Any) -> NormalizedString:
    """Return a field for the profile URL of a company."""
    return NormalizedString(
        profiles.normal_company_url,
        metadata={"example": "https://www.linkedin.com/company/acme"},
        **options,
    )


def phone(**options: Any) -> NormalizedString:
    """Return a field for a phone number with a country code, loaded as E.164."""
    return NormalizedString(phones.normal_phone, metadata={"example": "+12025550143"}, **options)


def contact_id(**options: Any) -> fields.String:
    """Return a field for a contact id; a malformed id is an unknown contact (404), not an invalid field."""
    return NonBlankString(metadata={"example": ids.EXAMPLES["con"]}, **options)


def purpose() -> fields.String:
    """Return a field for why the values are obtained; the settings decide which purposes can be stated."""
    return fields.String(
        allow_none=True,
        load_default=None,
        validate=validate.Length(max=purposes.MAX_LENGTH),
        metadata={
            "example": purposes.DEFAULT[0],
            "description": "Why the values are obtained: one of `purposes.allowed` of the session. It must be"
            " stated where the operator requires it.",
        },
    )


def use_own_records() -> StrictBoolean:
    """Return a field for whether what the workspace has itself is returned instead of values that cost."""
    return StrictBoolean(
        load_default=True,
        metadata={
            "example": True,
            "description": "Whether a verified address or a number in the workspace's own CRM is returned,"
            " free, before anything is bought.",
        },
    )


NO_PERSON = Message(
    "This is not the name of a person. Send a given and a family name with company_domain or company_name, "
    "or contact_id, linkedin_url, email or phone."
)
IDENTIFYING_FIELDS = (
    *(("contact_id",), ("linkedin_url",), ("email",), ("phone",)),
    *product(("full_name",), ("company_domain", "company_name")),
    *product(("first_name",), ("last_name",), ("company_domain", "company_name")),
)
"""Sets of fields that identify a person."""


_NOT_A_MEMBER = Message(
    "This is a profile with a chosen name. Send it as linkedin_url, and here the URL with the member's id, "
    "as of Sales Navigator or Recruiter."
)
_TWO_PEOPLE = Message(
    "This is the profile of another person than linkedin_url. Send a person's own profiles only."
)


def _profiles(shown: str | None, member: str | None) -> dict[str, str | None]:
    """Return both profile URLs of a person; one alone is `linkedin_url`.

    Raises:
        ValidationError: the second has no member's id, or certainly belongs to somebody else.

    """
    if member is not None and not is_member_url(member):
        raise ValidationError({"member_url": [_NOT_A_MEMBER]})
    if shown is None or member is None:
        return {"linkedin_url": shown or member, "member_url": None}
    if are_two_people([shown], [member]):
        raise ValidationError({"member_url": [_TWO_PEOPLE]})
    return {"linkedin_url": shown, "member_url": None if member == shown else member}


class SubjectSchema(StrictSchema):
    """The identifiers of a person in a request; null is the same as absent."""

    json_schema: ClassVar[dict[str, Any]] = {
        "anyOf": [
            {"required": [*names], "properties": {name: {"type": "string"} for name in names}}
            for names in IDENTIFYING_FIELDS
        ]
    }
    contact_id = contact_id(allow_none=True)
    linkedin_url = profile_url(allow_none=True)
    member_url = profile_url(allow_none=True)
    email = person_email(allow_none=True)
    full_name = NonBlankString(allow_none=True, metadata={"example": "Ada Lovelace"})
    first_name = NonBlankString(allow_none=True)
    last_name = NonBlankString(allow_none=True)
    company_domain = website(allow_none=True)
    company_name = NonBlankString(allow_none=True, metadata={"example": "Acme Engines"})
    phone = phone(allow_none=True)

    @post_load(pass_original=True)
    def _subject(self, data: dict[str, str | None], given: Mapping[str, Any], **_options: Any) -> Subject:
        employer = given_employer(given.get("company_domain"), data.get("company_name"))
        profiles = _profiles(data.get("linkedin_url"), data.get("member_url"))
        subject = Subject(
            **data | profiles | {"company_domain": employer.domain, "company_name": employer.name}
        )
        named = subject.with_plain_names()
        if subject.is_identified and not named.is_identified:
            field = "full_name" if subject.full_name else "last_name"
            raise ValidationError({field: [NO_PERSON]})
        return named.require_identifiers(employer.left_out)
