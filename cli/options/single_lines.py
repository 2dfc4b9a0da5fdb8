"""Arguments and options whose text is shown within a line."""

from __future__ import annotations

import click

from app.domain.errors import InvalidValue
from app.domain.single_lines import single_line

MAX_LENGTH = 200


class SingleLine(click.ParamType[str]):
    """A click type for a trimmed text without line breaks and control characters."""

    name = "text"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the trimmed text, or fail with the reason why it is invalid."""
        try:
            return single_line(value, MAX_LENGTH)
        except InvalidValue as error:
            self.fail(str(error), param, ctx)
