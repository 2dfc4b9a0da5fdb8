"""The identifiers of a person, as options of a command."""

from __future__ import annotations

import click

from app.domain.errors import InvalidValue, NotAProfileUrl
from app.domain.normal.person_emails import wrapped_email
from app.domain.normal.phones.phones import normal_phone
from app.domain.normal.profiles.profiles import normal_profile_url
from app.domain.normal.websites import normal_host
from app.engine.contacts.suppressions.suppression_digests import Identifier


def named(
    email: str | None, phone: str | None, linkedin_url: str | None, domain: str | None = None
) -> list[Identifier]:
    """Parse the identifiers given by the operator."""
    options = (
        ("email", email, wrapped_email),
        ("phone", phone, normal_phone),
        ("linkedin_url", linkedin_url, normal_profile_url),
        ("domain", domain, normal_host),
    )
    try:
        return [Identifier(kind, form(text)) for kind, text, form in options if text is not None]
    except InvalidValue as error:
        raise click.ClickException(str(error)) from error
    except NotAProfileUrl as error:
        raise click.ClickException(error.detail) from error
