"""Messages as sentences for a channel: from the ids and figures that they have, without names of people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from app.domain.event_types import JOB_FINISHED, EventType
from app.domain.kinds import KINDS
from app.domain.spending import LimitUsage, Period

Data = Mapping[str, Any]


def sentence(message: Data) -> str:
    """Return the sentence of a message of any type, `{"type": …, "data": …}`."""
    describe = _SENTENCES.get(message["type"])
    return describe(message["data"]) if describe else f"Event: {message['type']}."


def path(message: Data) -> str:
    """Return the page of this service that shows what the message is about."""
    data = message["data"]
    if message["type"] == JOB_FINISHED:
        return f"/history/{data['job']['id']}"
    if message["type"] in {EventType.CONTACT_JOB_CHANGED, EventType.PERSON_RECTIFIED}:
        return f"/contacts/{data['contact_id']}"
    return "/events"


def _job(data: Data) -> str:
    job = data["job"]
    label = KINDS[job["kind"]].label if job["kind"] in KINDS else job["kind"]
    state = _words(job["outcome"] or job["status"])
    total = job.get("progress", {}).get("total", 1)
    of = f" of {total:,}" if total > 1 else ""
    return f"A job has finished ({label}{of}): {state}."


def _job_change(data: Data) -> str:
    before, after = (data[name]["domain"] or "another company" for name in ("from", "to"))
    return f"A contact moved from {before} to {after}."


def _limit(data: Data) -> str:
    limit = LimitUsage.from_dict(data["limit"])
    subject = "an API key" if limit.subject == "key" else "an account"
    period = "spending cap" if limit.period is Period.TOTAL else "monthly limit"
    used = f"{limit.used:,} of {limit.credits:,} credits"
    return f"{data['percent']} % of the {period} of {subject} is used: {used}."


def _push(data: Data) -> str:
    failed = "A push to the CRM" if data["push_id"] else "The connection to the CRM"
    return f"{failed} ({data['vendor']}) failed: {_words(data['error'])}."


def _schedule(data: Data) -> str:
    resumes = f" It goes on at {data['resumes_at']}." if data["resumes_at"] else ""
    return f"A schedule of the CRM ({data['vendor']}) stopped: {_words(data['reason'])}.{resumes}"


def _erased(data: Data) -> str:
    contact = data["contact_id"]
    return f"The person of contact {contact} had their data erased. Delete what you exported of this contact."


def _rectified(data: Data) -> str:
    fields = ", ".join(map(_words, data["fields"]))
    return f"The person of contact {data['contact_id']} corrected: {fields}. Correct what you exported."


def _disabled(data: Data) -> str:
    reason = {"gone": "it answered that it is gone", "failing": "it accepted nothing for days"}
    return f"A webhook endpoint was disabled: {reason.get(data['reason'], data['reason'])}."


def _words(code: str) -> str:
    return str(code).replace("_", " ")


def _test(_data: Data) -> str:
    return "A test: this channel receives the events of your workspace."


_SENTENCES: Mapping[str, Callable[[Data], str]] = {
    JOB_FINISHED: _job,
    EventType.CONTACT_JOB_CHANGED: _job_change,
    EventType.LIMIT_WARNING: _limit,
    EventType.LIMIT_REACHED: _limit,
    EventType.CRM_PUSH_FAILED: _push,
    EventType.CRM_SCHEDULE_STOPPED: _schedule,
    EventType.PERSON_ERASED: _erased,
    EventType.PERSON_RECTIFIED: _rectified,
    EventType.ENDPOINT_DISABLED: _disabled,
    EventType.ENDPOINT_TEST: _test,
}
