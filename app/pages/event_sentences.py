"""Events as plain sentences; names of people, companies and accounts are read when a page shows them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from sqlalchemy import select

from app.domain.event_types import JOB_FINISHED, EventType
from app.domain.messages import Message
from app.domain.spending import LimitUsage, Period
from app.engine.accounts.accounts import Account
from app.engine.accounts.api_keys import ApiKey
from app.engine.events import endpoints
from app.engine.events.events import Event
from app.engine.lookups import job_change_descriptions
from app.engine.lookups.job_change_descriptions import JobChange
from app.infra.database.session import Session
from app.web.feature import DescribeEvent, web_parts

LABELS = {
    JOB_FINISHED: Message("A reveal or an enrichment finished"),
    EventType.CONTACT_JOB_CHANGED.value: Message("A contact changed company"),
    EventType.LIMIT_WARNING.value: Message("A spending limit is nearly used up"),
    EventType.LIMIT_REACHED.value: Message("A spending limit is used up"),
    EventType.CRM_PUSH_FAILED.value: Message("A push to the CRM failed"),
    EventType.CRM_SCHEDULE_STOPPED.value: Message("A schedule of the CRM stopped"),
    EventType.PERSON_ERASED.value: Message("A person had their data erased"),
    EventType.PERSON_RECTIFIED.value: Message("A person corrected their data"),
    EventType.ENDPOINT_DISABLED.value: Message("A webhook endpoint was disabled"),
    EventType.ENDPOINT_TEST.value: Message("Test"),
}
"""What each type of event means."""
_SOURCES = {
    "import": Message("Shown by an import"),
    "provider": Message("Shown by a data provider"),
    "saved_profile": Message("Shown by a profile that your workspace saved"),
}
_REASONS = {
    "failing": Message("it accepted nothing for days"),
    "gone": Message("it answered that it is gone"),
}

_LIMITS = {
    (True, True): Message("{percent} % of the spending cap of the API key {name} is used."),
    (True, False): Message("{percent} % of the spending cap of the account {name} is used."),
    (False, True): Message("{percent} % of the monthly limit of the API key {name} is used."),
    (False, False): Message("{percent} % of the monthly limit of the account {name} is used."),
}
"""The sentence about a limit, by whether it is a cap and whether it is a key's."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """An event for a reader: its time and type, the sentence, and what explains it."""

    event: Event
    text: str
    hint: str = ""
    contact_id: str | None = None


@dataclass(frozen=True, slots=True)
class _Names:
    """The names for the ids in events; what was deleted has none. `texts` are the texts of features."""

    changes: Mapping[str, JobChange] = field(default_factory=dict)
    hosts: Mapping[str, str] = field(default_factory=dict)
    spenders: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, DescribeEvent] = field(default_factory=dict)


def describe(session: Session, workspace_id: str, events: Sequence[Event]) -> list[Sentence]:
    """Return a sentence for each event of the workspace, in the same order."""
    names = _names(session, workspace_id, events)
    return [_sentence(event, names) for event in events]


def _names(session: Session, workspace_id: str, events: Sequence[Event]) -> _Names:
    moves = [event for event in events if event.type == EventType.CONTACT_JOB_CHANGED]
    described = job_change_descriptions.describe(session, workspace_id, [event.data for event in moves])
    spender_ids = {event.data["limit"]["id"] for event in events if "limit" in event.data}
    return _Names(
        {event.id: change for event, change in zip(moves, described, strict=True)},
        {row.id: urlsplit(row.url).hostname or "" for row in endpoints.of_workspace(session, workspace_id)},
        _spenders(session, workspace_id, spender_ids) if spender_ids else {},
        {type_: text for part in web_parts() for type_, text in part.event_texts.items()},
    )


def _spenders(session: Session, workspace_id: str, ids: Collection[str]) -> dict[str, str]:
    """Return the names of accounts and API keys by id."""
    accounts = select(Account.id, Account.name).where(
        Account.id.in_(ids), Account.workspace_id == workspace_id
    )
    keys = select(ApiKey.id, ApiKey.name).join(Account, Account.id == ApiKey.account_id)
    keys = keys.where(ApiKey.id.in_(ids), Account.workspace_id == workspace_id)
    return {row.id: row.name for query in (accounts, keys) for row in session.execute(query)}


def _sentence(event: Event, names: _Names) -> Sentence:
    if event.type == EventType.CONTACT_JOB_CHANGED:
        change = names.changes[event.id]
        text = Message(
            "{name} moved from {previous} to {current}.",
            name=change.name or Message("A contact"),
            previous=_company(change.previous),
            current=_company(change.current),
        )
        source = _SOURCES.get(change.source, Message("Shown by newer data"))
        hint = Message("{source}, as of {day}", source=source, day=change.as_of[:10])
        return Sentence(event, text, hint, change.contact_id)
    if event.type in {EventType.LIMIT_WARNING, EventType.LIMIT_REACHED}:
        return _limit(event, names)
    if event.type in {EventType.PERSON_ERASED, EventType.PERSON_RECTIFIED}:
        return _person(event)
    if event.type in {EventType.ENDPOINT_DISABLED, EventType.ENDPOINT_TEST}:
        return _endpoint(event, names)
    if describe_event := names.texts.get(event.type):
        return Sentence(event, *describe_event(event.data))
    return Sentence(event, Message("{label}.", label=LABELS[event.type]))


def _limit(event: Event, names: _Names) -> Sentence:
    limit = LimitUsage.from_dict(event.data["limit"])
    template = _LIMITS[limit.period is Period.TOTAL, limit.subject == "key"]
    name = names.spenders.get(limit.subject_id, Message("that was deleted"))
    text = template.format(percent=event.data["percent"], name=name)
    hint = Message("{spent} of {credits} credits", spent=limit.spent, credits=limit.credits)
    return Sentence(event, text, hint)


def _endpoint(event: Event, names: _Names) -> Sentence:
    host = names.hosts.get(event.data.get("endpoint_id", ""), Message("an endpoint that was deleted"))
    if event.type == EventType.ENDPOINT_TEST:
        return Sentence(event, Message("A test was sent to {host}.", host=host))
    reason = _REASONS.get(event.data["reason"], Message("it failed"))
    text = Message("Webhooks to {host} were disabled.", host=host)
    return Sentence(event, text, Message("Reason: {reason}", reason=reason))


def _person(event: Event) -> Sentence:
    """Return the sentence of a notice that a recipient must follow (GDPR, article 19)."""
    if event.type == EventType.PERSON_ERASED:
        text = Message("The person of contact {id} had their data erased.", id=event.data["contact_id"])
        return Sentence(event, text, Message("Delete what you exported or copied of this contact."))
    fields = ", ".join(event.data["fields"]).replace("_", " ")
    text = Message(
        "The person of contact {id} corrected: {fields}.", id=event.data["contact_id"], fields=fields
    )
    hint = Message("Correct what you exported or copied of this contact.")
    return Sentence(event, text, hint, event.data["contact_id"])


def _company(company: Mapping[str, str | None]) -> str:
    return company["name"] or company["domain"] or Message("another company")
