"""The index of the people whom jobs, saved profiles and rows of features mention, as keyed digests.

A digest is 8 bytes of the HMAC of an identifier, keyed with SUPPRESSION_KEY. It is deleted with the row.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.infra.database.db import Base


class JobMention(Base):
    """A digest of an identifier in a finished job or in one of its items."""

    __tablename__ = "job_mentions"
    __table_args__ = (Index("ix_job_mentions_digest", "digest"),)

    job_id: Mapped[str] = mapped_column(
        String(28), ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True
    )
    digest: Mapped[bytes] = mapped_column(primary_key=True)


class ProfileMention(Base):
    """A digest of an identifier in a saved profile, its tags or its note."""

    __tablename__ = "profile_mentions"
    __table_args__ = (Index("ix_profile_mentions_digest", "digest"),)

    profile_id: Mapped[str] = mapped_column(
        String(28), ForeignKey("saved_profiles.id", ondelete="CASCADE"), primary_key=True
    )
    digest: Mapped[bytes] = mapped_column(primary_key=True)


class MentionPosition(Base):
    """How far a source is indexed: up to the row with this time, id and number.

    `key_check` identifies the key that the digests were made with.
    """

    __tablename__ = "mention_positions"

    source: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    last_id: Mapped[str]
    last_number: Mapped[int]
    key_check: Mapped[bytes]
