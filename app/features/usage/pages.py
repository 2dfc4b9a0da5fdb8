"""/usage: what the account, or for an admin the workspace, spent in a period, and the limits that apply."""

from __future__ import annotations

from dataclasses import asdict
from datetime import date, timedelta
from urllib.parse import urlencode

from flask import Response, request

from app.domain.credit_schedules import MIN_DAYS
from app.domain.errors import FieldError, NotFound, ValidationFailed
from app.domain.messages import Message
from app.domain.permissions import Permission
from app.features.usage import forecasts
from app.features.usage.reports import UsageReport, parse_period, read_report
from app.features.usage.usage import FIGURES, Grouping
from app.features.usage.usage_query import UsageQuery
from app.web import permissions
from app.web.accounts import grant_words, limit_changes
from app.web.bodies.downloads import table_download
from app.web.pages import forms, paging
from app.web.pages.access import signed_in
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.charts import bars
from app.web.pages.forms import InvalidForm
from app.web.pages.rendering import page
from app.web.rate_limits import Policy, limited
from app.web.services import services
from app.web.sign_in.admins import acts_as_admin
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("usage_page", __name__, template_folder="templates")

GROUPINGS = [
    (Grouping.DAY.value, Message("Day")),
    (Grouping.ACCOUNT.value, Message("Account")),
    (Grouping.KEY.value, Message("API key")),
    (Grouping.KIND.value, Message("Request")),
    (Grouping.PROVIDER.value, Message("Provider")),
]


@blueprint.get("/usage")
@signed_in
@limited(Policy.READ)
def index() -> Response:
    """Show the credits of each day as bars, and a table by day, account, key, kind or provider."""
    permissions.require(Permission.SEE_COSTS)
    errors: dict[str, str] = {}
    try:
        start, end, by = _chosen()
    except InvalidForm as invalid:
        errors = invalid.messages
        (start, end), by = parse_period(None, None), Grouping.DAY
    daily = read_report(caller(), start, end, Grouping.DAY)
    report = daily if by is Grouping.DAY else read_report(caller(), start, end, by)
    spent = _credits_by_day(daily, start, end)
    with services().database.reading() as session:
        limits = limit_changes.visible(session, limit=paging.ROWS)
        as_admin = acts_as_admin(session, caller())
        forecast = forecasts.of(session, caller().workspace_id) if as_admin else None
        next_grant = grant_words.next_grant(session)
    period = urlencode({"from": start.isoformat(), "to": end.isoformat()})
    return page(
        "usage.html",
        422 if errors else 200,
        start=start.isoformat(),
        end=end.isoformat(),
        by=by.value,
        groupings=GROUPINGS,
        report=report,
        bars=bars(spent),
        highest=max(value or 0 for value in spent),
        limits=limits,
        forecast=forecast,
        next_grant=next_grant,
        min_days=MIN_DAYS,
        errors=errors,
        given=request.args if errors else {},
        file=f"/usage/{by}.{{}}?{period}",
    )


@blueprint.get("/usage/<by>.csv", defaults={"file_format": "csv"})
@blueprint.get("/usage/<by>.xlsx", defaults={"file_format": "xlsx"})
@signed_in
@limited(Policy.READ)
def file(by: str, file_format: str) -> Response:
    """Return the table as a CSV file or a workbook."""
    permissions.require(Permission.SEE_COSTS)
    permissions.require(Permission.EXPORT)
    if by not in set(Grouping):
        raise NotFound
    try:
        start, end, _by = _chosen()
    except InvalidForm as invalid:
        detail = " ".join(invalid.messages.values())
        raise ValidationFailed(detail, errors=_field_errors(invalid)) from invalid
    report = read_report(caller(), start, end, Grouping(by))
    rows = (
        {"id": group or "", "name": report.names.get(group, "")}
        | {name: "" if value is None else value for name, value in asdict(figures).items()}
        for group, figures in report.rows.items()
    )
    return table_download("usage", ("id", "name", *FIGURES), rows, file_format, for_spreadsheet=True)


def _credits_by_day(report: UsageReport, start: date, end: date) -> list[int | None]:
    """Return the credits of each day; None for a day without any, or with more refunds than charges."""
    days = [(start + timedelta(days=number)).isoformat() for number in range((end - start).days + 1)]
    spent = [report.rows[day].credits or 0 if day in report.rows else 0 for day in days]
    return [credits_ if credits_ > 0 else None for credits_ in spent]


def _chosen() -> tuple[date, date, Grouping]:
    """Return the period and the grouping in the URL.

    Raises:
        InvalidForm: a date or the grouping is invalid.

    """
    given = {name: value for name in ("from", "to", "by") if (value := request.args.get(name, "").strip())}
    query = forms.load(UsageQuery(), given)
    try:
        start, end = parse_period(query.get("start"), query.get("end"))
    except ValidationFailed as problem:
        raise InvalidForm(forms.messages(problem.errors)) from problem
    return start, end, query["by"]


def _field_errors(invalid: InvalidForm) -> tuple[FieldError, ...]:
    return tuple(
        FieldError(f"/{name}" if name else "", message) for name, message in invalid.messages.items()
    )
