"""A real mail server on loopback that keeps the messages it accepts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from mail_support import LOOPBACK, mail_server

USER, PASSWORD = "contact", "p@ss word"


@dataclass
class Inbox:
    """The messages of the server and their recipients; `refusal` is the reply if it does not accept them."""

    url: str = ""
    messages: list[EmailMessage] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    refusal: str = ""

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802 -- aiosmtpd's name
        if self.refusal:
            return self.refusal
        content = envelope.content
        assert isinstance(content, bytes)
        message = message_from_bytes(content, policy=policy.default)
        assert isinstance(message, EmailMessage)
        self.messages.append(message)
        self.recipients += envelope.rcpt_tos
        return "250 OK"

    def code(self) -> str:
        """Return the code of the last message."""
        return str(self.messages[-1]["Subject"]).removeprefix("Your code: ")


@contextmanager
def running_inbox(*, requires_login: bool = False) -> Iterator[Inbox]:
    """Run the server on a free port."""

    def check(*arguments: object) -> AuthResult:
        login = arguments[-1]
        assert isinstance(login, LoginPassword)
        return AuthResult(success=(login.login, login.password) == (USER.encode(), PASSWORD.encode()))

    inbox = Inbox()
    options = (
        {"authenticator": check, "auth_required": True, "auth_require_tls": False} if requires_login else {}
    )
    with mail_server(inbox, **options) as port:
        inbox.url = f"smtp://{LOOPBACK}:{port}"
        yield inbox
