"""Sends the codes by which people prove their mailbox."""

from __future__ import annotations

from email.headerregistry import Address
from email.message import EmailMessage

from app.engine.privacy import mailbox_codes
from app.engine.privacy.mailbox_codes import SENDING, CodeMessage
from app.engine.work import turns
from app.engine.work.turns import Turn
from app.infra.database import database_clock
from app.infra.telemetry.log import log
from app.mail_settings import parse_server
from workers.execution import work
from workers.execution.worker_services import WorkerServices
from workers.mail import outgoing
from workers.mail.outgoing import NotSent

_SUBJECT = "Your code: {code}"
_TEXT = """\
{code} is the code to see, correct or erase the data about this e-mail address.

Enter it within 20 minutes on the page on which you asked for it. It can be used once. If you ask again,
also in another browser, it is still this code, unless a newer message arrives.

Somebody entered this address on that page. If it was not you, do nothing: without the code, nobody sees
whether any data is stored about you.
"""


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
        outgoing.send(parse_server(services.settings.smtp_url), message, code.email)
    except NotSent as error:
        log.warning("code not sent", code_id=turn.id, error=str(error))
        due_at = database_clock.now() + SENDING.retry_after
        with services.database.transaction() as session:
            turns.retry(session, turn, due_at=due_at, error=str(error))
        return
    with services.database.transaction() as session:
        mailbox_codes.finish_sending(session, turn, now=database_clock.now())
    log.info("code sent", code_id=turn.id)


def _message(sender: str, code: CodeMessage) -> EmailMessage:
    message = EmailMessage()
    local, _, domain = code.email.rpartition("@")
    message["From"], message["To"] = sender, Address(username=local, domain=domain)
    shown = " ".join(code.code[start : start + 4] for start in range(0, len(code.code), 4))
    message["Subject"] = _SUBJECT.format(code=shown)
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(_TEXT.format(code=shown))
    return message
