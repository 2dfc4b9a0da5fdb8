"""Checks whether the account or key that started an upload may still spend credits."""

from __future__ import annotations

from sqlalchemy import or_, select

from app.engine.accounts.accounts import Account
from app.engine.accounts.api_keys import ApiKey
from app.engine.uploads.upload_tables import Upload
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session

ACCOUNT_DISABLED = "account_disabled"
KEY_ENDED = "key_ended"


def inactive_reason(session: Session, upload: Upload, *, now: Moment) -> str | None:
    """Return why the upload must pause: its account is disabled or its key has ended; None if neither."""
    account = select(Account.id).where(Account.id == upload.account_id, Account.disabled_at.is_(None))
    if session.scalar(account) is None:
        return ACCOUNT_DISABLED
    if upload.api_key_id is None:
        return None
    is_valid = or_(ApiKey.expires_at.is_(None), ApiKey.expires_at > now)
    key = select(ApiKey.id).where(ApiKey.id == upload.api_key_id, ApiKey.revoked_at.is_(None), is_valid)
    return KEY_ENDED if session.scalar(key) is None else None
