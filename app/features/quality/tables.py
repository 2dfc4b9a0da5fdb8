"""The table of scheduled verifications; the table of feedback is in `app.engine.contacts.bounce_reports`."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from app.engine.tables import Tables
from app.infra.database.db import Base


class Verification(Base):
    """The earliest time of an address's next verification, once one was attempted.

    `provider` and its `ticket` are set if the provider is to be polled then. `planned_at` is when this was
    decided: a bounce reported later does not wait for `next_at`.
    """

    __tablename__ = "verifications"

    email_id: Mapped[str] = mapped_column(ForeignKey("emails.id", ondelete="CASCADE"), primary_key=True)
    next_at: Mapped[datetime]
    planned_at: Mapped[datetime]
    provider: Mapped[str | None]
    ticket: Mapped[str | None]


TABLES = Tables()
