"""Jobs: their kinds, queues, statuses and outcomes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Literal

from app.domain.callers import Scope


class Queue(StrEnum):
    """The queues: jobs without provider calls do not wait for providers, nor clicks for bulk requests."""

    INTERACTIVE = "interactive"
    PROVIDERS = "providers"
    ENRICHMENT = "enrichment"
    UPKEEP = "upkeep"


CLICKS = (Queue.INTERACTIVE, Queue.PROVIDERS)
"""The queues of jobs whose result a user is waiting for."""


class Kind(StrEnum):
    """The names of the kinds that other code refers to; `KINDS` has what each of them is."""

    REVEAL_EMAIL = "reveal.email"
    REVEAL_PHONE = "reveal.phone"
    ENRICHMENT_REQUEST = "enrichment_request"
    COMPANY_BY_HASH = "company_by_hash"
    LEADS_BY_WEBSITE_HASH = "leads_by_website_hash"
    PEOPLE_SEARCH = "people_search"
    VERIFICATION = "verification"


class Retention(StrEnum):
    """What happens to finished jobs: they stay as receipts without personal data, or are deleted.

    They are redacted after JOB_RETENTION_DAYS, or deleted after HASH_JOB_RETENTION_HOURS. The partial index
    `ix_jobs_hash_lookup` is defined by the kinds that are deleted: another one needs a migration.
    """

    REDACTED = "redacted"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class KindSpec:
    """Everything that depends on the kind of a job, except its request and its result.

    `name` is the kind in the API and the name of the task, `label` the kind on pages. `scope` is required to
    submit or read such a job. `queue` is the first queue; a reveal that needs a provider is moved to
    `PROVIDERS`.

    `price` is the default of the credits for a result, of a search for each person found, of a verification
    for each address with a verdict; the setting `price_setting` changes it. `reveals` is
    the field of a contact that the workspace owns from then on, if any. A job that `has_items` is charged for
    each item. A kind with neither price nor items is free: it is always run again, and nobody is notified.
    """

    name: str
    label: str
    scope: Scope
    queue: Queue = Queue.INTERACTIVE
    price: int | None = None
    reveals: Literal["", "email", "phone"] = ""
    has_items: bool = False
    retention: Retention = Retention.REDACTED

    @property
    def is_free(self) -> bool:
        """Return whether no job of this kind is charged."""
        return self.price is None and not self.has_items

    @property
    def price_setting(self) -> str:
        """Return the name of the setting of its price, such as PRICE_REVEAL_EMAIL."""
        return f"PRICE_{self.name}".replace(".", "_").upper()


VERIFICATION_DEADLINE = timedelta(days=1)
"""A mail host may ask for patience: a verdict that is not there by then is unknown, and not charged."""
KINDS: dict[str, KindSpec] = {}
"""The kinds of jobs that a workspace can submit, by name."""


def register(*specs: KindSpec) -> None:
    """Add kinds of jobs; the processes of the API and of the workers both import the module that does it."""
    KINDS.update((spec.name, spec) for spec in specs)


register(
    KindSpec(name=Kind.REVEAL_EMAIL, label="e-mail", scope=Scope.REVEAL, price=1, reveals="email"),
    KindSpec(name=Kind.REVEAL_PHONE, label="phone", scope=Scope.REVEAL, price=1, reveals="phone"),
    KindSpec(
        name=Kind.ENRICHMENT_REQUEST,
        label="enrichment",
        scope=Scope.ENRICH,
        queue=Queue.ENRICHMENT,
        has_items=True,
    ),
    KindSpec(
        name=Kind.COMPANY_BY_HASH,
        label="company of a website",
        scope=Scope.LOOKUP,
        retention=Retention.DELETED,
    ),
    KindSpec(
        name=Kind.LEADS_BY_WEBSITE_HASH,
        label="people of a website",
        scope=Scope.LOOKUP,
        retention=Retention.DELETED,
    ),
    KindSpec(
        name=Kind.PEOPLE_SEARCH, label="people search", scope=Scope.ENRICH, queue=Queue.PROVIDERS, price=1
    ),
    KindSpec(
        name=Kind.VERIFICATION,
        label="verification",
        scope=Scope.ENRICH,
        queue=Queue.ENRICHMENT,
        price=1,
        has_items=True,
    ),
)


def revealing(field: str) -> KindSpec:
    """Return the kind that reveals a field of a contact, email or phone."""
    return next(spec for spec in KINDS.values() if spec.reveals == field)


def charged() -> frozenset[str]:
    """Return the kinds of jobs that are not free."""
    return frozenset(spec.name for spec in KINDS.values() if not spec.is_free)


def deleted() -> frozenset[str]:
    """Return the kinds whose finished jobs are deleted."""
    return frozenset(spec.name for spec in KINDS.values() if spec.retention is Retention.DELETED)


def visible_to(scopes: Iterable[Scope]) -> frozenset[str]:
    """Return the kinds of jobs that a caller with these scopes may see."""
    return frozenset(spec.name for spec in KINDS.values() if spec.scope in scopes)


SWEEP = "upkeep.sweep"
FORGET = "upkeep.forget"
DELIVER = "upkeep.deliver"
PUSH = "upkeep.push"
READ_CRM = "upkeep.read_crm"
RUN_CRM_SCHEDULE = "upkeep.crm_schedule"
READ_ADDRESS_BOOK = "upkeep.read_address_book"
AUDIT = "upkeep.audit"
MAIL_CODE = "upkeep.mail_code"
MAIL_PASSWORD_RESET = "upkeep.mail_password_reset"  # noqa: S105 -- a task, not a secret
INDEX_MENTIONS = "upkeep.index_mentions"
ENCRYPT = "upkeep.encrypt"
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
    EXCLUDED = "excluded"
    SKIPPED = "skipped"


class TraceOutcome(StrEnum):
    """The outcome of a request to one provider."""

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
