"""The types of events, which a workspace can subscribe its webhook endpoints to."""

from __future__ import annotations

from enum import StrEnum


class EventType(StrEnum):
    """The types of stored events; the value is also the `type` of the webhook."""

    CONTACT_JOB_CHANGED = "contact.job_changed"
    LIMIT_WARNING = "credits.limit_warning"
    LIMIT_REACHED = "credits.limit_reached"
    CRM_PUSH_FAILED = "crm.push_failed"
    CRM_SCHEDULE_STOPPED = "crm_schedule.stopped"
    PERSON_ERASED = "person.erased"
    PERSON_RECTIFIED = "person.rectified"
    ENDPOINT_DISABLED = "webhook_endpoint.disabled"
    ENDPOINT_TEST = "webhook_endpoint.test"


ABOUT_COSTS = frozenset({EventType.LIMIT_WARNING, EventType.LIMIT_REACHED})
"""The types of events that say what an account or an API key has spent."""
JOB_FINISHED = "job.finished"
"""The type of the webhooks about jobs, which are not stored as events: a job has its own row."""

SUBSCRIBABLE = (
    JOB_FINISHED,
    EventType.CONTACT_JOB_CHANGED.value,
    EventType.LIMIT_WARNING.value,
    EventType.LIMIT_REACHED.value,
    EventType.CRM_PUSH_FAILED.value,
    EventType.CRM_SCHEDULE_STOPPED.value,
    EventType.PERSON_ERASED.value,
    EventType.PERSON_RECTIFIED.value,
    EventType.ENDPOINT_DISABLED.value,
)
"""The types that an endpoint can subscribe to; a test event is sent to the tested endpoint only."""
