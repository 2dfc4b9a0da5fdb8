"""Sends messages of the service through the mail server of the settings."""

from __future__ import annotations

import smtplib
import ssl
import textwrap
from collections.abc import Sequence
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import formatdate, make_msgid

from app.domain.normal.emails import email_domain
from app.infra.languages.texts import translate
from app.mail_settings import MailServer

COLUMNS = 76
"""The length of a line, which every program shows as it is."""
SECONDS = 20.0
"""The time limit of each step of the conversation with the mail server."""


class NotSent(Exception):  # noqa: N818 -- named after what happened
    """The server did not accept the message; the text has no address."""


def message(
    *, sender: str, recipient: str, language: str, subject: str, paragraphs: Sequence[str]
) -> EmailMessage:
    """Return a message in this language that programs which reply to mail leave alone (RFC 3834)."""
    made = EmailMessage()
    local, _, domain = recipient.rpartition("@")
    made["From"], made["To"] = sender, Address(username=local, domain=domain)
    made["Date"] = formatdate()
    made["Message-ID"] = make_msgid(domain=email_domain(sender))
    made["Subject"] = translate(subject, language)
    made["Auto-Submitted"] = "auto-generated"
    made.set_content("\n\n".join(_wrapped(translate(text, language)) for text in paragraphs) + "\n")
    made["Content-Language"] = language  # last: `set_content` removes the headers of the content before
    return made


def _wrapped(paragraph: str) -> str:
    """Return the lines of a paragraph; a URL stays on one."""
    return textwrap.fill(paragraph, COLUMNS, break_long_words=False, break_on_hyphens=False)


def send(server: MailServer, message: EmailMessage, recipient: str) -> None:
    """Send a message to one recipient, who is not read from the header, where another one could be encoded.

    The connection is encrypted, and the server's certificate checked, unless the server is on this machine.

    Raises:
        NotSent: the server cannot be reached, offers no TLS, or refuses the message.

    """
    try:
        with _connected(server) as connection:
            if server.user:
                connection.login(server.user, server.password)
            connection.send_message(message, to_addrs=[recipient])
    except (smtplib.SMTPException, OSError) as error:
        code = getattr(error, "smtp_code", "")
        raise NotSent(f"{type(error).__name__} {code}".strip()) from None


def _connected(server: MailServer) -> smtplib.SMTP:
    context = ssl.create_default_context()
    if server.uses_tls:
        return smtplib.SMTP_SSL(server.host, server.port, timeout=SECONDS, context=context)
    connection = smtplib.SMTP(server.host, server.port, timeout=SECONDS)
    if not server.is_local:
        connection.starttls(context=context)
    return connection
