"""The tables of schedules: their settings, their runs, and the receipt of each person of a run."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.kinds import RUN_CRM_SCHEDULE
from app.engine.accounts.workspaces import foreign_key
from app.engine.work import specs
from app.engine.work.specs import WorkSpec
from app.infra.database.db import Base

SCHEDULING = specs.register(
    WorkSpec(
        task=RUN_CRM_SCHEDULE,
        label="crm_schedule",
        lease=timedelta(seconds=90),
        republish_after=timedelta(minutes=1),
        max_attempts=10,
        per_key=1,
    )
)
"""The id of a schedule names its item. One schedule of a workspace has a turn at a time."""


class ScheduleState(StrEnum):
    """The state of a schedule: `paused` by a member, or `stopped` by itself for a reason."""

    ACTIVE = "active"
    PAUSED = "paused"
    STOPPED = "stopped"


class RunStatus(StrEnum):
    """What a run does: it reads the list, has its people enriched, and is then finished."""

    READING = "reading"
    ENRICHING = "enriching"
    FINISHED = "finished"


class RecordOutcome(StrEnum):
    """Outcomes of a person besides those of an enrichment (`Outcome`)."""

    UNIDENTIFIED = "unidentified"
    """The record says too little to know who it is."""
    FAILED = "failed"
    NOT_ASKED = "not_asked"
    """The run stopped before the person; the next one begins with those who are left."""
    CHECKED = "checked"
    """Nothing was asked for; the record was compared with what is known, and is marked in the CRM."""


class Mark(StrEnum):
    """What is known to be outdated in the record of a person."""

    BOUNCED = "bounced"
    JOB_CHANGED = "job_changed"


class CrmSchedule(Base):
    """A list of a CRM that is enriched regularly.

    `list_id` is the CRM's, and names records of one `kind`. `fields` are those to find. `weekday` is null for
    every day. A run asks for `max_people` at most, and `monthly_credits` is the budget of a calendar month
    (UTC). Records that were not changed for `refresh_days` are asked for again; null for no such.
    `account_id` made or last resumed the schedule, and pays within its limits. `origin` is the address of
    this service, for links in the CRM. `reason` is the code of why it stopped, `waiting` of what it waits
    for. `next_at` is when it is due next, `run_id` the run under way.
    """

    __tablename__ = "crm_schedules"

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    workspace_id: Mapped[str] = mapped_column(foreign_key(), index=True)
    connection_id: Mapped[str] = mapped_column(
        ForeignKey("crm_connections.id", ondelete="CASCADE"), index=True
    )
    name: Mapped[str]
    list_id: Mapped[str]
    kind: Mapped[str]
    fields: Mapped[list[Any]]
    hour: Mapped[int]
    weekday: Mapped[int | None]
    max_people: Mapped[int]
    monthly_credits: Mapped[int] = mapped_column(BigInteger)
    refresh_days: Mapped[int | None]
    purpose: Mapped[str | None]
    account_id: Mapped[str]
    origin: Mapped[str]
    state: Mapped[str]
    reason: Mapped[str | None]
    waiting: Mapped[str | None]
    next_at: Mapped[datetime | None]
    run_id: Mapped[str | None]
    created_at: Mapped[datetime]


class CrmScheduleRun(Base):
    """A run of a schedule, which happens once for each time at which it is due.

    `position` is the vendor's, of the next page of the list. `members` counts those read, `unindexed` those
    of them that the index does not have, `people` those asked for. `is_partial` states that the CRM returned
    the first of them only. `job_id` is the enrichment under way,
    `jobs` how many there were. `reason` is why it ended before all were asked for. `push_id` is the push of
    what was found.
    """

    __tablename__ = "crm_schedule_runs"
    __table_args__ = (UniqueConstraint("schedule_id", "due_at"),)

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    schedule_id: Mapped[str] = mapped_column(ForeignKey("crm_schedules.id", ondelete="CASCADE"))
    workspace_id: Mapped[str] = mapped_column(foreign_key(), index=True)
    due_at: Mapped[datetime]
    status: Mapped[str]
    position: Mapped[str | None]
    members: Mapped[int]
    unindexed: Mapped[int]
    is_partial: Mapped[bool]
    people: Mapped[int]
    job_id: Mapped[str | None]
    jobs: Mapped[int]
    charged: Mapped[int] = mapped_column(BigInteger)
    reason: Mapped[str | None]
    push_id: Mapped[str | None]
    started_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]


class CrmScheduleRecord(Base):
    """The receipt of one person of a run: the record of the CRM, what was asked, and what became of it.

    `asked` are the fields, separated by commas; empty for a record that was checked only. `job_id` and `item`
    are the enrichment. `error` is the code of what was not done, `marks` what is outdated in the CRM.
    """

    __tablename__ = "crm_schedule_records"
    __table_args__ = (Index("ix_crm_schedule_records_crm_id", "schedule_id", "crm_id"),)

    run_id: Mapped[str] = mapped_column(
        ForeignKey("crm_schedule_runs.id", ondelete="CASCADE"), primary_key=True
    )
    number: Mapped[int] = mapped_column(primary_key=True)
    schedule_id: Mapped[str] = mapped_column(ForeignKey("crm_schedules.id", ondelete="CASCADE"))
    crm_id: Mapped[str]
    asked: Mapped[str]
    job_id: Mapped[str | None]
    item: Mapped[int | None]
    outcome: Mapped[str | None]
    error: Mapped[str | None]
    charged: Mapped[int]
    contact_id: Mapped[str | None] = mapped_column(ForeignKey("contacts.id", ondelete="CASCADE"), index=True)
    marks: Mapped[list[Any]]
    at: Mapped[datetime]
