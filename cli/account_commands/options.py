"""The e-mail argument and the password of the `flask accounts` commands."""

from __future__ import annotations

import sys

import click

from app.domain.errors import InvalidValue
from app.domain.normal.emails import normal_email
from app.infra.crypto import passwords

password_option = click.option(
    "--password-stdin", is_flag=True, help="Read the password from standard input instead of asking."
)


class EmailParam(click.ParamType[str]):
    """A click type that normalizes an e-mail address."""

    name = "email"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the normalized address, or fail with the reason why it is invalid."""
        try:
            return normal_email(value)
        except InvalidValue as error:
            self.fail(str(error), param, ctx)


email_argument = click.argument("email", type=EmailParam())


def read_password(*, from_stdin: bool) -> str:
    """Return the password from standard input or from a prompt."""
    if from_stdin:
        password = sys.stdin.read().rstrip("\r\n")
    else:
        password = click.prompt("Password", hide_input=True, confirmation_prompt=True)
    if not passwords.acceptable(password):
        message = f"The password must have {passwords.MIN_LENGTH} to {passwords.MAX_LENGTH} characters."
        raise click.ClickException(message)
    return password
