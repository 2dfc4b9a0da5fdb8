"""Sends the codes by which people prove their mailbox, through the mail server of the settings."""

from __future__ import annotations

from email.message import EmailMessage
from functools import partial

from app.domain.messages import Message
from app.engine.work import turns
from app.engine.work.turns import Turn
from app.features.privacy_requests import mailbox_codes, mailbox_proofs
from app.features.privacy_requests.mailbox_codes import SENDING, CodeMessage
from app.infra.database import database_clock
from app.infra.database.database_clock import Moment
from app.infra.telemetry.log import log
from app.mail_settings import parse_server
from app.settings import Settings
from workers import outgoing_mail
from workers.execution import work
from workers.execution.feature import Purge, WorkPart
from workers.execution.worker_services import WorkerServices

_SUBJECT = Message("Your code: {code}")
_CODE = Message("{code} is the code to see, correct or erase the data about this e-mail address.")
_USE = Message(
    "Enter it within 20 minutes on the page on which you asked for it. It can be used once. If you ask "
    "again, also in another browser, it is still this code, unless a newer message arrives."
)
_WHY = Message(
    "Somebody entered this address on that page. If it was not you, do nothing: without the code, nobody "
    "sees whether any data is stored about you."
)


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
        outgoing_mail.send(parse_server(services.settings.smtp_url), message, code.email)
    except outgoing_mail.NotSent as error:
        log.warning("code not sent", code_id=turn.id, error=str(error))
        due_at = database_clock.now() + SENDING.retry_after
        with services.database.transaction() as session:
            turns.retry(session, turn, due_at=due_at, error=str(error))
        return
    with services.database.transaction() as session:
        mailbox_codes.finish_sending(session, turn, now=database_clock.now())
    log.info("code sent", code_id=turn.id)


def _message(sender: str, code: CodeMessage) -> EmailMessage:
    shown = " ".join(code.code[start : start + 4] for start in range(0, len(code.code), 4))
    return outgoing_mail.message(
        sender=sender,
        recipient=code.email,
        language=code.language,
        subject=_SUBJECT.format(code=shown),
        paragraphs=(_CODE.format(code=shown), _USE, _WHY),
    )


def _purges(_settings: Settings, now: Moment) -> tuple[Purge, ...]:
    return (partial(mailbox_proofs.purge_expired, now=now),)


WORK = WorkPart(purges=_purges)
