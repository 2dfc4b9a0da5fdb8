"""Shared pieces of schemas: strict fields that load texts straight into normal forms."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from apiflask import Schema
from marshmallow import RAISE, ValidationError, fields, post_load, validate

from app.domain import ids
from app.domain.errors import InvalidValue
from app.domain.normal import emails, phones, profiles, websites
from app.domain.records.subjects import Subject

MAX_TEXT = 500
MAX_URL = 2048
MAX_REFERENCE = 100


class StrictSchema(Schema):
    """Base of every request's schema: unknown fields are errors."""

    class Meta:
        """Say so to marshmallow."""

        unknown = RAISE


class NonBlankString(fields.String):
    """A text with at least one character that shows, trimmed, and a limit on its length."""

    def __init__(self, longest: int = MAX_TEXT, **options: Any) -> None:
        metadata = {"pattern": r"\S", **options.pop("metadata", {})}
        super().__init__(validate=validate.Length(min=1, max=longest), metadata=metadata, **options)

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any
    ) -> str:
        text: str = super()._deserialize(value, attr, data, **options)
        return text.strip()


class StrictBoolean(fields.Boolean):
    """JSON's true or false, and nothing that looks like it."""

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any
    ) -> bool:
        if not isinstance(value, bool):
            raise self.make_error("invalid", input=value)
        return bool(super()._deserialize(value, attr, data, **options))


class AsciiInteger(fields.Integer):
    """A whole number in an address: digits, and nothing else that Python would take for a number."""

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any
    ) -> int:
        if not re.fullmatch(r"-?[0-9]{1,18}", str(value)):
            raise self.make_error("invalid", input=value)
        return super()._deserialize(value, attr, data, **options)


class NormalizedString(fields.String):
    """A text that has a normal form (contract 2.4); loading gives the normal form."""

    def __init__(self, form: Callable[[str], str], **options: Any) -> None:
        self.form = form
        super().__init__(validate=validate.Length(max=MAX_URL), **options)

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any
    ) -> str:
        text: str = super()._deserialize(value, attr, data, **options)
        if len(text) > MAX_URL:
            raise ValidationError(f"Longer than {MAX_URL} characters.")
        try:
            return self.form(text)
        except InvalidValue as error:
            raise ValidationError(str(error)) from error


def email(**options: Any) -> NormalizedString:
    """Make a field for an e-mail address."""
    return NormalizedString(
        emails.normal_email, metadata={"example": "ada@acme.example", "format": "email"}, **options
    )


def website(**options: Any) -> NormalizedString:
    """Make a field for a website, loaded as its registrable domain."""
    return NormalizedString(websites.normal_website, metadata={"example": "acme.example"}, **options)


def profile_url(**options: Any) -> NormalizedString:
    """Make a field for a person's profile URL."""
    return NormalizedString(
        profiles.normal_profile_url,
        metadata={"example": "https://www.linkedin.com/in/ada-lovelace"},
        **options,
    )


def company_url(**options: Any) -> NormalizedString:
    """Make a field for a company's profile URL."""
    return NormalizedString(
        profiles.normal_company_url,
        metadata={"example": "https://www.linkedin.com/company/acme"},
        **options,
    )


def phone(**options: Any) -> NormalizedString:
    """Make a field for a phone number, loaded as E.164; it needs its country code."""
    return NormalizedString(
        lambda text: phones.parse_phone(text).e164, metadata={"example": "+12025550143"}, **options
    )


def contact_id(**options: Any) -> fields.String:
    """Make a field for a contact's id; one of another shape is simply not known (404), not an error here."""
    return NonBlankString(metadata={"example": ids.EXAMPLES["con"]}, **options)


class SubjectSchema(StrictSchema):
    """How a request names a person (contract 2.4). Null is the same as absent."""

    contact_id = contact_id(allow_none=True)
    linkedin_url = profile_url(allow_none=True)
    email = email(allow_none=True)
    full_name = NonBlankString(allow_none=True, metadata={"example": "Ada Lovelace"})
    first_name = NonBlankString(allow_none=True)
    last_name = NonBlankString(allow_none=True)
    company_domain = website(allow_none=True)
    company_name = NonBlankString(allow_none=True, metadata={"example": "Acme Engines"})
    phone = phone(allow_none=True)

    @post_load
    def _subject(self, data: dict[str, str | None], **_options: Any) -> Subject:
        return Subject(**data).require_identifiers()
