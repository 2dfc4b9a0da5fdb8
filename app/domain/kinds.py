"""What a job can be: its kinds, states and outcomes, and the queue each kind runs on."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """The questions a workspace can queue; the value is the task's name, too."""

    REVEAL_EMAIL = "reveal.email"
    REVEAL_PHONE = "reveal.phone"
    ENRICHMENT_REQUEST = "enrichment_request"
    COMPANY_BY_HASH = "company_by_hash"
    LEADS_BY_WEBSITE_HASH = "leads_by_website_hash"


class Queue(StrEnum):
    """Apart, so that what needs no provider never waits for one, and a bulk request never delays a click."""

    INTERACTIVE = "interactive"
    PROVIDERS = "providers"
    ENRICHMENT = "enrichment"
    UPKEEP = "upkeep"


CLICKS = (Queue.INTERACTIVE, Queue.PROVIDERS)
"""The queues that a waiting person's answer may need."""

QUEUES: dict[Kind, Queue] = {
    Kind.REVEAL_EMAIL: Queue.INTERACTIVE,
    Kind.REVEAL_PHONE: Queue.INTERACTIVE,
    Kind.ENRICHMENT_REQUEST: Queue.ENRICHMENT,
    Kind.COMPANY_BY_HASH: Queue.INTERACTIVE,
    Kind.LEADS_BY_WEBSITE_HASH: Queue.INTERACTIVE,
}
"""Where a job of each kind starts; a reveal that needs a provider is handed over to `PROVIDERS`."""

SWEEP = "upkeep.sweep"
FORGET = "upkeep.forget"
DELIVER = "upkeep.deliver"
REVERIFY = "upkeep.reverify"
AUDIT = "upkeep.audit"


class Status(StrEnum):
    """Where a job stands; the last four are final and never change."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELED = "canceled"
    EXPIRED = "expired"


OPEN = (Status.QUEUED, Status.RUNNING)


class Outcome(StrEnum):
    """What came of a job or of one item of it."""

    FOUND = "found"
    PARTIAL = "partial"
    NOT_FOUND = "not_found"
    SUPPRESSED = "suppressed"


class TraceOutcome(StrEnum):
    """What came of asking one provider (contract 2.3)."""

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
