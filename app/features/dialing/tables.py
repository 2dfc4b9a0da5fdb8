"""The table of the forms of links that workspaces have chosen."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from app.engine.accounts.workspaces import foreign_key
from app.engine.tables import Tables
from app.infra.database.db import Base


class DialLink(Base):
    """The form of the links by which a workspace dials, if it is not the default."""

    __tablename__ = "dial_links"

    workspace_id: Mapped[str] = mapped_column(foreign_key(), primary_key=True)
    form: Mapped[str]
    updated_at: Mapped[datetime]


TABLES = Tables()
