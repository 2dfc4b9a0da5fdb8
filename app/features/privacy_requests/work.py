"""Sends the codes by which people prove their mailbox, through the mail server of the settings."""

from __future__ import annotations

import smtplib
import ssl
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from functools import partial

from app.domain.normal.emails import email_domain
from app.engine.work import turns
from app.engine.work.turns import Turn
from app.features.privacy_requests import mailbox_codes, mailbox_proofs
from app.features.privacy_requests.mailbox_codes import SENDING, CodeMessage
from app.infra.database import database_clock
from app.infra.database.database_clock import Moment
from app.infra.telemetry.log import log
from app.mail_settings import MailServer, parse_server
from app.settings import Settings
from workers.execution import work
from workers.execution.feature import Purge, WorkPart
from workers.execution.worker_services import WorkerServices

SECONDS = 20.0
"""The time limit of each step of the conversation with the mail server."""
_SUBJECT = "Your code: {code}"
_TEXT = """\
{code} is the code to see, correct or erase the data about this e-mail address.

Enter it within 20 minutes on the page on which you asked for it. It can be used once. If you ask again,
also in another browser, it is still this code, unless a newer message arrives.

Somebody entered this address on that page. If it was not you, do nothing: without the code, nobody sees
whether any data is stored about you.
"""


class NotSent(Exception):  # noqa: N818 -- named after what happened
    """The server did not accept the message; the text has no address."""


def is_able(services: WorkerServices) -> bool:
    """Return whether there is a mail server; without one, the codes wait."""
    if services.settings.smtp_url:
        return True
    log.warning("code not sent, because SMTP_URL is not set")
    return False


@work.task(SENDING, is_able=is_able)
def mail_code(turn: Turn, services: WorkerServices) -> None:
    """Send one code, with no transaction open; if the mail server does not accept it, it is due again."""
    with services.database.transaction() as session:
        code = mailbox_codes.begin_sending(session, turn, now=database_clock.now())
    if code is None:
        return
    try:
        message = _message(services.settings.mail_from, code)
        send(parse_server(services.settings.smtp_url), message, code.email)
    except NotSent as error:
        log.warning("code not sent", code_id=turn.id, error=str(error))
        due_at = database_clock.now() + SENDING.retry_after
        with services.database.transaction() as session:
            turns.retry(session, turn, due_at=due_at, error=str(error))
        return
    with services.database.transaction() as session:
        mailbox_codes.finish_sending(session, turn, now=database_clock.now())
    log.info("code sent", code_id=turn.id)


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


def _message(sender: str, code: CodeMessage) -> EmailMessage:
    message = EmailMessage()
    local, _, domain = code.email.rpartition("@")
    message["From"], message["To"] = sender, Address(username=local, domain=domain)
    message["Date"] = formatdate()
    message["Message-ID"] = make_msgid(domain=email_domain(sender))
    shown = " ".join(code.code[start : start + 4] for start in range(0, len(code.code), 4))
    message["Subject"] = _SUBJECT.format(code=shown)
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(_TEXT.format(code=shown))
    return message


def _purges(_settings: Settings, now: Moment) -> tuple[Purge, ...]:
    return (partial(mailbox_proofs.purge_expired, now=now),)


WORK = WorkPart(purges=_purges)
