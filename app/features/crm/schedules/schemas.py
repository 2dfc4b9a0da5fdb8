"""Schemas of schedules, their runs, and the receipts of people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError, fields, post_load, validate

from app.domain import purposes
from app.domain.ids import EXAMPLES
from app.domain.kinds import Outcome
from app.features.crm.index.crm_people import RecordKind
from app.features.crm.plan import Action
from app.features.crm.pushes import PushOutcome
from app.features.crm.schedules.selection import MAX_MEMBERS
from app.features.crm.schedules.tables import Mark, RecordOutcome, RunStatus, ScheduleState
from app.features.crm.schedules.times import DAYS, Every
from app.web.schemas.fields import (
    AsciiInteger,
    NonBlankString,
    ResponseSchema,
    SingleLineString,
    StrictSchema,
    purpose,
)
from app.web.schemas.paging import IdCursor, page_size
from app.web.schemas.queries import QuerySchema

FIELDS = ("email", "phone")
MAX_PEOPLE = 10_000
MAX_CREDITS = 1_000_000_000
MAX_REFRESH_DAYS = 730
MAX_NAME = 100
OUTCOMES = [*Outcome, *RecordOutcome]
_WEEKDAYS = [day.lower() for day in DAYS]


def _name(**options: Any) -> fields.String:
    return SingleLineString(MAX_NAME, metadata={"example": "Customers in Germany"}, **options)


def _fields(**options: Any) -> fields.List[str]:
    return fields.List(
        fields.String(validate=validate.OneOf(FIELDS)),
        data_key="fields",
        validate=validate.Length(min=1, max=len(FIELDS)),
        metadata={"example": ["email"], "description": "What is found if the record lacks it."},
        **options,
    )


def _every(**options: Any) -> fields.String:
    return fields.String(
        validate=validate.OneOf([every.value for every in Every]),
        metadata={"example": Every.DAY.value},
        **options,
    )


def _weekday(**options: Any) -> fields.String:
    return fields.String(
        allow_none=True,
        validate=validate.OneOf(_WEEKDAYS),
        metadata={"example": None, "description": "The day of the week if it runs every week, in UTC."},
        **options,
    )


def _hour(**options: Any) -> fields.Integer:
    return fields.Integer(
        strict=True,
        validate=validate.Range(min=0, max=23),
        metadata={"example": 4, "description": "The hour of the day, in UTC."},
        **options,
    )


def _max_people(**options: Any) -> fields.Integer:
    return fields.Integer(
        strict=True,
        validate=validate.Range(min=1, max=MAX_PEOPLE),
        metadata={"example": 200, "description": "The most people whom one run asks for."},
        **options,
    )


def _monthly_credits(**options: Any) -> fields.Integer:
    return fields.Integer(
        strict=True,
        validate=validate.Range(min=1, max=MAX_CREDITS),
        metadata={"example": 500, "description": "The budget of a calendar month, in UTC."},
        **options,
    )


def _refresh_days(**options: Any) -> fields.Integer:
    return fields.Integer(
        strict=True,
        allow_none=True,
        validate=validate.Range(min=1, max=MAX_REFRESH_DAYS),
        metadata={
            "example": 90,
            "description": "Records that were not changed for so many days are asked for again, "
            "for all fields; null for no such.",
        },
        **options,
    )


def _with_weekday(data: dict[str, Any]) -> dict[str, Any]:
    """Return the settings as they are stored: a day of the week is a number, null stands for all.

    Raises:
        ValidationError: there is a day of the week for every day, or none for every week.

    """
    if "every" not in data and "weekday" not in data:
        return _stored(data)
    every, weekday = data.get("every"), data.get("weekday")
    if every is None or (every == Every.WEEK) != (weekday is not None):
        raise ValidationError("State a weekday with every: week, and none with every: day.", "weekday")
    return _stored(data) | {"weekday": None if weekday is None else _WEEKDAYS.index(weekday)}


def _stored(data: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in data.items() if name not in {"every", "weekday", "fields_"}}
    return kept | ({"fields": sorted(set(data["fields_"]))} if "fields_" in data else {})


class NewScheduleSchema(StrictSchema):
    """A list of the CRM, when it is enriched, and what that may cost."""

    name = _name(required=True)
    list_id = NonBlankString(
        required=True,
        metadata={
            "example": "42",
            "description": "The list as the CRM names it: the number of a HubSpot list, of a Pipedrive "
            "filter or of a Zoho custom view, the id of a Salesforce list view or report, or a filter of "
            "Twenty.",
        },
    )
    kind = fields.String(
        validate=validate.OneOf([kind.value for kind in RecordKind]),
        load_default=RecordKind.CONTACT.value,
        metadata={"description": "What the list has; leads in Salesforce and Zoho only."},
    )
    fields_ = _fields(load_default=["email"])
    every = _every(load_default=Every.DAY.value)
    weekday = _weekday(load_default=None)
    hour = _hour(load_default=4)
    max_people = _max_people(required=True)
    monthly_credits = _monthly_credits(required=True)
    refresh_days = _refresh_days(load_default=None)
    purpose = purpose()

    @post_load
    def _schedule(self, data: dict[str, Any], **_options: Any) -> dict[str, Any]:
        return _with_weekday(data)


class ScheduleChangeSchema(StrictSchema):
    """Other settings; what is omitted stays. `every` and `weekday` are stated together."""

    name = _name()
    fields_ = _fields()
    every = _every()
    weekday = _weekday()
    hour = _hour()
    max_people = _max_people()
    monthly_credits = _monthly_credits()
    refresh_days = _refresh_days()
    purpose = fields.String(
        allow_none=True,
        validate=validate.Length(max=purposes.MAX_LENGTH),
        metadata={"example": purposes.DEFAULT[0]},
    )

    @post_load
    def _change(self, data: dict[str, Any], **_options: Any) -> dict[str, Any]:
        return _with_weekday(data)


class ScheduleSchema(ResponseSchema):
    """A schedule: its settings, what it has spent, and whether it runs."""

    id = fields.String(required=True, metadata={"example": EXAMPLES["crs"]})
    connection_id = fields.String(required=True, metadata={"example": EXAMPLES["crm"]})
    name = fields.String(required=True, metadata={"example": "Customers in Germany"})
    list_id = fields.String(required=True, metadata={"example": "42"})
    kind = fields.String(required=True, validate=validate.OneOf(list(RecordKind)))
    fields_ = fields.List(
        fields.String(validate=validate.OneOf(FIELDS)),
        required=True,
        data_key="fields",
        metadata={"example": ["email"]},
    )
    every = fields.String(required=True, validate=validate.OneOf(list(Every)))
    weekday = fields.String(
        required=True, allow_none=True, validate=validate.OneOf(_WEEKDAYS), metadata={"example": None}
    )
    hour = fields.Integer(required=True, metadata={"example": 4})
    max_people = fields.Integer(required=True, metadata={"example": 200})
    monthly_credits = fields.Integer(required=True, metadata={"example": 500})
    spent_this_month = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"example": 120, "description": "Credits charged since the month began, and those on hold."},
    )
    refresh_days = fields.Integer(required=True, allow_none=True, metadata={"example": 90})
    purpose = fields.String(required=True, allow_none=True, metadata={"example": None})
    state = fields.String(required=True, validate=validate.OneOf(list(ScheduleState)))
    reason = fields.String(
        required=True,
        allow_none=True,
        metadata={"example": None, "description": "Why it stopped, or what it waits for, as a code."},
    )
    reason_message = fields.String(
        required=True, allow_none=True, metadata={"example": None, "description": "The same in a sentence."}
    )
    is_running = fields.Boolean(required=True)
    next_run_at = fields.DateTime(
        required=True, allow_none=True, metadata={"example": "2026-11-21T04:00:00.000Z"}
    )
    paid_by = fields.String(
        required=True,
        metadata={
            "example": EXAMPLES["acc"],
            "description": "The account that made or last resumed it; its spending limits apply.",
        },
    )
    created_at = fields.DateTime(required=True, metadata={"example": "2026-11-20T09:30:00.000Z"})


class ScheduleResponseSchema(ResponseSchema):
    """A schedule."""

    schedule = fields.Nested(ScheduleSchema, required=True)


class SchedulesResponseSchema(ResponseSchema):
    """The schedules of a connection, oldest first."""

    schedules = fields.List(fields.Nested(ScheduleSchema), required=True)


class ScheduleRunSchema(ResponseSchema):
    """A run, and the number of its people by outcome."""

    id = fields.String(required=True, metadata={"example": EXAMPLES["csr"]})
    due_at = fields.DateTime(required=True, metadata={"example": "2026-11-20T04:00:00.000Z"})
    status = fields.String(required=True, validate=validate.OneOf(list(RunStatus)))
    members = fields.Integer(
        required=True, metadata={"example": 1840, "description": "The members of the list that were read."}
    )
    unindexed = fields.Integer(
        required=True,
        metadata={
            "example": 2,
            "description": "Those of them who are not in the index of the workspace.",
        },
    )
    is_partial = fields.Boolean(
        required=True,
        metadata={
            "example": False,
            "description": "Whether the CRM returned the first members only: the first 2,000 rows of a "
            "Salesforce report.",
        },
    )
    people = fields.Integer(
        required=True, metadata={"example": 200, "description": "Those who are asked for."}
    )
    outcomes = fields.Dict(
        keys=fields.String(validate=validate.OneOf(OUTCOMES)),
        values=fields.Integer(),
        required=True,
        metadata={"example": {"found": 150}},
    )
    credits_charged = fields.Integer(required=True, allow_none=True, metadata={"example": 150})
    reason = fields.String(
        required=True,
        allow_none=True,
        metadata={"example": None, "description": "Why it ended before all were asked for, as a code."},
    )
    reason_message = fields.String(
        required=True, allow_none=True, metadata={"example": None, "description": "The same in a sentence."}
    )
    push_id = fields.String(required=True, allow_none=True, metadata={"example": EXAMPLES["psh"]})
    started_at = fields.DateTime(required=True, metadata={"example": "2026-11-20T04:00:01.000Z"})
    finished_at = fields.DateTime(
        required=True, allow_none=True, metadata={"example": "2026-11-20T04:12:30.000Z"}
    )


class ScheduleRunsResponseSchema(ResponseSchema):
    """The runs of a schedule, newest first."""

    runs = fields.List(fields.Nested(ScheduleRunSchema), required=True)
    next_cursor = fields.String(required=True, allow_none=True, metadata={"example": None})


class ScheduleReceiptSchema(ResponseSchema):
    """What became of one person of a run."""

    record_id = fields.String(
        required=True, metadata={"example": "101", "description": "The id of the record in the CRM."}
    )
    asked = fields.List(
        fields.String(),
        required=True,
        metadata={"example": ["email"], "description": "Empty if the record was compared and marked only."},
    )
    outcome = fields.String(
        required=True,
        allow_none=True,
        validate=validate.OneOf(OUTCOMES),
        metadata={"description": "Null while the person waits."},
    )
    error = fields.String(required=True, allow_none=True, metadata={"example": None})
    error_message = fields.String(required=True, allow_none=True, metadata={"example": None})
    credits_charged = fields.Integer(required=True, allow_none=True, metadata={"example": 1})
    job_id = fields.String(
        required=True,
        allow_none=True,
        metadata={"example": EXAMPLES["job"], "description": "The enrichment, with its trace."},
    )
    contact_id = fields.String(required=True, allow_none=True, metadata={"example": EXAMPLES["con"]})
    marks = fields.List(
        fields.String(validate=validate.OneOf(list(Mark))),
        required=True,
        metadata={
            "example": ["job_changed"],
            "description": "What is outdated in the CRM. It is written there, too, if the mapping of the "
            "connection has a property for `marks`.",
        },
    )
    push_outcome = fields.String(
        required=True,
        allow_none=True,
        validate=validate.OneOf(list(PushOutcome)),
        metadata={"description": "Null without a push, and while it waits."},
    )
    push_actions = fields.Dict(
        keys=fields.String(),
        values=fields.String(validate=validate.OneOf(list(Action))),
        required=True,
        metadata={"example": {"email": "fill"}, "description": "What was done with each property."},
    )


class ScheduleRunResponseSchema(ResponseSchema):
    """A run with a page of its receipts."""

    run = fields.Nested(ScheduleRunSchema, required=True)
    items = fields.List(fields.Nested(ScheduleReceiptSchema), required=True)
    next_cursor = fields.Integer(required=True, allow_none=True, metadata={"example": None})


class RunsQuery(QuerySchema):
    """The page of a list of runs."""

    limit = page_size(20, 100)
    cursor = IdCursor("csr")


class ReceiptsQuery(QuerySchema):
    """The page of the receipts of a run."""

    limit = page_size(100, 500)
    cursor = AsciiInteger(
        load_default=0,
        validate=validate.Range(min=0, max=MAX_PEOPLE + MAX_MEMBERS),
        metadata={"description": "`next_cursor` of the previous page."},
    )
