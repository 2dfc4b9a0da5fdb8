"""Sends the codes by which people prove their mailbox."""

from __future__ import annotations

from email.message import EmailMessage

from app.domain.kinds import MAIL_CODE, Queue
from app.engine.privacy import mailbox_codes
from app.engine.privacy.mailbox_codes import CodeMessage
from app.infra.database import database_clock
from app.infra.telemetry.log import log
from app.mail_settings import parse_server
from workers.execution import due_messages, maintenance
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


@maintenance.task(MAIL_CODE)
def mail_code(code_id: str, services: WorkerServices) -> None:
    """Send one code; if that fails, it is due again."""
    send(code_id, services)


def send(code_id: str, services: WorkerServices) -> bool:
    """Send a code that is due, with no transaction open; return whether it was sent."""
    if not services.settings.smtp_url:
        log.warning("code not sent, because SMTP_URL is not set", code_id=code_id)
        return False
    with services.database.transaction() as session:
        code = mailbox_codes.begin_sending(session, code_id, now=database_clock.now())
    if code is None:
        return False
    try:
        outgoing.send(parse_server(services.settings.smtp_url), _message(services.settings.mail_from, code))
    except NotSent as error:
        log.warning("code not sent", code_id=code_id, error=str(error))
        return False
    with services.database.transaction() as session:
        mailbox_codes.finish_sending(session, code_id, now=database_clock.now())
    log.info("code sent", code_id=code_id)
    return True


def send_due(services: WorkerServices) -> None:
    """Publish the codes that are due, because their message was lost or the mail server failed."""
    with services.database.reading() as session:
        due = mailbox_codes.due(session, now=database_clock.now())
    if due and not due_messages.is_full(services):
        services.publisher.push(MAIL_CODE, Queue.UPKEEP, due)


def _message(sender: str, code: CodeMessage) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"] = sender, code.email
    shown = " ".join(code.code[start : start + 4] for start in range(0, len(code.code), 4))
    message["Subject"] = _SUBJECT.format(code=shown)
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(_TEXT.format(code=shown))
    return message
