"""Jobs: their kinds, statuses and outcomes, and the queue of each kind."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """The kinds of jobs that a workspace can submit; the value is also the name of the task."""

    REVEAL_EMAIL = "reveal.email"
    REVEAL_PHONE = "reveal.phone"
    ENRICHMENT_REQUEST = "enrichment_request"
    COMPANY_BY_HASH = "company_by_hash"
    LEADS_BY_WEBSITE_HASH = "leads_by_website_hash"


class Queue(StrEnum):
    """The queues: jobs without provider calls do not wait for providers, nor clicks for bulk requests."""

    INTERACTIVE = "interactive"
    PROVIDERS = "providers"
    ENRICHMENT = "enrichment"
    UPKEEP = "upkeep"


CLICKS = (Queue.INTERACTIVE, Queue.PROVIDERS)
"""The queues of jobs whose result a user is waiting for."""

QUEUES: dict[Kind, Queue] = {
    Kind.REVEAL_EMAIL: Queue.INTERACTIVE,
    Kind.REVEAL_PHONE: Queue.INTERACTIVE,
    Kind.ENRICHMENT_REQUEST: Queue.ENRICHMENT,
    Kind.COMPANY_BY_HASH: Queue.INTERACTIVE,
    Kind.LEADS_BY_WEBSITE_HASH: Queue.INTERACTIVE,
}
"""The first queue of each kind; a reveal that needs a provider is moved to `PROVIDERS`."""

FREE_KINDS = frozenset({Kind.COMPANY_BY_HASH, Kind.LEADS_BY_WEBSITE_HASH})

SWEEP = "upkeep.sweep"
FORGET = "upkeep.forget"
DELIVER = "upkeep.deliver"
PUSH = "upkeep.push"
REVERIFY = "upkeep.reverify"
AUDIT = "upkeep.audit"
MAIL_CODE = "upkeep.mail_code"
INDEX_MENTIONS = "upkeep.index_mentions"
ENCRYPT = "upkeep.encrypt"
BUILD_COMPANY_FILTER = "upkeep.company_filter"
ADVANCE_UPLOAD = "upkeep.upload"
RUN_IMPORT = "upkeep.import"


class Status(StrEnum):
    """The status of a job; the last four are final."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELED = "canceled"
    EXPIRED = "expired"


OPEN = (Status.QUEUED, Status.RUNNING)


class Outcome(StrEnum):
    """The outcome of a job or of one of its items."""

    FOUND = "found"
    PARTIAL = "partial"
    NOT_FOUND = "not_found"
    SUPPRESSED = "suppressed"


class TraceOutcome(StrEnum):
    """The outcome of a request to one provider (contract 2.3)."""

    HIT = "hit"
    MISS = "miss"
    KNOWN_MISS = "known_miss"
    INELIGIBLE = "ineligible"
    SUPPRESSED = "suppressed"
    NO_CREDITS = "no_credits"
    UNCONFIGURED = "unconfigured"
    RATE_LIMITED = "rate_limited"
    COST_CEILING = "cost_ceiling"
    CIRCUIT_OPEN = "circuit_open"
    TIMEOUT = "timeout"
    ERROR = "error"


PROVIDER_FAILURES = frozenset(
    {
        TraceOutcome.ERROR,
        TraceOutcome.TIMEOUT,
        TraceOutcome.RATE_LIMITED,
        TraceOutcome.CIRCUIT_OPEN,
        TraceOutcome.NO_CREDITS,
    }
)
"""Outcomes after which the same request may succeed later."""
