"""The table of attempts; the deliveries themselves are in `app.engine.events.deliveries`."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from app.engine.tables import Tables
from app.infra.database.db import Base


class WebhookAttempt(Base):
    """One POST of a webhook; `latency_ms` is null until it is completed.

    `status` is the HTTP status of the response, null without a response; `error` is a code for the reason of
    a failure, null on success.
    """

    __tablename__ = "webhook_attempts"

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    webhook_id: Mapped[str] = mapped_column(ForeignKey("webhooks.id", ondelete="CASCADE"), index=True)
    attempted_at: Mapped[datetime] = mapped_column(index=True)
    status: Mapped[int | None]
    error: Mapped[str | None]
    latency_ms: Mapped[int | None]


TABLES = Tables()
