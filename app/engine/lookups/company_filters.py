"""The tables of company filters and their card keys: a feature writes them, lookups by prefix read them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Select, SQLColumnExpression, select
from sqlalchemy.orm import Mapped, mapped_column

from app.infra.database.db import Base

SIZES = (8, 16)
"""The sizes of a fingerprint in bits, in the order in which a build stores their files."""


class CompanyFilter(Base):
    """The newest file with fingerprints of this size; without `content`, none has been built.

    `source_digest` is the digest of what the file was built from: the keys and the public keys. `version` is
    the time of the build in seconds since 1970, or one more than the version before. With `oprf_public_key`,
    the public key of the OPRF, all entries of the file have their card keys stored.
    """

    __tablename__ = "company_filters"

    bits: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    checked_at: Mapped[datetime]
    version: Mapped[int] = mapped_column(BigInteger, default=0)
    entries: Mapped[int] = mapped_column(default=0)
    source_digest: Mapped[bytes | None]
    etag: Mapped[str | None]
    content: Mapped[bytes | None]
    oprf_public_key: Mapped[bytes | None]


class CompanyCardKey(Base):
    """The id and the key of the card of a website or company page.

    `company_hash` is the hash of the company, `oprf_key_id` the `OprfKey.id` that it was computed with.
    `wrapped_key` is encrypted with `OprfKey.wrap`; its context is the id of the card.
    """

    __tablename__ = "company_card_keys"

    card_id: Mapped[bytes] = mapped_column(primary_key=True)
    company_hash: Mapped[bytes] = mapped_column(index=True)
    oprf_key_id: Mapped[bytes]
    wrapped_key: Mapped[bytes]


def last_built(*columns: SQLColumnExpression[Any]) -> Select[Any]:
    """Select from the file that a build stores last; when it is stored, so is everything else."""
    return select(*columns).select_from(CompanyFilter).where(CompanyFilter.bits == SIZES[-1])
