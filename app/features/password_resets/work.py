"""Sends the links for new passwords, through the mail server of the settings."""

from __future__ import annotations

from functools import partial

from app.domain.messages import Message
from app.engine.work import turns
from app.engine.work.turns import Turn
from app.features.password_resets import resets, rules
from app.features.password_resets.resets import SENDING
from app.infra.database import database_clock
from app.infra.database.database_clock import Moment
from app.infra.telemetry.log import log
from app.mail_settings import parse_server
from app.settings import Settings
from workers import outgoing_mail
from workers.execution import work
from workers.execution.feature import Purge, WorkPart
from workers.execution.worker_services import WorkerServices

_SUBJECT = Message("A new password for Contact lookup")
_OPEN = Message("Open this link within an hour to choose a new password. It works once.")
_WHY = Message(
    "Somebody entered this address on the page “Forgotten password”. If it was not you, do nothing: the "
    "password stays as it is."
)


def is_able(services: WorkerServices) -> bool:
    """Return whether links can be sent; otherwise they wait, until they expire."""
    return rules.sends_mail(services.settings)


@work.task(SENDING, is_able=is_able)
def mail_reset(turn: Turn, services: WorkerServices) -> None:
    """Send one link, with no transaction open; if the mail server does not accept it, it is due again."""
    with services.database.transaction() as session:
        message = resets.begin_sending(session, turn, services.settings, now=database_clock.now())
    if message is None:
        return
    settings, url = services.settings, f"{services.settings.public_url}/sign-in/reset?token={message.token}"
    mail = outgoing_mail.message(
        sender=settings.mail_from,
        recipient=message.email,
        language=message.language,
        subject=_SUBJECT,
        paragraphs=(_OPEN, url, _WHY),
    )
    try:
        outgoing_mail.send(parse_server(settings.smtp_url), mail, message.email)
    except outgoing_mail.NotSent as error:
        log.warning("password link not sent", reset=turn.id, error=str(error))
        due_at = database_clock.now() + SENDING.retry_after
        with services.database.transaction() as session:
            turns.retry(session, turn, due_at=due_at, error=str(error))
        return
    with services.database.transaction() as session:
        turns.end(session, turn)
    log.info("password link sent", reset=turn.id)


def _purges(_settings: Settings, now: Moment) -> tuple[Purge, ...]:
    return (partial(resets.purge_expired, now=now),)


WORK = WorkPart(purges=_purges)
