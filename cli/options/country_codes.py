"""Country codes as values of command line options."""

from __future__ import annotations

import click

from app.domain.errors import InvalidValue
from app.domain.normal.places.countries import country_code


def parse_country(_context: click.Context, _option: click.Parameter, text: str | None) -> str | None:
    """Return the ISO code of an option's value, or None if the option is absent; a callback of click."""
    try:
        return country_code(text) if text else None
    except InvalidValue as error:
        raise click.BadParameter(str(error)) from error
