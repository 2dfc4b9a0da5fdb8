"""Which accounts may get a password by a link."""

from __future__ import annotations

from app.domain.messages import Message
from app.engine.accounts.accounts import Account
from app.infra.crypto import passwords
from app.settings import Settings

NO_PASSWORDS = Message(
    "Passwords are turned off on this server. The account signs in with its company account."
)
COMPANY_ONLY = Message(
    "The account signs in with its company account, and has no password. An operator can give it one with: "
    "flask accounts set-password."
)
DISABLED = Message("The account is disabled. Enable it first.")


def refusal(account: Account, settings: Settings) -> str | None:
    """Return why the account gets no new password, or None.

    Someone who lost the company account, and still reads the mailbox, must not get in with a password.
    """
    if not settings.password_sign_in:
        return NO_PASSWORDS
    if settings.oidc_issuer and passwords.is_unusable(account.password_hash):
        return COMPANY_ONLY
    return DISABLED if account.disabled_at is not None else None


def sends_mail(settings: Settings) -> bool:
    """Return whether links are sent by mail: their address is of the settings, not of a request."""
    return bool(settings.smtp_url and settings.public_url and settings.password_sign_in)
